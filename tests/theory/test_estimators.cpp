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
#include "support/estimator_cases.hpp"
#include "support/statistics.hpp"

using namespace gih;
using namespace gih::test;

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
