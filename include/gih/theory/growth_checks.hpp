#pragma once
// Stage III of a run at L = inf against the closed form of its rate.

#include <vector>

#include "gih/theory/conditions.hpp"
#include "gih/training/log.hpp"

namespace gih {

/// da/dt between log rows of the stages that train a alone, against f_5 and against the bounds of
/// its two regimes, means over the run's own kernels. Not binding: the closed form is that of
/// p_{S*} = 1 and heads that attend to their lags alone, which a run only comes near. At finite L
/// or eps > 0 all are skipped.
std::vector<Check> check_growth(const Setup& setup, const PriorFacts& facts, const Log& log);

}  // namespace gih
