#include <doctest/doctest.h>

#include <cmath>

#include "../../sim/theory/loss_chains.hpp"
#include "gih/model/reference_engine.hpp"
#include "gih/theory/claims.hpp"
#include "gih/theory/information.hpp"

using namespace gih;

namespace {

constexpr double rounding = 1e-13;

ModelSpec masked(const World& world) {
  ModelSpec model = world.model;
  model.mask = true;
  return model;
}

/// Gradient of the masked loss of one kernel by the reference engine, over all sequences.
Parameters gradient(const World& world, const Kernel& kernel) {
  std::vector<ReferenceQuestion> questions;
  each_sequence(kernel, world.start, world.L, [&](std::span<const Token> x, double probability) {
    std::vector<double> target(static_cast<std::size_t>(world.d()), 0.0);
    target[x.back()] = 1.0;
    questions.push_back({{x.begin(), x.end() - 1}, target, probability});
  });
  return make_reference_engine(masked(world), {world.eps}, std::move(questions))
      ->evaluate(world.theta, Blocks::all(), false)
      .gradient;
}

/// A world of two tokens and one of three.
std::vector<const World*> some_worlds() {
  return {&worlds().front(), &worlds()[7]};
}

LossCase first_case(const World& world) {
  return loss_cases(world, world.theta).front();
}

}  // namespace

TEST_CASE("claims on errors come out as expected") {
  for (const ClaimResult& result : check_claims({"F.1",
                                                 "F.2",
                                                 "F.3",
                                                 "F.4",
                                                 "F.5",
                                                 "F.6",
                                                 "F.7",
                                                 "F.9",
                                                 "F.9.sharper",
                                                 "F.10",
                                                 "F.11",
                                                 "g0-g1",
                                                 "g1-g2",
                                                 "g2-g3",
                                                 "E.7",
                                                 "gh0-gh1",
                                                 "gh1-gh2",
                                                 "gh2-gh3",
                                                 "gh3-gh4",
                                                 "f0-f1",
                                                 "f4-f5",
                                                 "E.30",
                                                 "Lemma E.6",
                                                 "Lemma E.6.tail",
                                                 "Lemma E.6.limit"},
                                                1)) {
    CAPTURE(result.id);
    CHECK(result.tally.checked() > 0);
    CHECK(result.counter == Verdict::fail);
    CHECK(result.as_expected);
  }
}

TEST_CASE("scores and attention of a prompt are those of the reference engine") {
  for (const World* world : some_worlds()) {
    const Kernel& kernel = world->kernels.front();
    const WindowPairs pairs(world->d(), world->theta.w);
    std::vector<std::vector<Token>> sequences;
    each_sequence(kernel, world->start, world->L, [&](std::span<const Token> x, double) {
      sequences.emplace_back(x.begin(), x.end());
    });
    std::size_t at = 0;
    double apart = 0.0, mass = 0.0;
    each_prompt(kernel, world->start, world->M(), world->L, [&](const Prompt& prompt) {
      const std::vector<Token>& x = sequences.at(at++);
      const ReferenceTrace trace =
          reference_trace(masked(*world), world->theta, {x.data(), x.size() - 1});
      const auto s = pairs.scores(prompt, world->model, world->theta.p());
      const Attention soft = attend(prompt, s, world->theta.a, world->d(), world->eps);
      for (std::size_t l = 0; l < s.size(); ++l) {
        const auto position = static_cast<Eigen::Index>(l) + world->M();
        apart = std::max({apart, std::abs(s[l] - trace.s(position)),
                          std::abs(soft.sigma[l] - trace.sigma(position))});
      }
      for (Eigen::Index k = 0; k < world->d(); ++k) {
        apart = std::max(apart, std::abs(soft.y[static_cast<std::size_t>(k)] - trace.y(k)));
      }
      CHECK(prompt.q == x.back());
      mass += prompt.probability;
    });
    CHECK(at == sequences.size());
    CHECK(apart < rounding);
    CHECK(mass == doctest::Approx(1.0).epsilon(rounding));
  }
}

TEST_CASE("the chains start at the gradient") {
  for (const World* world : some_worlds()) {
    const LossCase given = first_case(*world);
    const Parameters loss = gradient(*world, world->kernels.front());
    const Parameters& theta = world->theta;
    const double f = f_0(given);
    CHECK(f == doctest::Approx(-loss.a).epsilon(1e-11));
    const auto g = g_chain(given);
    for (std::size_t i = 0; i < g[0].size(); ++i) {
      const auto S = static_cast<Eigen::Index>(i);
      const double growth = -2.0 * loss.c(S) / theta.c(S);  // (E.4)
      CHECK(growth == doctest::Approx(4.0 * theta.a / theta.C_D() * (g[0][i] - f)).epsilon(1e-10));
    }
    // (E.17): the weights of a head, from its contrasts.
    const WindowPairs pairs(world->d(), theta.w);
    for (int h = 1; h <= world->M(); ++h) {
      const auto contrast = contrast_chain(given, Subset{1} << (h - 1), h)[0];
      double all = 0.0;
      for (int j = 1; j <= world->M(); ++j) {
        all += pairs.sigma(h, j) * contrast[static_cast<std::size_t>(j - 1)];
      }
      for (int i = 1; i <= world->M(); ++i) {
        const double moved = -loss.w(h - 1, h - 1) + loss.w(h - 1, i - 1);
        const double expected =
            theta.a * ((pairs.sigma(h, h) - pairs.sigma(h, i)) * all +
                       pairs.sigma(h, i) * contrast[static_cast<std::size_t>(i - 1)]);
        CHECK(moved == doctest::Approx(expected).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE("the chains end at the population's values") {
  for (const World* world : some_worlds()) {
    const LossCase given = first_case(*world);
    const WindowLaw& law = world->laws.front();
    const auto g = g_chain(given)[3];
    const auto expected = weighted_information(law, world->model, world->theta.w);
    for (std::size_t i = 0; i < g.size(); ++i) {
      CHECK(std::abs(g[i] - expected[i]) < rounding);
    }
    const auto mu = law.of_tokens();
    const double a = world->theta.a;
    for (const Subset S : world->subsets()) {
      // Proposition E.4: E[ e^a m r^3 sum_x (mu(x|E) - mu(x))^2 / (r mu(x) + (1-r) mu(x|E)) ].
      const auto marginal = law.marginal(S);
      double f_5 = 0.0;
      for (std::size_t E = 0; E < marginal.size(); E += mu.size()) {
        double m = 0.0, J = 0.0;
        for (std::size_t x = 0; x < mu.size(); ++x) m += marginal[E + x];
        const double r = 1.0 / (1.0 + m * std::expm1(a));
        for (std::size_t x = 0; x < mu.size(); ++x) {
          const double given_E = marginal[E + x] / m;
          J += (given_E - mu[x]) * (given_E - mu[x]) / (r * mu[x] + (1.0 - r) * given_E);
        }
        f_5 += m * std::exp(a) * m * r * r * r * J;
      }
      CHECK(std::abs(f_chain(given, S).f[5] - f_5) < rounding);
    }
  }
}

TEST_CASE("two lists of weights: each window is looked at by its own") {
  const Matrix w{{1.0, 0.0}, {0.5, 2.0}}, other{{-1.0, 0.5}, {0.0, 0.3}};
  const WindowPairs pairs(3, w, other);
  for (const std::size_t X : {1U, 5U, 7U}) {
    for (const std::size_t Z : {0U, 4U, 5U}) {
      double product = 1.0;
      for (int h = 1; h <= 2; ++h) {
        double inner = 0.0;
        for (int i = 1; i <= 2; ++i) {
          for (int j = 1; j <= 2; ++j) {
            if (pairs.digit(X, i) == pairs.digit(Z, j)) {
              const auto weight = [&](const Matrix& of, int lag) {
                return std::exp(of(h - 1, lag - 1)) / of.row(h - 1).array().exp().sum();
              };
              inner += weight(w, i) * weight(other, j);
            }
          }
        }
        product *= inner;
      }
      CHECK(pairs.K(0b11, X, Z) == doctest::Approx(product).epsilon(rounding));
      CHECK(pairs.K(0, X, Z) == 1.0);
    }
  }
}
