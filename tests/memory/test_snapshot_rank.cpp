#include "gih/memory/snapshot_rank.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "gih/base/error.hpp"
#include "gih/memory/stream.hpp"
#include "support/memory_cases.hpp"

using namespace gih;
using namespace gih::test;

namespace {

using Index = Eigen::Index;

Matrix random_rows(Index T, Index N) {
  Stream stream(17, Purpose::claims, static_cast<std::uint64_t>(T * 100 + N));
  return attention_rows(2.0 * random_matrix(T, 6, stream), random_matrix(N, 6, stream));
}

}  // namespace

TEST_CASE("T22: ranks of what a snapshot and what local tokens do") {
  const Matrix A = random_rows(8, 40);
  CHECK(numerical_rank(A) == 6 + 2);  // min(T, N), far above d_e: a softmax is not linear
  Stream stream(18, Purpose::claims, 0);
  const Matrix beta = random_matrix(8, 1, stream), alpha = random_matrix(1, 40, stream);
  CHECK(numerical_rank(beta * alpha) == 1);
  for (const Index k : {0, 1, 3, 6, 9}) {
    Matrix with = beta * alpha;
    with.rightCols(k) += random_matrix(8, k, stream);
    CHECK(numerical_rank(with) == static_cast<std::size_t>(std::min<Index>(8, k + 1)));
  }
}

TEST_CASE("T22: floors fall with k, are attained, and stand below every snapshot") {
  const Matrix A = random_rows(8, 40);
  double last = 1e300;
  for (std::size_t k = 0; k <= 40; ++k) {
    const double floor = free_floor(A, k);
    CHECK(floor <= last + 1e-15);
    last = floor;
    const SoftmaxFloor soft = softmax_floor(A, k);
    CHECK(soft.floor >= floor - 1e-14);
    if (k == 40) continue;
    CHECK(std::abs(soft.alpha.sum() - 1.0) < 1e-13);
    CHECK(soft.alpha.minCoeff() >= 0.0);
  }
  CHECK(free_floor(A, 0) > 0.1);
  CHECK(free_floor(A, 40) == 0.0);
  // Attained: the best rank-one matrix is made of the first singular vectors.
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Eigen::MatrixXd best =
      svd.singularValues()[0] * svd.matrixU().col(0) * svd.matrixV().col(0).transpose();
  CHECK(std::abs((A - best).squaredNorm() - free_floor(A, 0)) < 1e-12);
  // Not below: 2000 snapshots with random weights, beta as good as it can be or the whole mass.
  const SoftmaxFloor soft = softmax_floor(A, 5);
  const Matrix before = A.leftCols(35);
  Stream stream(19, Purpose::claims, 0);
  std::vector<double> alpha(35);
  for (int trial = 0; trial < 2000; ++trial) {
    stream.dirichlet(trial % 2 ? 0.2 : 2.0, alpha);
    const Eigen::Map<const Eigen::RowVectorXd> a(alpha.data(), 35);
    const Eigen::VectorXd mass = before.rowwise().sum();
    CHECK((before - mass * a).squaredNorm() >= soft.floor - 1e-14);
    const Eigen::VectorXd beta = before * a.transpose() / a.squaredNorm();
    CHECK((before - beta * a).squaredNorm() >= free_floor(A, 5) - 1e-14);
  }
  CHECK_THROWS_AS(free_floor(A, 41), InputError);
}

TEST_CASE("T21: the error of one answer for all queries is the variance of the outputs") {
  const Reader reader = Reader::limit(3, 2, 0b11);
  const Items items = reader.items(random_tokens(3, 60, 2));
  const Index N = 58;
  const Matrix keys = items.u.middleRows(2, N), queries = 3.0 * Matrix::Identity(9, 9);
  Matrix values = Matrix::Zero(N, 3);
  for (Index i = 0; i < N; ++i) values(i, items.x[static_cast<std::size_t>(i) + 2]) = 1.0;
  const Matrix A = attention_rows(queries, keys);
  Stream stream(20, Purpose::claims, 0);
  std::vector<double> law(9);
  stream.dirichlet(1.0, law);
  const Eigen::Map<const Eigen::VectorXd> mu(law.data(), 9);
  const double floor = output_variance(A * values, mu);
  CHECK(floor > 0.01);
  const auto error = [&](const Eigen::RowVectorXd& alpha) {
    double sum = 0.0;
    for (Index l = 0; l < 9; ++l) sum += mu[l] * ((A.row(l) - alpha) * values).squaredNorm();
    return sum;
  };
  CHECK(std::abs(error(mu.transpose() * A) - floor) < 1e-15);  // alpha* = sum mu A_q attains it
  std::vector<double> alpha(static_cast<std::size_t>(N));
  for (int trial = 0; trial < 2000; ++trial) {
    stream.dirichlet(0.3, alpha);
    CHECK(error(Eigen::Map<const Eigen::RowVectorXd>(alpha.data(), N)) >= floor - 1e-15);
  }
  // A single query, or a = 0, leaves nothing to differ.
  CHECK(output_variance((A * values).topRows(1), Eigen::VectorXd::Ones(1)) == 0.0);
  CHECK(output_variance(attention_rows(0.0 * queries, keys) * values, mu) < 1e-30);
}

TEST_CASE("in the limit a sequence needs as many snapshots as patterns") {
  const Reader reader = Reader::limit(3, 2, 0b11);
  const Items items = reader.items(random_tokens(3, 30, 8));
  const Matrix keys = items.u.middleRows(2, 28);
  std::set<Index> patterns;
  for (Index i = 0; i < keys.rows(); ++i) {
    Index at = 0;
    keys.row(i).maxCoeff(&at);
    patterns.insert(at);
  }
  Matrix limit = Matrix::Zero(9, 28);  // the queries of a -> infinity, for patterns that occur
  for (Index i = 0; i < 28; ++i) limit.col(i) = keys.row(i).transpose();
  for (Index q = 0; q < 9; ++q) limit.row(q) /= std::max(1.0, limit.row(q).sum());
  CHECK(numerical_rank(limit) == patterns.size());
  CHECK(std::abs(segment_floor(limit, {28}) - free_floor(limit, 0)) < 1e-14);
  CHECK(segment_floor(limit, {7, 14, 21, 28}) < free_floor(limit, 0));
}

TEST_CASE("how many segments a query uses") {
  CHECK(count_above({0.5, 0.3, 0.15, 0.05}, 0.1) == 3);
  CHECK(std::abs(participation({0.25, 0.25, 0.25, 0.25}) - 4.0) < 1e-15);
  CHECK(std::abs(participation({2.0, 0.0, 0.0}) - 1.0) < 1e-15);
  CHECK(participation({}) == 0.0);
}
