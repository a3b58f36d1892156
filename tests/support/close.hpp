#pragma once
// How far two arrays are apart, relative to the largest entry of the second.

#include <Eigen/Dense>
#include <algorithm>
#include <limits>

namespace gih::test {

/// max |a - b| / max |b|; infinite when the sizes differ or an entry is not finite.
template <typename A, typename B>
double relative_difference(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  constexpr double never = std::numeric_limits<double>::infinity();
  if (a.rows() != b.rows() || a.cols() != b.cols() || a.size() == 0) return never;
  if (!a.allFinite() || !b.allFinite()) return never;
  const double size = b.cwiseAbs().maxCoeff();
  const double apart = (a - b).cwiseAbs().maxCoeff();
  return apart == 0.0 ? 0.0 : apart / size;
}

}  // namespace gih::test
