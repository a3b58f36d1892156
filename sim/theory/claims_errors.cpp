// F.1 to F.5: what one replacement costs, wherever possible on each sequence by itself and for the
// worst function f that is allowed; the bounds in expectation follow.

#include <algorithm>
#include <cmath>

#include "claim_cases.hpp"
#include "claims_groups.hpp"
#include "mixing_bounds.hpp"
#include "prompt_sums.hpp"

namespace gih {
namespace {

/// sup_l |s_l - s*_l|, s* of `S`, against Delta_1 + Delta_2 of `assumed`.
void check_scores(const LossCase& given, Subset S, Subset assumed, Tally& tally) {
  const WindowPairs pairs(given.model.d, given.theta.w);
  const auto restricted = restriction(given.model.d, given.M, S);
  const Eigen::VectorXd p = given.theta.p();
  const double bound = delta_1(given.model, given.theta, assumed) + delta_2(pairs, assumed);
  each_prompt(given, [&](const Prompt& prompt) {
    const auto s = pairs.scores(prompt, given.model, p), star = matches(prompt, restricted);
    double apart = 0.0;
    for (std::size_t l = 0; l < s.size(); ++l) apart = std::max(apart, std::abs(s[l] - star[l]));
    tally.at_most(apart, bound);
  });
}

/// The f that makes sum_l sigma_l f_l rho_l largest, |f_l| <= size, against the bound for C.
void check_weights(const LossCase& given, double size, double C, Tally& tally) {
  const WindowPairs pairs(given.model.d, given.theta.w);
  const Eigen::VectorXd p = given.theta.p();
  each_prompt(given, [&](const Prompt& prompt) {
    const Attention soft = attend(prompt, pairs.scores(prompt, given.model, p), given.theta.a,
                                  given.model.d, given.eps);
    double sum = 0.0;
    for (std::size_t l = 0; l < soft.rho.size(); ++l) {
      sum += soft.sigma[l] * size * std::abs(soft.rho[l]);
    }
    const double y_q = soft.y[prompt.q];
    tally.equal(sum, 2.0 * C * y_q * (1.0 - y_q) / (y_q + given.eps));
    tally.at_most(sum, 2.0 * C);
  });
}

/// F.3 with C = 1, for the worst f; scores of the model, and 0 and 1 by turns.
void check_uniform(const LossCase& given, Tally& tally) {
  const WindowPairs pairs(given.model.d, given.theta.w);
  const Eigen::VectorXd p = given.theta.p();
  each_prompt(given, [&](const Prompt& prompt) {
    std::vector<double> by_turns(prompt.positions());
    for (std::size_t l = 1; l < by_turns.size(); l += 2) by_turns[l] = 1.0;
    const double a = given.a_assumed;
    for (const auto& s : {pairs.scores(prompt, given.model, p), by_turns}) {
      const Attention soft = attend(prompt, s, given.theta.a, given.model.d, given.eps);
      const Attention flat = attend(prompt, s, 0.0, given.model.d, given.eps);
      double sum = 0.0;
      for (std::size_t l = 0; l < s.size(); ++l) {
        sum += std::abs(soft.sigma[l] * soft.rho[l] - flat.sigma[l] * flat.rho[l]);
      }
      tally.at_most(sum, 4.0 * std::expm1(a));
      if (a <= 1.0) tally.at_most(sum, 8.0 * a);
    }
  });
}

/// F.4 with C = 1, for the worst f; `mu` in place of ybar, chi2 to the assumed chain's law.
void check_frequencies(const LossCase& given, const std::vector<double>& mu, Tally& tally) {
  const auto law = window_law(given.assumed, given.M);
  const auto true_mu = law.of_tokens();
  const auto restricted = restriction(law.d, law.M, 0);
  double left = 0.0, chi = 0.0;
  each_prompt(given, [&](const Prompt& prompt) {
    const std::vector<double> zeros(prompt.positions(), 0.0);
    const Attention flat = attend(prompt, zeros, 0.0, law.d, given.eps);
    for (std::size_t l = 0; l < zeros.size(); ++l) {
      const double same = prompt.tokens[l] == prompt.q ? 1.0 : 0.0;
      left +=
          prompt.probability * flat.sigma[l] * std::abs(flat.rho[l] - (same / mu[prompt.q] - 1.0));
    }
    chi += prompt.probability * empirical_chi_square(prompt, restricted, true_mu, law.d);
  });
  const double mu_min = *std::min_element(true_mu.begin(), true_mu.end());
  tally.at_most(left, (2.0 * given.eps + std::sqrt(chi)) / mu_min);
}

/// F.5: the look of window l by theta.w, that of the query by w_other.
void check_independence(const LossCase& given, const Matrix& w_other, Tally& tally) {
  const auto law = window_law(given.assumed, given.M);
  const auto mu = law.of_tokens();
  const double mu_min = *std::min_element(mu.begin(), mu.end());
  const WindowPairs pairs(law.d, given.theta.w, w_other);
  const MixingBounds bounds(given.assumed, given.start, given.M, given.L);
  const auto subsets = given.model.subsets();
  std::vector<double> left(subsets.size(), 0.0);
  each_prompt(given, [&](const Prompt& prompt) {
    const double share = prompt.probability / static_cast<double>(prompt.positions());
    for (std::size_t l = 0; l < prompt.positions(); ++l) {
      const double weight = (prompt.tokens[l] == prompt.q ? 1.0 / mu[prompt.q] : 0.0) - 1.0;
      for (std::size_t i = 0; i < subsets.size(); ++i) {
        left[i] += share * weight * pairs.K(subsets[i], prompt.windows[l], prompt.query);
      }
    }
  });
  for (std::size_t i = 0; i < subsets.size(); ++i) {
    const double right = independent_sum(
        law, [&](std::size_t X, std::size_t Z) { return pairs.K(subsets[i], X, Z); });
    tally.at_most(std::abs(left[i] - right), bounds.joint(subset_size(subsets[i])) / mu_min);
  }
}

}  // namespace

std::vector<Claim> error_claims() {
  return {
      {"F.1", "sup_l |s_l - s*_l| <= Delta_1 + Delta_2 over l > M.", "F.1", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_set(world,
                  [&](const LossCase& given, Subset S) { check_scores(given, S, S, tally); });
       },
       [](Tally& tally) { check_scores(on_one(), 0b10, 0b1, tally); },
       "s* looks at lag 2, the model and the Deltas at lag 1"},
      {"F.2",
       "For |f_l| <= C, |sum_l sigma_l f_l rho_l| <= 2 C; the largest value is "
       "2 C y_q (1 - y_q) / (y_q + eps).",
       "F.2", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (LossCase given : loss_cases(world, world.theta)) {
           for (const double eps : {world.eps, 1e-6}) {
             given.eps = eps;
             check_weights(given, 1.5, 1.5, tally);
           }
         }
       },
       [](Tally& tally) {
         check_weights(loss_cases(worlds().front(), worlds().front().theta).front(), 2.0, 1.0,
                       tally);
       },
       "|f_l| is 2 C"},
      {"F.3",
       "Uniform in place of softmax attention changes sum_l sigma_l f_l rho_l by at most 4 C (e^a "
       "- 1), "
       "which is at most 8 a C for a <= 1.",
       "F.3, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (LossCase given : loss_cases(world, world.theta)) {
           for (const double a : {0.05, 0.3, 1.0, 3.0}) {
             given.theta.a = given.a_assumed = a;
             given.eps = world.eps;
             check_uniform(given, tally);
             given.eps = 1e-6;
             check_uniform(given, tally);
           }
         }
       },
       [](Tally& tally) { check_uniform(not_normalised(), tally); },
       "scores as large as 500 in place of at most 1"},
      {"F.4",
       "mu in place of ybar and eps changes (1/N') sum_l f_l (1_l - ybar_q) / (ybar_q + eps) by at "
       "most "
       "C (2 eps + sqrt(E chi2)) / min mu in expectation.",
       "F.4, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (const LossCase& given : loss_cases(world, world.theta)) {
           check_frequencies(given, window_law(given.assumed, given.M).of_tokens(), tally);
         }
       },
       [](Tally& tally) {
         const Kernel alternating = repeating_chain(0.0);
         check_frequencies(plain_case(alternating, alternating, 9), {0.9, 0.1}, tally);
       },
       "mu is not the law of the chain: the tokens alternate, mu(0) = 0.9"},
      {"F.5",
       "Independent windows in place of those of one sequence change (1/N') sum_l (1_l / mu_q - 1) "
       "prod_h <v_l, v~_{L+1}> by at most F17(|S|) / min mu in expectation.",
       "F.5, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (const LossCase& given : loss_cases(world, world.theta)) {
           check_independence(given, world.theta.w, tally);
           check_independence(given, -2.0 * world.theta.w, tally);
         }
       },
       [](Tally& tally) {
         const LossCase given = plain_case(repeating_chain(0.95), repeating_chain(0.5), 9);
         check_independence(given, given.theta.w, tally);
       },
       "Lambda is that of a chain that forgets at once; the sequences do not"},
  };
}

}  // namespace gih
