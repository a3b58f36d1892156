#pragma once
// How fast a run grew what the theorem is about, and how fast the limit L -> inf, a -> 0 grows it.

#include <string>
#include <vector>

#include "gih/theory/conditions.hpp"
#include "gih/theory/population.hpp"
#include "gih/training/log.hpp"

namespace gih {

/// A quantity between two log rows.
struct GrowthRate {
  int stage;
  std::string of;      ///< what grows: a subset, a head or a
  double from, to;     ///< time of the stage
  double value;        ///< of the quantity, half-way
  double measured;     ///< rise / time
  double predicted;    ///< mean over the rise
  double bound = 0.0;  ///< that the theorem says it exceeds; NaN when it says none
};

struct GrowthRates {
  ExactChoice choice;  ///< S*, I*, dI of the run's own kernels
  std::vector<GrowthRate> rates;
};

/// Of the stages that train one block alone:
/// - c: log(c_{S*} / c_S) of each S, "110/100". Predicted (2a / C_D)(G_{S*} - G_S), G_S = E g_{3,S}
///   at the stage's w (E.7); bound a dI / (4 C_D) (E.12).
/// - w: log(sigma / (1 - sigma)), sigma = sigma^(h)_{-h}, of each head h in S*, "head 1". Predicted
///   from E g_{h,4} (E.15); bound that of Prop. E.3. In this form 1 - sigma loses no digits.
/// - a: "a". Predicted f_5 (Prop. E.4).
/// The predictions are those of p_{S*} = 1 for w, and of p_{S*} = sigma = 1 for a. They speak of
/// the kernels that the run's sequences have, so no error of sampling the prior enters.
GrowthRates growth_rates(const Setup& setup, const Log& log);

/// The rows of one quantity in one stage.
struct RateSummary {
  GrowthRate first;
  std::size_t rows = 0;
  double least = 0.0, most = 0.0;  ///< measured / predicted
  double least_of_bound = 0.0;     ///< measured / bound
};
/// In the order in which the quantities first appear.
std::vector<RateSummary> summaries(const GrowthRates& found);

}  // namespace gih
