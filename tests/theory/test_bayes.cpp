#include "gih/theory/estimators.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <boost/math/quadrature/tanh_sinh.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <random>

#include "gih/base/error.hpp"
#include "gih/data/chain.hpp"
#include "gih/model/reference_engine.hpp"
#include "gih/model/table_engine.hpp"
#include "gih/theory/measures.hpp"
#include "gih/theory/window_law.hpp"
#include "support/chain_cases.hpp"
#include "support/estimator_cases.hpp"
#include "support/statistics.hpp"

using namespace gih;
using namespace gih::test;

namespace {

double beta(double a, double b) {
  return std::exp(std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b));
}

/// E of prod (gamma + (1 - 2 gamma) theta_k)^{n_k}, theta Dirichlet(alpha, alpha), by quadrature.
double quadrature(std::size_t n0, std::size_t n1, double alpha, double floor) {
  boost::math::quadrature::tanh_sinh<double> rule;
  const double b = 1.0 - 2.0 * floor;
  return rule.integrate(
             [&](double t, double tc) {
               const double other = tc > 0.0 ? tc : 1.0 - t;  // 1 - t without cancellation
               return std::pow(t, alpha - 1.0) * std::pow(other, alpha - 1.0) *
                      std::pow(floor + b * t, static_cast<double>(n0)) *
                      std::pow(floor + b * other, static_cast<double>(n1));
             },
             0.0, 1.0) /
         beta(alpha, alpha);
}

}  // namespace

TEST_CASE("evidence and posterior mean of a row equal their integrals") {
  int checked = 0;
  for (const double alpha : {0.1, 0.5, 1.0, 3.0}) {
    for (const double floor : {0.0, 1e-6, 0.01, 0.1, 0.4, 0.499}) {
      for (const std::size_t n0 : {0U, 1U, 4U, 30U}) {
        for (const std::size_t n1 : {0U, 2U, 9U}) {
          const std::vector<std::size_t> counts{n0, n1};
          const double expected = quadrature(n0, n1, alpha, floor);
          CHECK(std::abs(std::exp(log_row_evidence(counts, alpha, floor)) / expected - 1.0) <=
                tolerance);
          const auto mean = row_posterior_mean(counts, alpha, floor);
          CHECK(std::abs(mean[0] - quadrature(n0 + 1, n1, alpha, floor) / expected) <= tolerance);
          CHECK(std::abs(mean[1] - quadrature(n0, n1 + 1, alpha, floor) / expected) <= tolerance);
          ++checked;
        }
      }
    }
  }
  CHECK(checked == 4 * 6 * 12);
}

TEST_CASE("for three tokens the evidence is the double integral, broken as a stick") {
  // theta = (u, (1-u) v, (1-u)(1-v)): u is Beta(alpha, 2 alpha), v is Beta(alpha, alpha).
  boost::math::quadrature::tanh_sinh<double> outer, inner;
  for (const double alpha : {0.3, 1.5}) {
    for (const double floor : {0.02, 0.2}) {
      const double b = 1.0 - 3.0 * floor;
      const std::vector<std::size_t> n{3, 0, 5};
      const double integral = outer.integrate(
          [&](double u, double uc) {
            const double rest = uc > 0.0 ? uc : 1.0 - u;
            return std::pow(u, alpha - 1.0) * std::pow(rest, 2.0 * alpha - 1.0) *
                   std::pow(floor + b * u, 3.0) *
                   inner.integrate(
                       [&](double v, double vc) {
                         const double other = vc > 0.0 ? vc : 1.0 - v;
                         return std::pow(v, alpha - 1.0) * std::pow(other, alpha - 1.0) *
                                std::pow(floor + b * rest * other, 5.0);
                       },
                       0.0, 1.0);
          },
          0.0, 1.0);
      const double expected = integral / (beta(alpha, 2.0 * alpha) * beta(alpha, alpha));
      CHECK(std::abs(std::exp(log_row_evidence(n, alpha, floor)) / expected - 1.0) <= tolerance);
    }
  }
}

TEST_CASE("predictions chain to the evidence, in any order of the tokens, also far out") {
  struct Row {
    double alpha, floor;
    std::vector<std::size_t> counts;
  };
  const std::vector<Row> rows{
      {0.1, 0.0, {7, 0, 3}},        {0.1, 0.02, {7, 0, 3}},
      {1e-3, 0.05, {20, 1, 19}},    {1e-3, 1e-9, {40, 2, 0}},
      {0.5, 0.01, {5, 1, 0, 9, 2}}, {50.0, 0.3, {30, 10, 20}},
      {0.1, 0.01, {400, 250, 50}},  {0.1, 1.0 / 3.0 - 1e-9, {300, 300, 300}}};
  std::mt19937_64 random(8);
  for (const Row& row : rows) {
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < row.counts.size(); ++k) order.insert(order.end(), row.counts[k], k);
    for (int turn = 0; turn < 2; ++turn) {
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
      std::vector<std::size_t> so_far(row.counts.size(), 0);
      double log_product = 0.0;
      for (const std::size_t k : order) {
        const auto mean = row_posterior_mean(so_far, row.alpha, row.floor);
        const double sum = std::accumulate(mean.begin(), mean.end(), 0.0);
        REQUIRE(std::abs(sum - 1.0) <= tolerance);
        for (const double entry : mean) REQUIRE(entry >= row.floor * (1.0 - tolerance));
        log_product += std::log(mean[k]);
        ++so_far[k];
      }
      // A sum of up to 900 rounded logarithms.
      const double evidence = log_row_evidence(row.counts, row.alpha, row.floor);
      CHECK(std::abs(log_product - evidence) <= tolerance * std::max(1.0, std::abs(evidence)));
    }
  }
}

TEST_CASE("probabilities of all prompts sum to 1 under every parent set") {
  for (const double floor : {0.0, 0.1}) {
    for (const auto& [d, L] : {std::pair{2, std::size_t{9}}, std::pair{3, std::size_t{6}}}) {
      constexpr int M = 3;
      std::vector<Sequence> rows;
      for (std::size_t i = 0; i < power(d, L); ++i) {
        rows.push_back(numbered(i, d, L + 1));  // x_{L+1} = 0
      }
      const Given g = given(d, M, rows);
      const EstimatorSpec spec = bayes_spec({1, 2}, 0.3, floor);
      const auto sets = mixture_sets(spec, M);
      CHECK(sets.size() == 7);
      for (const Subset R : sets) {
        double sum = 0.0;
        for (std::size_t i = 0; i < rows.size(); ++i)
          sum += std::exp(log_prompt_evidence(spec, R, g.prompts, i));
        CHECK(std::abs(sum - 1.0) <= tolerance);
      }
    }
  }
}

TEST_CASE("Bayes is a ratio of probabilities of whole sequences, each an integral") {
  // Every sequence of L + 1 tokens; P(x_1 .. x_l | R) position by position, its rows by quadrature.
  constexpr int d = 2, M = 3;
  constexpr std::size_t L = 7;
  constexpr double alpha = 0.4, floor = 0.08;
  std::map<std::pair<std::size_t, std::size_t>, double> integral;
  const auto row = [&](std::size_t n0, std::size_t n1) {
    const auto [at, is_new] = integral.try_emplace({n0, n1});
    if (is_new) at->second = quadrature(n0, n1, alpha, floor);
    return at->second;
  };
  const auto probability = [&](const Sequence& x, std::size_t length,
                               const std::vector<std::size_t>& lags) {
    const std::size_t r = lags.empty() ? 0 : lags.back();
    std::map<Sequence, std::array<std::size_t, 2>> counts;
    for (std::size_t l = r; l < length; ++l) {
      Sequence E;
      for (const std::size_t lag : lags) E.push_back(x[l - lag]);
      ++counts[E][x[l]];
    }
    double product = std::pow(0.5, static_cast<double>(r));
    for (const auto& [E, n] : counts) product *= row(n[0], n[1]);
    return product;
  };
  std::vector<Sequence> rows;
  for (std::size_t i = 0; i < power(d, L); ++i) rows.push_back(numbered(i, d, L + 1));
  const Given g = given(d, M, rows);
  const EstimatorSpec spec = bayes_spec({1, 3}, alpha, floor);
  const Matrix known = estimate("bayes", spec, g.prompts, 1);
  const Matrix mixed = estimate("bayes-mixture", spec, g.prompts, 1);
  const std::vector<std::vector<std::size_t>> sets{{}, {1}, {2}, {3}, {1, 2}, {1, 3}, {2, 3}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Law one(d), all(d);
    double all_before = 0.0;
    for (const auto& R : sets) all_before += probability(rows[i], L, R);
    for (Token k = 0; k < d; ++k) {
      Sequence x = rows[i];
      x[L] = k;
      one[k] = probability(x, L + 1, {1, 3}) / probability(x, L, {1, 3});
      for (const auto& R : sets) all[k] += probability(x, L + 1, R) / all_before;
    }
    CHECK(apart(known, static_cast<Eigen::Index>(i), one) <= tolerance);
    CHECK(apart(mixed, static_cast<Eigen::Index>(i), all) <= tolerance);
  }
}

TEST_CASE("a prior of few kernels gives their exact posterior mixture") {
  constexpr int d = 3, M = 3;
  constexpr std::size_t L = 9;
  const std::vector<int> parents{1, 3};
  std::vector<Kernel> kernels;
  for (std::uint64_t i = 0; i < 4; ++i) kernels.push_back(test::random_kernel(d, parents, 0.8, i));
  const auto rows = random_sequences(d, L + 1, 50, 23);
  const Given g = given(d, M, rows);
  for (const Initial initial : {Initial::uniform, Initial::stationary}) {
    for (const double floor : {0.0, 0.05}) {
      EstimatorSpec spec;
      spec.parents = parents;
      spec.initial = initial;
      spec.prior = PriorSpec{"file", 1.0, floor, kernels};
      const Matrix y = estimate("bayes", spec, g.prompts, 1);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const Sequence& x = rows[i];
        Law expected(d, 0.0);
        double total = 0.0;
        for (Kernel kernel : kernels) {
          for (double& entry : kernel.pi) entry = floor + (1.0 - d * floor) * entry;
          const auto entry = [&](std::size_t l, std::size_t k) {
            return kernel.pi[(x[l - 1] * 3U + x[l - 3]) * 3U + k];
          };
          double likelihood = 1.0;
          if (initial == Initial::stationary) {
            likelihood = WindowChain(kernel).long_run_law()[x[2] + 3U * x[1] + 9U * x[0]];
          }
          for (std::size_t l = 3; l < L; ++l) likelihood *= entry(l, x[l]);
          total += likelihood;
          for (std::size_t k = 0; k < d; ++k) expected[k] += likelihood * entry(L, k);
        }
        for (double& p : expected) p /= total;
        CHECK(apart(y, static_cast<Eigen::Index>(i), expected) <= tolerance);
      }
    }
  }
}

TEST_CASE("among prompts with the same tokens the true law averages to the posterior mean") {
  DataSpec data;
  data.d = 2;
  data.parents = {1};
  data.L = 4;
  data.train = 100000;
  data.validation = 0;
  data.prior.alpha = 0.4;
  data.prior.floor = 0.05;
  const Prompts prompts =
      build_prompts(data, {2, false, Target::conditional, Positions::last}, Split::train, 2);
  const Matrix y = estimate("bayes", bayes_spec(data.parents, 0.4, 0.05), prompts, 2);
  // Cells and query tell all that the posterior may depend on.
  std::map<std::vector<double>, std::pair<test::Moment, double>> groups;
  for (std::size_t i = 0; i < prompts.count(); ++i) {
    std::vector<double> key{static_cast<double>(prompts.questions[i].query)};
    for (const Cell& cell : prompts.cells_of(i)) {
      key.insert(key.end(),
                 {static_cast<double>(cell.window), static_cast<double>(cell.next), cell.weight});
    }
    auto& [moment, mean] = groups[key];
    moment.add(prompts.soft[2 * i]);
    mean = y(static_cast<Eigen::Index>(i), 0);
  }
  CHECK(groups.size() == 16);
  // 16 fixed draws of a normal deviate, the level of test::level each.
  for (const auto& [key, group] : groups) CHECK(group.first.errors_from(group.second) < 6.0);
}

TEST_CASE("no estimator beats Bayes, and Bayes with a wrong belief is worse") {
  DataSpec data;
  data.d = 3;
  data.L = 60;
  data.train = 2000;
  data.validation = 0;
  data.prior.alpha = 0.3;
  data.prior.floor = 0.02;
  const Prompts prompts = build_prompts(data, {}, Split::train, 2);
  EstimatorSpec spec = bayes_spec(data.parents, 0.3, 0.02);
  spec.conditional = true_conditional(data, Split::train, prompts);
  const auto measures = measure_table();
  const auto named = std::find_if(measures.begin(), measures.end(), [](const MeasureRow& row) {
    return std::string(row.name) == "kl";
  });
  REQUIRE(named != measures.end());
  const MeasureRow& kl = *named;
  // The posterior mean minimises the mean divergence, and the mean square too, which is always
  // finite.
  const auto divergence = [&](const Matrix& y) {
    return measure(kl, y, prompts, spec.conditional, 0.0, 2000);
  };
  const auto square = [&](const Matrix& y) {
    std::vector<double> values;
    for (Eigen::Index i = 0; i < y.rows(); ++i)
      values.push_back((y.row(i) - spec.conditional.row(i)).squaredNorm());
    return values;
  };
  const Matrix best = estimate("bayes", spec, prompts, 2);
  CHECK(summary(divergence(best)).infinite == 0);
  int finite = 0;
  const auto compare = [&](const Matrix& y, bool surely_worse) {
    const Measured squares = difference(square(y), square(best));
    CHECK(squares.mean > -3.0 * squares.error);
    const Measured apart = difference(divergence(y), divergence(best));
    if (apart.infinite > 0) {
      CHECK(apart.mean > 0.0);
      return;
    }
    ++finite;
    CHECK(apart.mean > -3.0 * apart.error);
    if (surely_worse) CHECK(apart.mean > 3.0 * apart.error);
  };
  for (Subset S = 0; S < 8; ++S) {
    spec.S = S;
    compare(estimate("gih", spec, prompts, 2), true);
  }
  for (const char* name : {"unigram", "bigram", "trigram"})
    compare(estimate(name, spec, prompts, 2), true);
  compare(estimate("bayes-mixture", spec, prompts, 2), false);
  compare(estimate("bayes", bayes_spec({1, 3}, 0.3, 0.02), prompts, 2), true);
  compare(estimate("bayes", bayes_spec({1, 2}, 1.0, 0.02), prompts, 2), true);
  compare(estimate("bayes", bayes_spec({1, 2}, 0.1, 0.0), prompts, 2), true);
  compare(estimate("bayes", bayes_spec({1, 2}, 0.3, 0.2), prompts, 2), true);
  CHECK(finite >= 5);
  // Only the truth is better.
  const Measured truth =
      difference(divergence(estimate("conditional", spec, prompts, 2)), divergence(best));
  CHECK(truth.mean < -3.0 * truth.error);
}
