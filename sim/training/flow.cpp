#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "flow_steppers.hpp"
#include "gih/base/error.hpp"
#include "gih/training/schedule.hpp"
#include "methods.hpp"

namespace gih {
namespace {

constexpr std::size_t most_steps = 10'000'000;

bool all_finite(const FlowState& x) {
  return std::all_of(x.begin(), x.end(), [](double entry) { return std::isfinite(entry); });
}

double largest(const FlowState& x) {
  double size = 0.0;
  for (const double entry : x) size = std::max(size, std::abs(entry));
  return size;
}

const StepperRow& stepper_named(const std::string& name) {
  for (const StepperRow& row : stepper_table()) {
    if (name == row.name) return row;
  }
  throw InputError(fmt::format("stage stepper \"{}\" is unknown", name));
}

/// One accepted step from `from`, of at most h, which becomes the next step size.
FlowPoint take_step(StageRun& run, FlowStepper& stepper, const FlowPoint& from, double& h) {
  FlowPoint to{from.t, FlowState(from.x.size()), FlowState(from.x.size())};
  const std::string remedy = fmt::format(
      "a larger stage.{0}.tolerance, another stage.{0}.stepper or method gd", run.state.stage);
  for (;;) {
    const double tried = h;
    const bool accepted = stepper.attempt(from, h, to);
    // odeint accepts a step whose error is not a number. A trial point can be out of bounds where
    // the flow is not: after a long rise of log p_S a step that fits it ends far above log 1.
    const bool finite = all_finite(to.x) && all_finite(to.v);
    if (accepted && finite) break;
    if (!finite) h = 0.2 * tried;
    if (h > 1e-15 * std::max(1.0, from.t)) continue;
    if (!finite) {
      fail(run, fmt::format("after time {} a parameter or its velocity is not finite", from.t),
           smaller_steps(run));
    }
    fail(run, fmt::format("at time {} the flow needs steps below {:.3g}", from.t, h), remedy);
  }
  if (run.state.step >= most_steps) {
    fail(run, fmt::format("at time {} the flow has taken {} steps", from.t, most_steps), remedy);
  }
  return to;
}

}  // namespace

const std::vector<StepperRow>& stepper_table() {
  static const std::vector<StepperRow> table{
      {"dormand-prince", "explicit, order 5(4)", make_dormand_prince},
      {"rosenbrock", "linearly implicit, order 4(3), for long stages that end in a minimum",
       make_rosenbrock},
  };
  return table;
}

/// Error-controlled steps; rows between them by the stepper's own interpolation. A checkpoint holds
/// the coordinates at the end of a step and the next step size, from which everything else is
/// computed again, so a resumed flow has the same bits.
bool gradient_flow(StageRun& run) {
  const double T = run.stage.time;
  TrainState& state = run.state;
  const bool logged = !state.log.empty() && state.log.back().stage == state.stage;
  const Parameters start =
      logged ? std::find_if(state.log.begin(), state.log.end(),
                            [&](const LogRow& row) { return row.stage == state.stage; })
                   ->theta
             : state.theta;
  const FlowCoordinates coordinates(run.stage.trains, start);
  const auto row_at = [&](double time, const Parameters& theta) {
    append_row(run, time, theta, run.train.loss(theta));
  };
  if (!logged) row_at(0.0, state.theta);

  Parameters probe = state.theta;
  const FlowVelocity velocity = [&](const FlowState& x, FlowState& v) {
    coordinates.velocity(run.train, x, probe, v);
  };
  const auto stepper = stepper_named(run.stage.stepper).make(velocity, run.stage.tolerance);
  const std::vector<double> times = log_times(T, static_cast<double>(run.log_every));
  auto due = std::upper_bound(times.begin(), times.end(), state.time);
  if (state.coordinates.empty()) state.coordinates = coordinates.pack(state.theta);
  FlowPoint at{state.time, state.coordinates, FlowState(state.coordinates.size())};
  velocity(at.x, at.v);
  if (!(state.next_step > 0.0)) {
    state.next_step = std::min(T, 0.01 / std::max(largest(at.v), 1e-300));
  }
  while (state.time < T) {
    const double left = T - state.time;
    const bool last = state.next_step >= left;
    double h = std::min(state.next_step, left);
    FlowPoint to = take_step(run, *stepper, at, h);
    // The end is T itself, not what rounding makes of the sum; a rejected last step was no last
    // one.
    const double end = last && to.t >= T * (1.0 - 1e-15) ? T : to.t;
    ++state.step;
    state.time = end;
    for (; due != times.end() && *due <= end; ++due) {
      Parameters theta = state.theta;
      coordinates.unpack(*due < end ? stepper->between(*due, at, to) : to.x, theta);
      row_at(*due, theta);
    }
    at = std::move(to);
    at.t = end;
    coordinates.unpack(at.x, state.theta);
    state.coordinates = at.x;
    state.next_step = h;
    if (!run.observer(state)) return false;
  }
  return true;
}

}  // namespace gih
