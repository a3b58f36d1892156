#include "gih/training/invariants.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace gih {

std::vector<FlowInvariants> flow_invariants(const Schedule& schedule, const Log& log) {
  std::vector<FlowInvariants> found;
  const LogRow* first = nullptr;
  const LogRow* before = nullptr;
  for (const LogRow& row : log) {
    if (row.stage < 1 || static_cast<std::size_t>(row.stage) > schedule.size()) continue;
    const Stage& stage = schedule[static_cast<std::size_t>(row.stage - 1)];
    if (stage.method != "flow") continue;
    if (found.empty() || found.back().stage != row.stage) {
      found.push_back({row.stage, 0, 0.0, 10.0 * stage.tolerance, 0.0});
      first = before = &row;
    }
    FlowInvariants& of = found.back();
    of.steps = row.step;
    of.C_D_drift = std::max(of.C_D_drift, std::abs(row.theta.C_D() / first->theta.C_D() - 1.0));
    of.loss_rise = std::max(of.loss_rise, row.train_loss - before->train_loss);
    before = &row;
  }
  return found;
}

std::string describe(const FlowInvariants& of) {
  const std::string loss = of.loss_rise > 0.0
                               ? fmt::format("the loss rose by up to {:.2g}", of.loss_rise)
                               : "the loss never rose";
  return fmt::format(
      "stage {}: {} steps of the flow, C_D drifted by {:.2g}, {}{}", of.stage, of.steps,
      of.C_D_drift, loss,
      of.kept() ? ""
                : fmt::format("; warning: more than {:.2g}, ten times the tolerance", of.allowed));
}

}  // namespace gih
