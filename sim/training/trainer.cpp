#include "gih/training/trainer.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "gih/base/error.hpp"

namespace gih {
namespace {

/// The one row of a run without stages.
LogRow only_row(Objective& train_objective, Objective* validation, const Parameters& theta) {
  const auto finite = [&](Objective& objective, const char* which) {
    const double loss = objective.loss(theta);
    if (!std::isfinite(loss)) {
      throw RunError(
          fmt::format("stage 0, step 0: the {} loss ({}) is not finite; try a larger loss.epsilon",
                      which, loss));
    }
    return loss;
  };
  const double train_loss = finite(train_objective, "training");
  const double none = std::numeric_limits<double>::quiet_NaN();
  return {0, 0, 0.0, train_loss, validation ? finite(*validation, "validation") : none, theta};
}

}  // namespace

TrainState initial_state(const Parameters& theta) {
  TrainState state;
  state.theta = theta;
  return state;
}

bool train(const Schedule& schedule, std::size_t log_every, Objective& train_objective,
           Objective* validation, TrainState& state, const StepObserver& observer) {
  if (schedule.empty() && state.log.empty()) {
    state.log.push_back(only_row(train_objective, validation, state.theta));
  }
  while (static_cast<std::size_t>(state.stage) <= schedule.size()) {
    const Stage& stage = schedule[static_cast<std::size_t>(state.stage - 1)];
    bool known = false;
    for (const IntegratorRow& row : integrator_table()) {
      if (stage.method != row.name) continue;
      known = true;
      StageRun run{train_objective, validation, stage, log_every, state, observer};
      if (!row.run(run)) return false;
    }
    if (!known) throw InputError(fmt::format("stage method \"{}\" is unknown", stage.method));
    ++state.stage;
    state.step = 0;
    state.time = 0.0;
    state.next_step = 0.0;
    state.coordinates.clear();
  }
  return true;
}

}  // namespace gih
