#include "flow_steppers.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/rosenbrock4.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>
#include <cmath>
#include <limits>

namespace gih {
namespace {

namespace odeint = boost::numeric::odeint;

using ErrorChecker =
    odeint::default_error_checker<double, odeint::range_algebra, odeint::default_operations>;

class DormandPrince final : public FlowStepper {
 public:
  DormandPrince(const FlowVelocity& velocity, double tolerance)
      : rate_([velocity](const FlowState& x, FlowState& v, double) { velocity(x, v); }),
        stepper_(ErrorChecker(tolerance, tolerance)) {}

  bool attempt(const FlowPoint& from, double& h, FlowPoint& to) override {
    to.t = from.t;
    return stepper_.try_step(rate_, from.x, from.v, to.t, to.x, to.v, h) != odeint::fail;
  }

  FlowState between(double t, const FlowPoint& from, const FlowPoint& to) override {
    FlowState x(to.x.size());
    stepper_.stepper().calc_state(t, x, from.x, from.v, from.t, to.x, to.v, to.t);
    return x;
  }

 private:
  std::function<void(const FlowState&, FlowState&, double)> rate_;
  odeint::controlled_runge_kutta<odeint::runge_kutta_dopri5<FlowState>> stepper_;
};

/// RODAS, with the coefficients that odeint's rosenbrock4 has; that itself needs uBLAS, which Boost
/// 1.74 cannot compile as C++20. The flow does not depend on the time, so no term in d_t f.
class Rosenbrock final : public FlowStepper {
 public:
  Rosenbrock(const FlowVelocity& velocity, double tolerance)
      : velocity_(velocity), checker_(tolerance, tolerance) {}

  bool attempt(const FlowPoint& from, double& h, FlowPoint& to) override {
    const Vector x = Eigen::Map<const Vector>(from.x.data(), size(from.x));
    const Eigen::Index n = x.size();
    const Matrix system = Matrix::Identity(n, n) / (k.gamma * h) - jacobian(from.x);
    const Eigen::PartialPivLU<Matrix> lu(system);
    const auto rate = [&](const Vector& at) {
      to.x.assign(at.begin(), at.end());
      velocity_(to.x, to.v);
      return Vector(Eigen::Map<const Vector>(to.v.data(), n));
    };
    const auto solve = [&](const Vector& right) { return Vector(lu.solve(right)); };
    const Vector g1 = solve(Eigen::Map<const Vector>(from.v.data(), n));
    const Vector g2 = solve(rate(x + k.a21 * g1) + k.c21 * g1 / h);
    const Vector g3 = solve(rate(x + k.a31 * g1 + k.a32 * g2) + (k.c31 * g1 + k.c32 * g2) / h);
    const Vector g4 = solve(rate(x + k.a41 * g1 + k.a42 * g2 + k.a43 * g3) +
                            (k.c41 * g1 + k.c42 * g2 + k.c43 * g3) / h);
    Vector at = x + k.a51 * g1 + k.a52 * g2 + k.a53 * g3 + k.a54 * g4;
    const Vector g5 = solve(rate(at) + (k.c51 * g1 + k.c52 * g2 + k.c53 * g3 + k.c54 * g4) / h);
    at += g5;
    const Vector error =
        solve(rate(at) + (k.c61 * g1 + k.c62 * g2 + k.c63 * g3 + k.c64 * g4 + k.c65 * g5) / h);
    rate(at + error);  // leaves the end and its velocity in `to`
    to.t = from.t + h;
    third_ = k.d21 * g1 + k.d22 * g2 + k.d23 * g3 + k.d24 * g4 + k.d25 * g5;
    fourth_ = k.d31 * g1 + k.d32 * g2 + k.d33 * g3 + k.d34 * g4 + k.d35 * g5;

    FlowState errors(error.begin(), error.end());
    odeint::range_algebra algebra;
    const double worst = checker_.error(algebra, from.x, from.v, errors, h);
    const odeint::default_step_adjuster<double, double> adjuster;
    if (worst > 1.0) {
      h = adjuster.decrease_step(h, worst, k.error_order);
      return false;
    }
    h = adjuster.increase_step(h, worst, k.stepper_order);
    return true;
  }

  FlowState between(double t, const FlowPoint& from, const FlowPoint& to) override {
    const double s = (t - from.t) / (to.t - from.t);
    FlowState x(from.x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      x[i] = (1.0 - s) * from.x[i] + s * (to.x[i] + (1.0 - s) * (third_[row] + s * fourth_[row]));
    }
    return x;
  }

 private:
  using Vector = Eigen::VectorXd;

  static Eigen::Index size(const FlowState& x) { return static_cast<Eigen::Index>(x.size()); }

  /// J(i, j) = d v_i / d x_j by central differences. Every coordinate stands in an exponent, so all
  /// have the unit 1, and the cube root of the rounding is the step that balances both errors. Kept
  /// for the next attempt from the same point, with a smaller step.
  const Matrix& jacobian(const FlowState& at) {
    if (at == from_) return J_;
    from_ = at;
    J_.resize(size(at), size(at));
    const double step = std::cbrt(std::numeric_limits<double>::epsilon());
    FlowState x = at, above(at.size()), below(at.size());
    for (Eigen::Index j = 0; j < size(at); ++j) {
      double& moved = x[static_cast<std::size_t>(j)];
      const double middle = moved, high = middle + step, low = middle - step;
      moved = high;
      velocity_(x, above);
      moved = low;
      velocity_(x, below);
      moved = middle;
      for (Eigen::Index i = 0; i < size(at); ++i) {
        const auto row = static_cast<std::size_t>(i);
        J_(i, j) = (above[row] - below[row]) / (high - low);
      }
    }
    return J_;
  }

  const odeint::default_rosenbrock_coefficients<double> k{};
  FlowVelocity velocity_;
  ErrorChecker checker_;
  Vector third_, fourth_;  // of the interpolation in the step that was taken last
  FlowState from_;
  Matrix J_;
};

}  // namespace

std::unique_ptr<FlowStepper> make_dormand_prince(const FlowVelocity& velocity, double tolerance) {
  return std::make_unique<DormandPrince>(velocity, tolerance);
}

std::unique_ptr<FlowStepper> make_rosenbrock(const FlowVelocity& velocity, double tolerance) {
  return std::make_unique<Rosenbrock>(velocity, tolerance);
}

}  // namespace gih
