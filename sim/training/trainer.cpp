#include "gih/training/trainer.hpp"

#include <fmt/core.h>

#include <limits>

#include "gih/base/error.hpp"

namespace gih {

TrainState initial_state(const Parameters& theta) { return {1, 0, theta, {}}; }

bool train(const Schedule& schedule, std::size_t log_every, Objective& train_objective,
           Objective* validation, TrainState& state, const StepObserver& observer) {
  if (schedule.empty() && state.log.empty()) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    state.log.push_back({0, 0, 0.0, train_objective.loss(state.theta),
                         validation ? validation->loss(state.theta) : none, state.theta});
  }
  while (static_cast<std::size_t>(state.stage) <= schedule.size()) {
    const Stage& stage = schedule[static_cast<std::size_t>(state.stage - 1)];
    bool known = false;
    for (const IntegratorRow& row : integrator_table()) {
      if (stage.method != row.name) continue;
      known = true;
      StageRun run{train_objective, validation, stage, log_steps(stage.epochs, log_every), state,
                   observer};
      if (!row.run(run)) return false;
    }
    if (!known) throw InputError(fmt::format("stage method \"{}\" is unknown", stage.method));
    ++state.stage;
    state.step = 0;
  }
  return true;
}

}  // namespace gih
