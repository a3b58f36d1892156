#pragma once
// Did a training run do what the theorem says?

#include "gih/theory/conditions.hpp"
#include "gih/training/log.hpp"

namespace gih {

/// Checks along the log of a run of `setup`. Statements of the theorem are binding when its
/// conditions hold; identities and bounds of our own always are. Stages that train more than one
/// block are left out of the stage checks. Order: conclusions first.
std::vector<Check> check_run(const Setup& setup, const PriorFacts& facts,
                             const std::vector<Check>& conditions, const Log& log);

}  // namespace gih
