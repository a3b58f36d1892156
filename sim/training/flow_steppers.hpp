#pragma once
// One step of the flow, tried and accepted or not, by a method of Boost.Odeint.

#include <functional>
#include <memory>

#include "flow_coordinates.hpp"

namespace gih {

/// v = d_t x at x; v has the size of x.
using FlowVelocity = std::function<void(const FlowState& x, FlowState& v)>;

/// A point of the trajectory and the velocity there.
struct FlowPoint {
  double t = 0.0;
  FlowState x, v;
};

class FlowStepper {
 public:
  virtual ~FlowStepper() = default;

  /// Tries a step of h from `from`. True: `to` is the point at from.t + h. Either way h is what the
  /// error control asks for next. What it does depends on its arguments alone, not on steps before.
  virtual bool attempt(const FlowPoint& from, double& h, FlowPoint& to) = 0;

  /// x at time t between both ends of the step that was accepted last.
  virtual FlowState between(double t, const FlowPoint& from, const FlowPoint& to) = 0;
};

/// Dormand and Prince, order 5(4), explicit; its last evaluation is the first of the next step.
std::unique_ptr<FlowStepper> make_dormand_prince(const FlowVelocity& velocity, double tolerance);

/// Rosenbrock, order 4(3), linearly implicit. The Jacobian comes from central differences.
std::unique_ptr<FlowStepper> make_rosenbrock(const FlowVelocity& velocity, double tolerance);

}  // namespace gih
