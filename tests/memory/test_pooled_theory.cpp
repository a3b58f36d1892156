#include "gih/memory/pooled_theory.hpp"

#include <doctest/doctest.h>

#include <Eigen/SVD>
#include <cmath>

#include "gih/data/chain.hpp"
#include "gih/memory/stream.hpp"
#include "gih/memory/weights.hpp"
#include "support/chain_law_cases.hpp"
#include "support/memory_cases.hpp"

using namespace gih;
using namespace gih::test;

namespace {

/// Rank of the centred blocks over every sequence of the window and the block.
std::size_t rank_by_enumeration(int d, const std::vector<Subset>& active, int M, int c) {
  const int length = M + c;
  std::size_t count = 1;
  for (int i = 0; i < length; ++i) count *= static_cast<std::size_t>(d);
  std::vector<Reader> readers;
  Eigen::Index width = d;
  for (const Subset S : active) {
    if (S == 0) continue;
    readers.push_back(Reader::limit(d, M, S));
    width += readers.back().d_e();
  }
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(count), width * c);
  rows.setZero();
  for (std::size_t code = 0; code < count; ++code) {
    std::vector<Token> x;
    for (std::size_t i = 0, rest = code; i < static_cast<std::size_t>(length);
         ++i, rest /= static_cast<std::size_t>(d)) {
      x.push_back(static_cast<Token>(rest % static_cast<std::size_t>(d)));
    }
    Eigen::Index at = 0;
    for (const Reader& reader : readers) {
      const Items items = reader.items(x);
      for (int i = 0; i < c; ++i, at += reader.d_e()) {
        rows.row(static_cast<Eigen::Index>(code)).segment(at, reader.d_e()) = items.u.row(M + i);
      }
    }
    for (int i = 0; i < c; ++i, at += d) {
      rows(static_cast<Eigen::Index>(code), at + x[static_cast<std::size_t>(M + i)]) = 1.0;
    }
  }
  const Eigen::MatrixXd centred = rows.rowwise() - rows.colwise().mean();
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(centred.transpose() * centred);
  std::size_t rank = 0;
  for (Eigen::Index i = 0; i < svd.singularValues().size(); ++i) {
    rank += svd.singularValues()[i] > 1e-9 * svd.singularValues()[0] ? 1 : 0;
  }
  return rank;
}

}  // namespace

TEST_CASE("T9: the score of a mean-pooled slot is the mean of its items' scores") {
  for (const Reader& reader : {Reader::limit(3, 2, 3), soft_reader(3, 3)}) {
    const Items items = reader.items(random_tokens(3, 60, 1));
    CompressorSpec spec;
    for (Eigen::Index first = 4; first + 4 < 60; ++first) {
      Matrix rows = Matrix::Zero(4, items.d_e() + 3);
      rows.leftCols(items.d_e()) = items.u.middleRows(first, 4);
      const Matrix z = compress_rows(spec, {}, items.d_e(), rows, {});
      const auto query = items.u.row(60);
      CHECK(std::abs(z.row(0).head(items.d_e()).dot(query) -
                     (items.u.middleRows(first, 4) * query.transpose()).mean()) < 1e-15);
    }
  }
}

TEST_CASE("T10: Jensen's deficit is not negative, 0 at the ends, largest at f*") {
  for (const double a : {0.5, 2.0, 6.0, 12.0}) {
    const double best = jensen_share(a);
    CHECK(std::abs(jensen_deficit(a, best) - jensen_maximum(a)) < 1e-12);
    CHECK(std::abs(jensen_deficit(a, 0.0)) < 1e-15);
    CHECK(std::abs(jensen_deficit(a, 1.0)) < 1e-14);
    for (int i = 0; i <= 100; ++i) {
      CHECK(jensen_deficit(a, i / 100.0) >= -1e-14);
      CHECK(jensen_deficit(a, i / 100.0) <= jensen_maximum(a) + 1e-14);
    }
  }
  CHECK(std::abs(jensen_maximum(6.0) - 3.220668171344) < 1e-12);
}

TEST_CASE("T11: with exact masses what is lost is the covariance of weights and values in blocks") {
  Stream stream(3, Purpose::claims, 11);
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix w = random_matrix(6, 4, stream).cwiseAbs();
    Matrix x = random_matrix(24, 3, stream);
    Eigen::RowVectorXd y = Eigen::RowVectorXd::Zero(3), slots = y, covariance = y;
    for (Eigen::Index j = 0; j < 6; ++j) {
      const Matrix block = x.middleRows(4 * j, 4);
      y += w.row(j) * block;
      slots += w.row(j).sum() * block.colwise().mean();
      covariance += 4.0 * (w.row(j) * block / 4.0 - w.row(j).mean() * block.colwise().mean());
    }
    CHECK(((y - slots) / w.sum() - covariance / w.sum()).cwiseAbs().maxCoeff() < 1e-14);
  }
}

TEST_CASE("T13: the tilted recursion is the enumeration, and the stationary law without a tilt") {
  const struct {
    int d, c;
    std::vector<int> parents;
    Subset S;
    std::vector<Token> query;
  } cases[] = {{2, 4, {1}, 1, {1}},       {2, 5, {1, 2}, 3, {0, 1}}, {3, 3, {1, 2}, 3, {2, 2}},
               {2, 4, {1, 3}, 5, {1, 0}}, {3, 3, {2}, 2, {1}},       {2, 6, {1}, 2, {1}}};
  for (const auto& one : cases) {
    const Kernel kernel = law_kernel(one.d, one.parents, static_cast<std::uint64_t>(one.c));
    for (const double theta : {0.0, 0.7, 3.0, 12.0}) {
      const auto fast = pooled_prediction(kernel, one.S, one.query, theta, one.c);
      const auto slow = pooled_by_enumeration(kernel, one.S, one.query, theta, one.c);
      for (std::size_t k = 0; k < fast.size(); ++k) CHECK(std::abs(fast[k] - slow[k]) < 1e-13);
    }
    const auto flat = pooled_prediction(kernel, one.S, one.query, 0.0, one.c);
    const WindowChain chain(kernel);
    const auto law = chain.long_run_law();
    std::vector<double> tokens(flat.size(), 0.0);
    for (std::size_t Z = 0; Z < law.size(); ++Z) tokens[Z % flat.size()] += law[Z];
    for (std::size_t k = 0; k < flat.size(); ++k) CHECK(std::abs(flat[k] - tokens[k]) < 1e-13);
  }
}

TEST_CASE("the bias of pooling: matches bring their own tokens along") {
  const Kernel kernel{2, {1}, {0.7, 0.3, 0.4, 0.6}};
  CHECK(std::abs(pooled_prediction(kernel, 1, {1}, 3.0, 1)[1] - 0.581) < 5e-4);
  CHECK(std::abs(pooled_prediction(kernel, 1, {1}, 1.5, 2)[1] - 0.693) < 5e-4);
  // The law for independent matches misses it: q = mu(1), pi_Q = .6, pi-bar = .3 / (.3 + .4).
  const double mean = 3.0 / 7.0, other = 0.3;  // without a match the next token follows 0
  const double rho = independent_weight(mean, 3.0, 2);
  CHECK(std::abs(other + rho * (0.6 - other) - 0.531) < 5e-4);
}

TEST_CASE("T14: independent tokens pool as the formula says") {
  // Rows all equal but for the query's: matches are independent when the key's token is not the
  // value's: a chain of order 2 whose kernel looks at lag 2 alone has independent neighbours.
  Kernel kernel{2, {2}, {0.5, 0.5, 0.5, 0.5}};
  const double q = 0.5;
  for (const double a : {1.0, 4.0}) {
    for (const int c : {1, 2}) {  // lag 2 does not reach into a block of two
      const auto y = pooled_prediction(kernel, 2, {1}, a / c, c);
      CHECK(std::abs(y[1] - 0.5) < 1e-13);
      // Share of matches under the tilt, from its derivative in theta.
      const double theta = a / c, weight = independent_weight(q, a, c);
      CHECK(std::abs(weight - q * std::exp(theta) / (1 - q + q * std::exp(theta))) < 1e-15);
    }
  }
  // Values that depend on the match: d = 4 tokens, pairs of bits (key, value), independent.
  // y = pi-bar + rho (pi_Q - pi-bar), by a direct sum over two independent items.
  const double match = 0.3, value_if = 0.9, value_else = 0.2, a = 3.0;
  double mass = 0.0, sum = 0.0;
  for (int m1 = 0; m1 < 2; ++m1) {
    for (int m2 = 0; m2 < 2; ++m2) {
      const double P =
          (m1 ? match : 1 - match) * (m2 ? match : 1 - match) * std::exp(a / 2 * (m1 + m2));
      mass += P;
      sum += P * 0.5 * ((m1 ? value_if : value_else) + (m2 ? value_if : value_else));
    }
  }
  CHECK(std::abs(sum / mass -
                 (value_else + independent_weight(match, a, 2) * (value_if - value_else))) < 1e-14);
}

TEST_CASE("T15: a block of c holds at most ceil(c / tau) matches of a contiguous pattern") {
  CHECK(smallest_period({1, 1}) == 1);
  CHECK(smallest_period({1, 0}) == 2);
  CHECK(smallest_period({1, 0, 1}) == 2);
  CHECK(smallest_period({1, 0, 0}) == 3);
  for (const std::vector<Token>& pattern :
       std::vector<std::vector<Token>>{{0, 0}, {0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}}) {
    const auto m = pattern.size();
    const auto tau = static_cast<std::size_t>(smallest_period(pattern));
    for (std::size_t c = 1; c <= 7; ++c) {
      std::size_t most = 0;
      for (std::size_t code = 0; code < (1U << (c + m - 1)); ++code) {
        std::size_t matches = 0;
        for (std::size_t i = 0; i < c; ++i) {
          bool all = true;
          for (std::size_t j = 0; j < m; ++j) all = all && (code >> (i + j) & 1U) == pattern[j];
          matches += all ? 1 : 0;
        }
        most = std::max(most, matches);
      }
      CHECK(most == (c + tau - 1) / tau);
    }
  }
}

TEST_CASE("T17: the rank of centred blocks of hard features") {
  const std::vector<Subset> paper = subsets(3, 2, SubsetRule::at_most);
  for (int c = 1; c <= 4; ++c) {
    CHECK(block_rank(3, paper, c) == static_cast<std::size_t>(10 + 10 * c));
    CHECK(block_rank(3, {3}, c) == static_cast<std::size_t>(4 + 6 * c));
    if (c <= 3) CHECK(rank_by_enumeration(3, {3}, 2, c) == block_rank(3, {3}, c));
  }
  for (int c = 1; c <= 3; ++c) {
    CHECK(rank_by_enumeration(2, paper, 3, c) == block_rank(2, paper, c));
    CHECK(rank_by_enumeration(2, {5}, 3, c) == block_rank(2, {5}, c));
  }
}

TEST_CASE("freezing: few slots hold no block richer than the random-energy estimate") {
  CHECK(frozen_share(0.15, 6, 1.0) < 0.16);
  double before = 0.0;
  for (const double slots : {20.0, 200.0, 2000.0, 2e5}) {
    const double share = frozen_share(0.15, 6, slots);
    CHECK(share > before);
    before = share;
  }
  CHECK(frozen_share(0.15, 6, 1e30) == 1.0);
}
