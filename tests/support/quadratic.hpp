#pragma once
// An objective whose descent is known exactly: L = 1/2 sum_i lambda_i (theta_i - target_i)^2, so
// theta_i after k steps of size r is target_i + (1 - r lambda_i)^k (start_i - target_i).

#include <cmath>
#include <limits>

#include "gih/model/objective.hpp"

namespace gih::test {

class Quadratic : public Objective {
 public:
  /// Curvatures and targets are all different, so that no entry can stand in for another.
  Quadratic(int H, int M, int nS) {
    curvature_.w = Matrix::NullaryExpr(H, M, [&] { return 0.1 + 0.01 * ++count_; });
    curvature_.c = Eigen::VectorXd::NullaryExpr(nS, [&] { return 0.1 + 0.01 * ++count_; });
    curvature_.a = 0.07;
    target_.w = Matrix::NullaryExpr(H, M, [&] { return 1.0 + 0.1 * ++count_; });
    target_.c = Eigen::VectorXd::NullaryExpr(nS, [&] { return -1.0 - 0.1 * ++count_; });
    target_.a = 3.5;
  }

  double loss(const Parameters& at) override {
    const auto half = [](const auto& curvature, const auto& distance) {
      return 0.5 * (curvature.array() * distance.array().square()).sum();
    };
    const double a = at.a - target_.a;
    return half(curvature_.w, at.w - target_.w) + half(curvature_.c, at.c - target_.c) +
           0.5 * curvature_.a * a * a;
  }

  void evaluate_into(const Parameters& at, Blocks blocks, bool with_loss,
                     Evaluation& result) override {
    asked = blocks;
    result.loss = with_loss ? loss(at) : std::numeric_limits<double>::quiet_NaN();
    // All blocks, whatever was asked for: a stage must not touch the others.
    result.gradient.w = curvature_.w.cwiseProduct(at.w - target_.w);
    result.gradient.c = curvature_.c.cwiseProduct(at.c - target_.c);
    result.gradient.a = curvature_.a * (at.a - target_.a);
  }

  /// Parameters after `steps` steps of size `rate` in the blocks that are trained.
  Parameters after(const Parameters& start, Blocks blocks, double rate, double steps) const {
    const auto move = [&](auto& x, const auto& curvature, const auto& target) {
      x = target.array() +
          (1.0 - rate * curvature.array()).pow(steps) * (x.array() - target.array());
    };
    Parameters theta = start;
    if (blocks.w) move(theta.w, curvature_.w, target_.w);
    if (blocks.c) move(theta.c, curvature_.c, target_.c);
    if (blocks.a) {
      theta.a = target_.a + std::pow(1.0 - rate * curvature_.a, steps) * (start.a - target_.a);
    }
    return theta;
  }

  /// Parameters of the gradient flow at time t.
  Parameters flow(const Parameters& start, Blocks blocks, double t) const {
    const auto move = [&](auto& x, const auto& curvature, const auto& target) {
      x = target.array() + (-t * curvature.array()).exp() * (x.array() - target.array());
    };
    Parameters theta = start;
    if (blocks.w) move(theta.w, curvature_.w, target_.w);
    if (blocks.c) move(theta.c, curvature_.c, target_.c);
    if (blocks.a) theta.a = target_.a + std::exp(-t * curvature_.a) * (start.a - target_.a);
    return theta;
  }

  Blocks asked;  ///< of the last evaluation

 private:
  double count_ = 0.0;
  Parameters curvature_, target_;
};

}  // namespace gih::test
