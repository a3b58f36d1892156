#pragma once
// What the gradient flow conserves, and how far a run of it strayed: a measure of its error that
// needs no second run.

#include <string>
#include <vector>

#include "gih/training/log.hpp"
#include "gih/training/schedule.hpp"

namespace gih {

/// Of one stage with method flow, over its log rows.
struct FlowInvariants {
  int stage = 0;           ///< 1, 2, ...
  std::size_t steps = 0;   ///< that the integration took
  double C_D_drift = 0.0;  ///< largest |C_D(t) / C_D(0) - 1|, 0 for the flow itself (Lemma E.1)
  double allowed = 0.0;    ///< ten times the tolerance of a step
  double loss_rise = 0.0;  ///< largest rise of the training loss from a row to the next, or 0

  bool kept() const { return C_D_drift <= allowed && loss_rise <= allowed; }
};

/// One entry for each flow stage that has rows, in order.
std::vector<FlowInvariants> flow_invariants(const Schedule& schedule, const Log& log);

/// One line about it, without its end.
std::string describe(const FlowInvariants& invariants);

}  // namespace gih
