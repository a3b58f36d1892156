#pragma once
// One check for the gradient of any objective: the six-point central difference

//   f'(x) ~ (45 (f_1 - f_-1) - 9 (f_2 - f_-2) + (f_3 - f_-3)) / 60h,   f_k = f(x + k h),

// whose error is h^6 f^(7) / 140.

#include <algorithm>
#include <cmath>
#include <string>

#include "gih/model/objective.hpp"

namespace gih::test {

/// Steps: w and a are of order 1. The loss depends on the direction of c alone, so a step in c is
/// taken relative to the length of c.
constexpr double stencil_step = 5e-3;

/// Tolerance on |difference| x (length of a unit step) / max(1, |loss|): the truncation error is
/// near h^6 x 36 = 6e-13 where the seventh derivative is near 7!, rounding near 1e-16 / h = 2e-14;
/// a wrong formula is off by 1e-4 or more.
constexpr double stencil_tolerance = 1e-11;

struct GradientCheck {
  int checked = 0;     ///< entries compared
  double worst = 0.0;  ///< largest scaled difference; compare with stencil_tolerance
  std::string where;   ///< entry of the largest difference
};

inline double six_point_slope(Objective& objective, Parameters& theta, double& entry, double h) {
  const double x = entry;
  const auto at = [&](int k) {
    entry = x + k * h;
    return objective.loss(theta);
  };
  const double slope = (45.0 * (at(1) - at(-1)) - 9.0 * (at(2) - at(-2)) + (at(3) - at(-3))) / 60.0;
  entry = x;
  return slope / h;
}

/// A layer norm divides by the deviation of few entries, which may be small: there the loss bends
/// on a scale far below 1, and the truncation error calls for a shorter step. Rounding is then near
/// 1e-16 / h = 1e-12.
constexpr double sharp_stencil_step = 1e-4;

/// Compares every entry of the gradient with the stencil.
inline GradientCheck check_gradient(Objective& objective, Parameters theta,
                                    double step = stencil_step) {
  const Evaluation found = objective.evaluate(theta, Blocks::all(), true);
  const double size = std::max(1.0, std::abs(found.loss));
  const double length_of_c = theta.c.norm();
  GradientCheck result;
  const auto compare = [&](double& entry, double gradient, double unit, const std::string& name) {
    const double slope = six_point_slope(objective, theta, entry, step * unit);
    const double scaled = std::abs(slope - gradient) * unit / size;
    ++result.checked;
    if (!(scaled <= result.worst) && !std::isnan(result.worst)) {  // a NaN is the worst
      result.worst = scaled;
      result.where = name;
    }
  };
  for (Eigen::Index h = 0; h < theta.w.rows(); ++h) {
    for (Eigen::Index i = 0; i < theta.w.cols(); ++i) {
      compare(theta.w(h, i), found.gradient.w(h, i), 1.0,
              "w(" + std::to_string(h) + "," + std::to_string(i) + ")");
    }
  }
  for (Eigen::Index S = 0; S < theta.c.size(); ++S) {
    compare(theta.c(S), found.gradient.c(S), length_of_c, "c(" + std::to_string(S) + ")");
  }
  compare(theta.a, found.gradient.a, 1.0, "a");
  for (const WordMatrix& matrix : word_matrices) {
    Matrix& W = theta.*matrix.member;
    const Matrix& gradient = found.gradient.*matrix.member;
    for (Eigen::Index i = 0; i < W.size(); ++i) {
      compare(W.data()[i], gradient.data()[i], 1.0, matrix.name + ("[" + std::to_string(i) + "]"));
    }
  }
  return result;
}

}  // namespace gih::test
