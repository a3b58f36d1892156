#pragma once
// What the checks of a run look at.

#include <fmt/format.h>

#include <limits>
#include <span>
#include <vector>

#include "gih/theory/run_checks.hpp"

namespace gih {

/// Rows of one stage and what it trains.
struct StageRows {
  const Stage& stage;
  std::span<const LogRow> rows;
};

/// What every check of a run sees.
struct RunView {
  const Setup& setup;
  const PriorFacts& facts;
  bool conditions;              ///< the theorem's hypotheses hold
  std::vector<Subset> subsets;  ///< of heads
  std::ptrdiff_t star;  ///< index of S* in `subsets`; negative when no subset of heads is S*
  std::vector<StageRows> stages;

  double p_star(const LogRow& row) const { return row.theta.p()[star]; }
  double L() const {
    return setup.data.L ? static_cast<double>(*setup.data.L)
                        : std::numeric_limits<double>::infinity();
  }
};

/// The first stage that trains this block alone; null when there is none.
inline const StageRows* only(const RunView& run, bool Blocks::*block) {
  for (const StageRows& stage : run.stages) {
    const Blocks& trains = stage.stage.trains;
    if (trains.*block && trains.c + trains.w + trains.a == 1) return &stage;
  }
  return nullptr;
}

inline void skip_without(const char* what, Check& check) {
  check.tally.skip(fmt::format("no stage trains {} alone", what));
}

// Stage 3: whether a rises, and its two regimes.
void a_rises(const RunView& run, Check& check);
void two_regimes(const RunView& run, Check& check);

}  // namespace gih
