#pragma once
// Runs a schedule stage by stage.

#include "gih/model/objective.hpp"
#include "gih/training/integrator.hpp"
#include "gih/training/log.hpp"
#include "gih/training/schedule.hpp"

namespace gih {

/// State at the start of a run.
TrainState initial_state(const Parameters& theta);

/// Goes on from `state` to the end of the schedule (true) or until the observer stops it (false).
/// Stopping anywhere and going on from the saved state gives the same bits as an unbroken run.
/// A schedule without stages logs one row, stage 0, with the losses of the given parameters.
/// log_every as in log_steps. InputError when a method is unknown.
bool train(const Schedule& schedule, std::size_t log_every, Objective& train_objective,
           Objective* validation, TrainState& state, const StepObserver& observer);

}  // namespace gih
