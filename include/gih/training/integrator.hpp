#pragma once
// How the parameters move during a stage. Adding a method: a row in the table of integrator.cpp.

#include <functional>
#include <memory>
#include <vector>

#include "gih/model/objective.hpp"
#include "gih/training/log.hpp"
#include "gih/training/schedule.hpp"

namespace gih {

/// Called after each completed step with a state that can be saved; false stops the run.
using StepObserver = std::function<bool(const TrainState&)>;

struct StageRun {
  Objective& train;
  Objective* validation;  ///< none: the validation loss is NaN
  const Stage& stage;
  std::size_t log_every;  ///< steps (gd) or units of time (flow) between rows; 0: auto
  TrainState& state;      ///< starts at state.step of the stage; rows go to state.log
  const StepObserver& observer;
};

struct IntegratorRow {
  const char* name;
  const char* meaning;
  /// Runs the stage to its end (true) or until the observer stops it (false). RunError naming
  /// stage, step and quantity when a loss or parameter is not finite; the state is the last good.
  bool (*run)(StageRun&);
};

const std::vector<IntegratorRow>& integrator_table();

class FlowStepper;

/// How method flow takes its steps.
struct StepperRow {
  const char* name;
  const char* meaning;
  /// For this velocity d_t x at x and this error of a step, absolute and relative.
  std::unique_ptr<FlowStepper> (*make)(
      const std::function<void(const std::vector<double>& x, std::vector<double>& v)>& velocity,
      double tolerance);
};

const std::vector<StepperRow>& stepper_table();

}  // namespace gih
