#include "gih/theory/estimators.hpp"

#include <doctest/doctest.h>

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
#include "support/statistics.hpp"

using namespace gih;

namespace {

using Sequence = std::vector<Token>;
using Law = std::vector<double>;

/// Two ways to the same number in doubles; the numbers are probabilities.
constexpr double tolerance = 1e-12;

/// Prompts of given sequences, each x_1 .. x_{L+1}.
struct Given {
  DataSpec data;
  Prompts prompts;
};

Given given(int d, int M, const std::vector<Sequence>& rows, bool mask = false,
            Positions positions = Positions::last) {
  auto table = std::make_shared<TokenTable>();
  table->d = d;
  table->rows = rows.size();
  table->columns = rows.front().size();
  for (const Sequence& row : rows)
    table->tokens.insert(table->tokens.end(), row.begin(), row.end());
  DataSpec data;
  data.d = d;
  data.L = table->columns - 1;
  data.parents = {1};
  data.train = rows.size();
  data.validation = 0;
  data.table = table;
  Prompts prompts = build_prompts(data, {M, mask, Target::sampled, positions}, Split::train, 1);
  return {data, std::move(prompts)};
}

std::vector<Sequence> random_sequences(int d, std::size_t length, std::size_t count,
                                       std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Sequence> rows(count, Sequence(length));
  for (Sequence& row : rows) {
    for (Token& token : row) token = static_cast<Token>(random() % static_cast<std::uint64_t>(d));
  }
  return rows;
}

/// Sequence number `index` of the d^length there are.
Sequence numbered(std::size_t index, int d, std::size_t length) {
  Sequence x(length);
  for (Token& token : x) {
    token = static_cast<Token>(index % static_cast<std::size_t>(d));
    index /= static_cast<std::size_t>(d);
  }
  return x;
}

std::size_t power(int d, std::size_t n) {
  std::size_t result = 1;
  for (std::size_t i = 0; i < n; ++i) result *= static_cast<std::size_t>(d);
  return result;
}

/// Means of the x_l, l = from .. L, whose lags in S are those of L + 1; positions count from 1.
/// Empty without a match.
Law literal_match(const Sequence& x, std::size_t L, Subset S, std::size_t from, int d) {
  Law y(static_cast<std::size_t>(d), 0.0);
  double N = 0.0;
  for (std::size_t l = from; l <= L; ++l) {
    bool match = true;
    for (std::size_t s = 1; s <= 31; ++s) {
      if (S >> (s - 1) & 1U) match = match && x[l - s - 1] == x[L + 1 - s - 1];
    }
    if (!match) continue;
    y[x[l - 1]] += 1.0;
    N += 1.0;
  }
  if (N == 0.0) return {};
  for (double& entry : y) entry /= N;
  return y;
}

Law literal_gih(const Sequence& x, std::size_t L, Subset S, int M, int d) {
  const auto from = static_cast<std::size_t>(M) + 1;
  const Law y = literal_match(x, L, S, from, d);
  return y.empty() ? literal_match(x, L, 0, from, d) : y;
}

double apart(const Matrix& y, Eigen::Index row, const Law& law) {
  double worst = 0.0;
  for (std::size_t k = 0; k < law.size(); ++k) {
    worst = std::max(worst, std::abs(y(row, static_cast<Eigen::Index>(k)) - law[k]));
  }
  return worst;
}

EstimatorSpec bayes_spec(std::vector<int> parents, double alpha, double floor) {
  EstimatorSpec spec;
  spec.parents = std::move(parents);
  spec.prior = PriorSpec{"dirichlet", alpha, floor, {}};
  return spec;
}

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

std::string refusal(const char* name, const EstimatorSpec& spec, const Prompts& prompts) {
  try {
    estimate(name, spec, prompts, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

bool holds(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("GIH and n-grams are what the tokens say, position by position") {
  int checked = 0;
  for (const int d : {2, 3, 5}) {
    for (const int M : {2, 3, 4}) {
      for (const std::size_t L : {std::size_t{6}, std::size_t{25}}) {
        const auto rows = random_sequences(d, L + 1, 40, 17);
        for (const bool mask : {false, true}) {
          const Given g = given(d, M, rows, mask);
          for (Subset S = 0; S < Subset{1} << M; ++S) {
            EstimatorSpec spec;
            spec.S = S;
            const Matrix y = estimate("gih", spec, g.prompts, 1);
            for (std::size_t i = 0; i < rows.size(); ++i, ++checked) {
              CHECK(apart(y, static_cast<Eigen::Index>(i), literal_gih(rows[i], L, S, M, d)) <=
                    tolerance);
            }
          }
        }
        const Given g = given(d, M, rows);
        int k = 0;
        for (const char* name : {"unigram", "bigram", "trigram"}) {
          const Matrix y = estimate(name, {}, g.prompts, 1);
          for (std::size_t i = 0; i < rows.size(); ++i, ++checked) {
            Law law;
            for (int j = k; law.empty(); --j) {
              law = literal_match(rows[i], L, (Subset{1} << j) - 1U,
                                  static_cast<std::size_t>(j) + 1, d);
            }
            CHECK(apart(y, static_cast<Eigen::Index>(i), law) <= tolerance);
          }
          ++k;
        }
      }
    }
  }
  CHECK(checked > 10000);
}

TEST_CASE("the GIH's attention gives its prediction, on positions that match alone") {
  int checked = 0, without_match = 0;
  for (const std::size_t L : {std::size_t{6}, std::size_t{25}}) {
    const int d = 3, M = 4;
    const auto rows = random_sequences(d, L + 1, 40, 23);
    const Given g = given(d, M, rows);
    for (Subset S = 0; S < Subset{1} << M; ++S) {
      EstimatorSpec spec;
      spec.S = S;
      const Matrix y = estimate("gih", spec, g.prompts, 1);
      for (std::size_t i = 0; i < rows.size(); ++i, ++checked) {
        const auto prompt = std::span(rows[i]).first(L);
        const GihAttention found = gih_attention(prompt, S, M);
        REQUIRE(found.weights.size() == static_cast<Eigen::Index>(L));
        Law law(d, 0.0);
        for (std::size_t l = 0; l < L; ++l) {
          law[prompt[l]] += found.weights[static_cast<Eigen::Index>(l)];
        }
        CHECK(apart(y, static_cast<Eigen::Index>(i), law) <= tolerance);
        double on_matches = 0.0;
        for (const std::size_t l : found.matches) {
          CHECK(l > static_cast<std::size_t>(M));
          on_matches += found.weights[static_cast<Eigen::Index>(l) - 1];
        }
        CHECK(std::abs(on_matches - (found.matches.empty() ? 0.0 : 1.0)) <= tolerance);
        without_match += found.matches.empty();
      }
    }
  }
  CHECK(checked == 2 * 16 * 40);
  CHECK(without_match > 50);
  const Sequence short_prompt{0, 1, 2};
  CHECK_THROWS_WITH_AS(gih_attention(short_prompt, 1, 3),
                       "GIH on a prompt of 3 tokens: must have more than the window 3", InputError);
  CHECK_THROWS_AS(gih_attention(short_prompt, 4, 2), InputError);
}

TEST_CASE("every prefix of the sequential loss is a prompt of its own") {
  constexpr int d = 3, M = 3;
  constexpr std::size_t L = 12;
  const auto rows = random_sequences(d, L + 1, 10, 3);
  const Given g = given(d, M, rows, false, Positions::sequential);
  EstimatorSpec spec = bayes_spec({1}, 0.3, 0.0);
  spec.S = 0b101;
  const Matrix gih_y = estimate("gih", spec, g.prompts, 1);
  const Matrix bayes_y = estimate("bayes", spec, g.prompts, 1);
  REQUIRE(gih_y.rows() == 10 * (L - M));
  Eigen::Index q = 0;
  for (const Sequence& x : rows) {
    for (std::size_t l = M + 1; l <= L; ++l, ++q) {
      CHECK(apart(gih_y, q, literal_gih(x, l, 0b101, M, d)) <= tolerance);
      Law counts(d, 0.3);
      for (std::size_t i = 1; i < l; ++i) {
        if (x[i - 1] == x[l - 1]) counts[x[i]] += 1.0;
      }
      const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
      for (double& entry : counts) entry /= sum;
      CHECK(apart(bayes_y, q, counts) <= tolerance);
    }
  }
}

TEST_CASE("the transformer with sharp heads and a large a is the GIH") {
  int checked = 0;
  for (const auto& [d, M, D] : {std::tuple{2, 3, 3}, std::tuple{3, 3, 2}, std::tuple{4, 2, 2}}) {
    ModelSpec model{d, M, M, D, SubsetRule::at_most, true};
    const auto subsets = model.subsets();
    const auto rows = random_sequences(d, 21, 60, 5);
    const Given g = given(d, M, rows, true);
    Parameters theta;
    theta.w = Matrix::Zero(M, M);
    theta.w.diagonal().setConstant(60.0);  // the other lags have e^-60, below the last digit
    theta.a = 600.0;
    for (std::size_t i = 0; i < subsets.size(); ++i) {
      theta.c = Eigen::VectorXd::Unit(static_cast<Eigen::Index>(subsets.size()),
                                      static_cast<Eigen::Index>(i));
      EstimatorSpec spec;
      spec.S = subsets[i];
      const Matrix y = estimate("gih", spec, g.prompts, 1);
      CHECK((y - predictions(model, theta, g.prompts)).cwiseAbs().maxCoeff() <= tolerance);
      for (std::size_t r = 0; r < rows.size(); ++r, ++checked) {
        const auto trace = reference_trace(model, theta, std::span(rows[r]).first(20));
        CHECK((y.row(static_cast<Eigen::Index>(r)) - trace.y.transpose()).cwiseAbs().maxCoeff() <=
              tolerance);
      }
    }
  }
  CHECK(checked == 60 * (8 + 7 + 4));
}

TEST_CASE("at L = inf the GIH is the law given its lags, and counts do not exist") {
  DataSpec data;
  data.d = 3;
  data.L.reset();
  data.train = 4;
  data.validation = 0;
  data.prior.alpha = 0.7;
  const Prompts prompts =
      build_prompts(data, {3, false, Target::conditional, Positions::last}, Split::train, 1);
  EstimatorSpec spec = bayes_spec({1, 2}, 0.7, 0.0);
  const Matrix bigram = estimate("bigram", spec, prompts, 1);
  const Matrix truth = true_conditional(data, Split::train, prompts);
  for (Subset S = 0; S < 8; ++S) {
    spec.S = S;
    const Matrix y = estimate("gih", spec, prompts, 1);
    if (S == 1) CHECK((y - bigram).cwiseAbs().maxCoeff() <= tolerance);
    if (S == 3) CHECK((y - truth).cwiseAbs().maxCoeff() <= tolerance);
    for (std::size_t q = 0; q < prompts.questions.size(); ++q) {
      const std::size_t i = prompts.questions[q].prompt;
      const WindowLaw law = window_law(sequence_kernel(data, Split::train, i), 3);
      const auto marginal = law.marginal(S);
      const std::size_t E =
          restriction(3, 3, S)[prompts.questions[q].query - WindowCodes(3, 3).first(3)];
      Law expected(marginal.begin() + static_cast<std::ptrdiff_t>(3 * E),
                   marginal.begin() + static_cast<std::ptrdiff_t>(3 * E + 3));
      const double mass = std::accumulate(expected.begin(), expected.end(), 0.0);
      for (double& entry : expected) entry /= mass;
      CHECK(apart(y, static_cast<Eigen::Index>(q), expected) <= tolerance);
    }
  }
  CHECK(holds(refusal("bayes", spec, prompts), "finite prompt"));
  CHECK(holds(refusal("bayes-mixture", spec, prompts), "finite prompt"));
}

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
  const MeasureRow& kl = measure_table()[2];
  REQUIRE(std::string(kl.name) == "kl");
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

TEST_CASE("the true law is found in targets, kernels and conditional laws alike") {
  DataSpec data;
  data.L = 20;
  data.train = 30;
  data.validation = 20;
  for (const Positions positions : {Positions::last, Positions::sequential}) {
    const Prompts soft =
        build_prompts(data, {3, true, Target::conditional, positions}, Split::validation, 1);
    const Prompts hard =
        build_prompts(data, {3, true, Target::sampled, positions}, Split::validation, 1);
    CHECK(true_conditional(data, Split::validation, soft) ==
          true_conditional(data, Split::validation, hard));
  }
  const Prompts prompts = build_prompts(data, {}, Split::validation, 1);
  const Matrix law = true_conditional(data, Split::validation, prompts);
  auto table = std::make_shared<TokenTable>();
  table->d = 3;
  table->rows = 50;
  table->columns = 21;
  table->tokens.resize(50 * 21);
  for (std::size_t i = 0; i < 20; ++i) {
    draw_sequence(data, sequence_kernel(data, Split::validation, i), Split::validation, i,
                  {table->tokens.data() + (30 + i) * 21, 21});
  }
  data.table = table;
  CHECK(true_conditional(data, Split::validation, prompts).rows() == 0);
  table->conditional.assign(30 * 3, 1.0 / 3.0);
  table->conditional.insert(table->conditional.end(), law.data(), law.data() + law.size());
  CHECK(true_conditional(data, Split::validation, prompts) == law);
}

TEST_CASE("predictions do not depend on threads") {
  DataSpec data;
  data.train = 100;
  data.prior.floor = 0.03;
  const Prompts prompts = build_prompts(data, {}, Split::train, 1);
  EstimatorSpec spec = bayes_spec(data.parents, data.prior.alpha, data.prior.floor);
  spec.S = 0b011;
  spec.conditional = true_conditional(data, Split::train, prompts);
  for (const EstimatorRow& row : estimator_table()) {
    CAPTURE(row.name);
    const Matrix one = estimate(row, spec, prompts, 1);
    CHECK(one == estimate(row, spec, prompts, 3));
    CHECK((one.rowwise().sum().array() - 1.0).abs().maxCoeff() <= tolerance);
  }
}

TEST_CASE("what cannot be answered is refused in a sentence") {
  const auto rows = random_sequences(2, 11, 3, 1);
  const Given masked = given(2, 3, rows, true);
  const Given whole = given(2, 3, rows);
  const EstimatorSpec good = bayes_spec({1, 2}, 0.5, 0.0);
  CHECK(refusal("bayes", good, whole.prompts) == "accepted");
  CHECK(holds(refusal("bayes", good, masked.prompts), "without the mask"));
  CHECK(holds(refusal("bayes-mixture", good, masked.prompts), "without the mask"));
  CHECK(holds(refusal("bigram", good, masked.prompts), "without the mask"));
  CHECK(holds(refusal("trigram", good, given(2, 1, rows).prompts), "the window is M = 1"));
  CHECK(holds(refusal("bayes", bayes_spec({1, 4}, 0.5, 0.0), whole.prompts), "parents = 1,4"));
  CHECK(holds(refusal("bayes", bayes_spec({}, 0.5, 0.0), whole.prompts), "parents are not known"));
  CHECK(holds(refusal("bayes", bayes_spec({2, 1}, 0.5, 0.0), whole.prompts), "must be lags that"));
  CHECK(holds(refusal("bayes", bayes_spec({0, 1}, 0.5, 0.0), whole.prompts), "must be lags that"));
  CHECK(holds(refusal("bayes", bayes_spec({1}, 0.5, 0.5), whole.prompts), "floor = 0.5"));
  CHECK(holds(refusal("bayes", bayes_spec({1}, 0.0, 0.1), whole.prompts), "alpha = 0"));
  CHECK(holds(refusal("conditional", good, whole.prompts), "neither the kernels"));
  CHECK(holds(refusal("nothing", good, whole.prompts), "\"nothing\" is unknown"));
  EstimatorSpec spec = good;
  spec.S = 0b1000;
  CHECK(holds(refusal("gih", spec, whole.prompts), "GIH with lag 4"));
  spec = good;
  spec.prior.reset();
  CHECK(holds(refusal("bayes", spec, whole.prompts), "prior of the kernels is not known"));
  spec = good;
  spec.initial = Initial::stationary;
  CHECK(holds(refusal("bayes", spec, whole.prompts), "initial law \"stationary\""));
  for (const char* name : {"bayes", "bayes-mixture"}) {
    spec = good;
    spec.prior->name = "uniform-stationary";
    CHECK(holds(refusal(name, spec, whole.prompts), "no closed posterior"));
  }
  spec = good;
  spec.prior = PriorSpec{"file", 0.1, 0.0, {Kernel{2, {1, 2}, {1, 0, 1, 0, 1, 0, 1, 0}}}};
  CHECK(holds(refusal("bayes", spec, whole.prompts), "probability 0 under every kernel"));
  CHECK(holds(refusal("bayes-mixture", spec, whole.prompts), "prior \"file\""));
}
