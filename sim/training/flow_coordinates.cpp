#include "flow_coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gih {

FlowState FlowCoordinates::pack(const Parameters& theta) const {
  FlowState x;
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
void FlowCoordinates::unpack(const FlowState& x, Parameters& theta, double least) const {
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

void FlowCoordinates::unpack(const FlowState& x, Parameters& theta) const {
  unpack(x, theta, -std::numeric_limits<double>::infinity());
}

void FlowCoordinates::velocity(Objective& objective, const FlowState& x, Parameters& theta,
                               FlowState& v) const {
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

}  // namespace gih
