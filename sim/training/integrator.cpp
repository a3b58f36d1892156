#include "gih/training/integrator.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gih/base/error.hpp"

namespace gih {
namespace {

[[noreturn]] void fail(const StageRun& run, const std::string& what) {
  throw RunError(
      fmt::format("stage {}, step {}: {} is not finite; try a smaller stage.{}.learning-rate or a "
                  "larger loss.epsilon",
                  run.state.stage, run.state.step, what, run.state.stage));
}

void append_row(StageRun& run, double train_loss) {
  if (!std::isfinite(train_loss)) fail(run, fmt::format("the training loss ({})", train_loss));
  const TrainState& at = run.state;
  LogRow row{at.stage,
             at.step,
             static_cast<double>(at.step) * run.stage.learning_rate,
             train_loss,
             std::numeric_limits<double>::quiet_NaN(),
             at.theta};
  if (run.validation != nullptr) {
    row.validation_loss = run.validation->loss(at.theta);
    if (!std::isfinite(row.validation_loss)) {
      fail(run, fmt::format("the validation loss ({})", row.validation_loss));
    }
  }
  run.state.log.push_back(std::move(row));
}

/// Explicit Euler with a constant rate on the full batch, as in B.1.
bool gradient_descent(StageRun& run) {
  const double rate = run.stage.learning_rate;
  auto due = std::lower_bound(run.log_steps.begin(), run.log_steps.end(), run.state.step);
  // A step that failed after its row was logged has left the row: it is not logged again.
  const Log& log = run.state.log;
  if (!log.empty() && log.back().stage == run.state.stage && log.back().step == run.state.step) {
    due = std::upper_bound(run.log_steps.begin(), run.log_steps.end(), run.state.step);
  }
  const auto is_due = [&] { return due != run.log_steps.end() && *due == run.state.step; };
  while (run.state.step < run.stage.epochs) {
    const bool with_loss = is_due();
    const Evaluation at = run.train.evaluate(run.state.theta, run.stage.trains, with_loss);
    if (with_loss) {
      append_row(run, at.loss);
      ++due;
    }
    Parameters next = run.state.theta;
    if (run.stage.trains.c) next.c -= rate * at.gradient.c;
    if (run.stage.trains.w) next.w -= rate * at.gradient.w;
    if (run.stage.trains.a) next.a -= rate * at.gradient.a;
    if (!next.c.allFinite()) fail(run, "c after the step");
    if (!next.w.allFinite()) fail(run, "w after the step");
    if (!std::isfinite(next.a)) fail(run, "a after the step");
    run.state.theta = std::move(next);
    ++run.state.step;
    if (!run.observer(run.state)) return false;
  }
  if (is_due()) append_row(run, run.train.loss(run.state.theta));
  return true;
}

}  // namespace

const std::vector<IntegratorRow>& integrator_table() {
  static const std::vector<IntegratorRow> table{
      {"gd", "explicit Euler steps of size learning-rate on the full batch", gradient_descent},
  };
  return table;
}

}  // namespace gih
