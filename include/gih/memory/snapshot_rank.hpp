#pragma once
// What snapshots can and cannot represent. A snapshot's weights on tokens are the same for every
// query, so as a map from queries to tokens it has rank one: beta alpha^T. Squared errors below are
// the least that any snapshot leaves.

#include <vector>

#include <Eigen/Dense>

#include "gih/model/parameters.hpp"

namespace gih {

/// Attention of queries (T x d_e, a included) to keys (N x d_e): T x N, rows sum to 1.
Matrix attention_rows(const Matrix& queries, const Matrix& keys);

/// Singular values, the largest first.
std::vector<double> singular_values(const Matrix& A);
/// Those above `share` of the largest.
std::size_t numerical_rank(const Matrix& A, double share = 1e-10);

/// Sum_{j >= 2} sigma_j^2 of the columns before the last k: the squared Frobenius error of one
/// snapshot with free weights beside k local tokens. Never rises with k. InputError unless k is at
/// most the number of columns.
double free_floor(const Matrix& A, std::size_t k);

/// The same when alpha is a softmax and beta_l the whole mass before the last k: alpha* = sum
/// beta_l^2 alpha_l / sum beta_l^2, floor sum_l beta_l^2 ||alpha_l - alpha*||^2.
struct SoftmaxFloor {
  double floor = 0.0;
  Eigen::VectorXd alpha;  ///< alpha*, one entry a column before the last k
};
SoftmaxFloor softmax_floor(const Matrix& A, std::size_t k);

/// Least mean squared error of an answer that is the same for every query: outputs O (T x d),
/// weights mu (T, sum 1); the variance of the outputs.
double output_variance(const Matrix& O, const Eigen::VectorXd& mu);

/// Columns cut at `ends` (each one past the last column of a segment): sum over segments of
/// free_floor(., 0), a snapshot a segment.
double segment_floor(const Matrix& A, const std::vector<std::size_t>& ends);

/// Numbers above `least`, and 1 / sum beta^2 of beta / sum beta: how many segments a query uses.
std::size_t count_above(const std::vector<double>& beta, double least);
double participation(const std::vector<double>& beta);

}  // namespace gih
