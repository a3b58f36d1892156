#include "gih/memory/snapshot_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gih/base/error.hpp"
#include "gih/memory/attend.hpp"

namespace gih {
namespace {

using Index = Eigen::Index;

Index columns_before(const Matrix& A, std::size_t k) {
  if (k > static_cast<std::size_t>(A.cols())) {
    throw InputError(fmt::format("k = {}: must be at most the {} tokens", k, A.cols()));
  }
  return A.cols() - static_cast<Index>(k);
}

double tail(const std::vector<double>& sigma) {
  double sum = 0.0;
  for (std::size_t j = sigma.size(); j-- > 1;) sum += sigma[j] * sigma[j];
  return sum;
}

}  // namespace

Matrix attention_rows(const Matrix& queries, const Matrix& keys) {
  return attention(queries, keys, Matrix::Zero(keys.rows(), 1), Matrix::Zero(keys.rows(), 1)).P;
}

std::vector<double> singular_values(const Matrix& A) {
  if (A.size() == 0) return {};
  const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(A).singularValues();
  return {values.data(), values.data() + values.size()};
}

std::size_t numerical_rank(const Matrix& A, double share) {
  const std::vector<double> sigma = singular_values(A);
  if (sigma.empty()) return 0;
  return static_cast<std::size_t>(std::count_if(
      sigma.begin(), sigma.end(), [&](double value) { return value > share * sigma.front(); }));
}

double free_floor(const Matrix& A, std::size_t k) {
  return tail(singular_values(A.leftCols(columns_before(A, k))));
}

SoftmaxFloor softmax_floor(const Matrix& A, std::size_t k) {
  const Index n = columns_before(A, k);
  SoftmaxFloor found{0.0, Eigen::VectorXd::Zero(n)};
  if (n == 0) return found;
  const Matrix before = A.leftCols(n);
  const Eigen::VectorXd beta = before.rowwise().sum();
  double weight = 0.0;
  for (Index l = 0; l < A.rows(); ++l) {
    found.alpha += beta[l] * before.row(l);  // beta^2 alpha = beta times the row
    weight += beta[l] * beta[l];
  }
  if (weight > 0.0) found.alpha /= weight;
  for (Index l = 0; l < A.rows(); ++l) {
    found.floor += (before.row(l).transpose() - beta[l] * found.alpha).squaredNorm();
  }
  return found;
}

double output_variance(const Matrix& O, const Eigen::VectorXd& mu) {
  const Eigen::VectorXd mean = O.transpose() * mu;
  double sum = 0.0;
  for (Index l = 0; l < O.rows(); ++l) sum += mu[l] * (O.row(l).transpose() - mean).squaredNorm();
  return sum;
}

double segment_floor(const Matrix& A, const std::vector<std::size_t>& ends) {
  double sum = 0.0;
  Index from = 0;
  for (const std::size_t end : ends) {
    const auto to = static_cast<Index>(end);
    sum += tail(singular_values(A.middleCols(from, to - from)));
    from = to;
  }
  return sum;
}

std::size_t count_above(const std::vector<double>& beta, double least) {
  return static_cast<std::size_t>(
      std::count_if(beta.begin(), beta.end(), [&](double value) { return value > least; }));
}

double participation(const std::vector<double>& beta) {
  double sum = 0.0, squares = 0.0;
  for (const double value : beta) {
    sum += value;
    squares += value * value;
  }
  return squares > 0.0 ? sum * sum / squares : 0.0;
}

}  // namespace gih
