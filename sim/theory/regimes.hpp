#pragma once
// The two regimes of stage III: how fast a grows while it is small and when it is large.

#include <vector>

#include "gih/theory/tilt.hpp"

namespace gih {

/// A prior's kernels seen through S*, and the constants of the two regimes.
struct Regimes {
  std::vector<Tilt> kernels;
  double gamma = 1.0;                ///< least entry of a kernel
  double low_m = 1.0, high_m = 0.0;  ///< least and largest m
  double delta = 0.0;                ///< at most min(gamma^2/4, 1/8)

  Regimes() = default;
  /// With the largest delta.
  Regimes(std::vector<Tilt> tilts, double least_entry);

  double small_end() const;    ///< of the regime of small a: log(1 + delta / max m)
  double large_start() const;  ///< of the regime of large a: log(1 + 1 / (delta min m))
  /// Both regimes hold f_5 within these factors of its form.
  double low() const;
  double high() const;
  double small_form(double a) const;  ///< e^a I*
  double large_form(double a) const;  ///< e^a (e^a - 1)^-3 E[m^-2 D_0]
  double rate(double a) const { return mean_f5(kernels, a); }
};

}  // namespace gih
