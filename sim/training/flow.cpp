#include <fmt/core.h>

#include <algorithm>
#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "gih/training/schedule.hpp"
#include "methods.hpp"

namespace gih {
namespace {

namespace odeint = boost::numeric::odeint;
using State = std::vector<double>;
using Stepper = odeint::controlled_runge_kutta<odeint::runge_kutta_dopri5<State>>;

constexpr std::size_t most_steps = 10'000'000;

/// The trained blocks as one vector of coordinates x. The loss depends on c_S^2 alone, so no c_S
/// changes its sign along the flow, and in its place stands log(c_S^2 / C_D), with
/// C_D at the start, which the flow conserves (Lemma E.1). There the flow is not stiff: while p_S
/// of a lost subset falls by hundreds of orders of magnitude, its logarithm falls on a straight
/// line.
class Coordinates {
 public:
  Coordinates(Blocks trains, const Parameters& start) : trains_(trains), start_(start) {}

  State pack(const Parameters& theta) const {
    State x;
    if (trains_.c) {
      for (const double c : theta.c) {
        if (c != 0.0) x.push_back(std::log(c * c / start_.C_D()));  // c_S = 0 stays 0
      }
    }
    if (trains_.w) x.insert(x.end(), theta.w.data(), theta.w.data() + theta.w.size());
    if (trains_.a) x.push_back(theta.a);
    for (const WordMatrix& matrix : word_matrices) {
      const Matrix& W = theta.*matrix.member;
      if (trains_.qkv) x.insert(x.end(), W.data(), W.data() + W.size());
    }
    return x;
  }

  /// The parameters at x; log c_S^2 not below `least`.
  void unpack(const State& x, Parameters& theta, double least) const {
    auto next = x.begin();
    if (trains_.c) {
      const double length = std::sqrt(start_.C_D());
      for (Eigen::Index S = 0; S < theta.c.size(); ++S) {
        if (start_.c[S] == 0.0) continue;
        theta.c[S] = std::copysign(length * std::exp(0.5 * std::max(*next++, least)), start_.c[S]);
      }
    }
    if (trains_.w) {
      std::copy_n(next, theta.w.size(), theta.w.data());
      next += theta.w.size();
    }
    if (trains_.a) theta.a = *next++;
    for (const WordMatrix& matrix : word_matrices) {
      Matrix& W = theta.*matrix.member;
      if (!trains_.qkv) continue;
      std::copy_n(next, W.size(), W.data());
      next += W.size();
    }
  }
  void unpack(const State& x, Parameters& theta) const {
    unpack(x, theta, -std::numeric_limits<double>::infinity());
  }

  /// d_t x at x: d_t theta = -grad L, and d_t log c_S^2 = 2 d_t c_S / c_S.
  void velocity(Objective& objective, const State& x, Parameters& theta, State& v) const {
    unpack(x, theta, -600.0);  // far below what counts, and still no 0 / 0
    const Parameters gradient = objective.evaluate(theta, trains_, false).gradient;
    auto next = v.begin();
    if (trains_.c) {
      for (Eigen::Index S = 0; S < theta.c.size(); ++S) {
        if (start_.c[S] != 0.0) *next++ = -2.0 * gradient.c[S] / theta.c[S];
      }
    }
    if (trains_.w) {
      for (Eigen::Index i = 0; i < gradient.w.size(); ++i) *next++ = -gradient.w.data()[i];
    }
    if (trains_.a) *next++ = -gradient.a;
    for (const WordMatrix& matrix : word_matrices) {
      const Matrix& W = gradient.*matrix.member;
      for (Eigen::Index i = 0; trains_.qkv && i < W.size(); ++i) *next++ = -W.data()[i];
    }
  }

 private:
  Blocks trains_;
  Parameters start_;
};

bool all_finite(const State& x) {
  return std::all_of(x.begin(), x.end(), [](double entry) { return std::isfinite(entry); });
}

double largest(const State& x) {
  double size = 0.0;
  for (const double entry : x) size = std::max(size, std::abs(entry));
  return size;
}

/// One accepted step from (x, v) at time t, of at most h; gives the time and the next step size.
struct Step {
  State x, v;
  double t, next;
};

Step take_step(StageRun& run, Stepper& stepper,
               const std::function<void(const State&, State&, double)>& rate, const State& x,
               const State& v, double t, double h) {
  Step taken{State(x.size()), State(x.size()), t, h};
  const std::string remedy =
      fmt::format("a larger stage.{}.tolerance or method gd", run.state.stage);
  for (;;) {
    const double tried = taken.next;
    const bool accepted =
        stepper.try_step(rate, x, v, taken.t, taken.x, taken.v, taken.next) != odeint::fail;
    // odeint accepts a step whose error is not a number. A trial point can be out of bounds where
    // the flow is not: after a long rise of log p_S a step that fits it ends far above log 1.
    const bool finite = all_finite(taken.x) && all_finite(taken.v);
    if (accepted && finite) break;
    if (!finite) {
      taken.t = t;
      taken.next = 0.2 * tried;
    }
    if (taken.next > 1e-15 * std::max(1.0, t)) continue;
    if (!finite) {
      fail(run, fmt::format("after time {} a parameter or its velocity is not finite", t),
           smaller_steps(run));
    }
    fail(run, fmt::format("at time {} the flow needs steps below {:.3g}", t, taken.next), remedy);
  }
  if (run.state.step >= most_steps) {
    fail(run, fmt::format("at time {} the flow has taken {} steps", t, most_steps), remedy);
  }
  return taken;
}

}  // namespace

/// Dormand and Prince's method of order 5(4), error-controlled; rows between its steps by its own
/// interpolation. A checkpoint holds the coordinates at the end of a step and the next step size,
/// from which everything else is computed again, so a resumed flow has the same bits.
bool gradient_flow(StageRun& run) {
  const double T = run.stage.time;
  TrainState& state = run.state;
  const bool logged = !state.log.empty() && state.log.back().stage == state.stage;
  const Parameters start =
      logged ? std::find_if(state.log.begin(), state.log.end(),
                            [&](const LogRow& row) { return row.stage == state.stage; })
                   ->theta
             : state.theta;
  const Coordinates coordinates(run.stage.trains, start);
  const auto row_at = [&](double time, const Parameters& theta) {
    append_row(run, time, theta, run.train.loss(theta));
  };
  if (!logged) row_at(0.0, state.theta);

  Parameters probe = state.theta;
  const auto rate = [&](const State& x, State& v, double) {
    coordinates.velocity(run.train, x, probe, v);
  };
  Stepper stepper{
      odeint::default_error_checker<double, odeint::range_algebra, odeint::default_operations>(
          run.stage.tolerance, run.stage.tolerance)};
  const std::vector<double> times = log_times(T, static_cast<double>(run.log_every));
  auto due = std::upper_bound(times.begin(), times.end(), state.time);
  if (state.coordinates.empty()) state.coordinates = coordinates.pack(state.theta);
  State x = state.coordinates;
  State v(x.size());
  rate(x, v, state.time);
  if (!(state.next_step > 0.0)) state.next_step = std::min(T, 0.01 / std::max(largest(v), 1e-300));
  while (state.time < T) {
    const double left = T - state.time;
    const bool last = state.next_step >= left;
    Step taken = take_step(run, stepper, rate, x, v, state.time, std::min(state.next_step, left));
    const double before = state.time;
    ++state.step;
    // The end is T itself, not what rounding makes of the sum; a rejected last step was no last
    // one.
    state.time = last && taken.t >= T * (1.0 - 1e-15) ? T : taken.t;
    for (; due != times.end() && *due <= state.time; ++due) {
      State between = taken.x;
      if (*due < state.time) {
        stepper.stepper().calc_state(*due, between, x, v, before, taken.x, taken.v, taken.t);
      }
      Parameters theta = state.theta;
      coordinates.unpack(between, theta);
      row_at(*due, theta);
    }
    x = std::move(taken.x);
    v = std::move(taken.v);
    coordinates.unpack(x, state.theta);
    state.coordinates = x;
    state.next_step = taken.next;
    if (!run.observer(state)) return false;
  }
  return true;
}

}  // namespace gih
