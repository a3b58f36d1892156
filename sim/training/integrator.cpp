#include "gih/training/integrator.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gih/base/error.hpp"
#include "methods.hpp"

namespace gih {

void fail(const StageRun& run, const std::string& what, const std::string& remedy) {
  throw RunError(
      fmt::format("stage {}, step {}: {}; try {}", run.state.stage, run.state.step, what, remedy));
}

std::string smaller_steps(const StageRun& run) {
  const char* key = run.stage.method == "gd" ? "learning-rate" : "tolerance";
  return fmt::format("a smaller stage.{}.{} or a larger loss.epsilon", run.state.stage, key);
}

void append_row(StageRun& run, double time, const Parameters& theta, double train_loss) {
  const std::string remedy = smaller_steps(run);
  if (!std::isfinite(train_loss)) {
    fail(run, fmt::format("the training loss ({}) is not finite", train_loss), remedy);
  }
  LogRow row{run.state.stage,
             run.state.step,
             time,
             train_loss,
             std::numeric_limits<double>::quiet_NaN(),
             theta};
  if (run.validation != nullptr) {
    row.validation_loss = run.validation->loss(theta);
    if (!std::isfinite(row.validation_loss)) {
      fail(run, fmt::format("the validation loss ({}) is not finite", row.validation_loss), remedy);
    }
  }
  run.state.log.push_back(std::move(row));
}

namespace {

/// Explicit Euler with a constant rate on the full batch, as in B.1.
bool gradient_descent(StageRun& run) {
  const double rate = run.stage.learning_rate;
  const std::string smaller = smaller_steps(run);
  const std::vector<std::size_t> steps = log_steps(run.stage.epochs, run.log_every);
  const auto row = [&](double loss) { append_row(run, run.state.time, run.state.theta, loss); };
  auto due = std::lower_bound(steps.begin(), steps.end(), run.state.step);
  // A step that failed after its row was logged has left the row: it is not logged again.
  const Log& log = run.state.log;
  if (!log.empty() && log.back().stage == run.state.stage && log.back().step == run.state.step) {
    due = std::upper_bound(steps.begin(), steps.end(), run.state.step);
  }
  const auto is_due = [&] { return due != steps.end() && *due == run.state.step; };
  Evaluation at;  // this and the next parameters keep their memory from step to step
  Parameters next;
  while (run.state.step < run.stage.epochs) {
    const bool with_loss = is_due();
    run.train.evaluate_into(run.state.theta, run.stage.trains, with_loss, at);
    if (with_loss) {
      row(at.loss);
      ++due;
    }
    next = run.state.theta;
    add(next, -rate, at.gradient, run.stage.trains);
    if (!next.c.allFinite()) fail(run, "c after the step is not finite", smaller);
    if (!next.w.allFinite()) fail(run, "w after the step is not finite", smaller);
    if (!std::isfinite(next.a)) fail(run, "a after the step is not finite", smaller);
    for (const WordMatrix& matrix : word_matrices) {
      if (!(next.*matrix.member).allFinite()) {
        fail(run, fmt::format("{} after the step is not finite", matrix.name), smaller);
      }
    }
    std::swap(run.state.theta, next);
    ++run.state.step;
    run.state.time = static_cast<double>(run.state.step) * rate;
    if (!run.observer(run.state)) return false;
  }
  if (is_due()) row(run.train.loss(run.state.theta));
  return true;
}

}  // namespace

const std::vector<IntegratorRow>& integrator_table() {
  static const std::vector<IntegratorRow> table{
      {"gd", "explicit Euler steps of size learning-rate on the full batch", gradient_descent},
      {"flow", "the gradient flow (3.4) over stage.K.time, with adaptive steps", gradient_flow},
  };
  return table;
}

}  // namespace gih
