// F.16 to F.19: how far sequences of length L are from the stationary law.

#include <algorithm>
#include <cmath>

#include "claim_cases.hpp"
#include "claims_groups.hpp"
#include "mixing_bounds.hpp"
#include "prompt_sums.hpp"

namespace gih {
namespace {

/// Law of (X_l, x_l) for l = M+1 .. L+1, by summing over sequences.
std::vector<WindowLaw> laws_along(const ChainCase& given) {
  const WindowLaw shape = window_law(given.assumed, given.M);
  std::vector<WindowLaw> laws(static_cast<std::size_t>(given.L - given.M + 1), shape);
  for (WindowLaw& law : laws) std::fill(law.joint.begin(), law.joint.end(), 0.0);
  const auto d = static_cast<std::size_t>(shape.d);
  each_prompt(given.drawn, given.start, given.M, given.L, [&](const Prompt& prompt) {
    for (std::size_t l = 0; l < prompt.positions(); ++l) {
      laws[l].joint[prompt.windows[l] * d + prompt.tokens[l]] += prompt.probability;
    }
    laws.back().joint[prompt.query * d + prompt.q] += prompt.probability;
  });
  return laws;
}

/// TV of (x_{L+1}, X_{L+1-S}) to mu for this L and all shorter ones, against right(bounds, steps).
void check_last(const ChainCase& given, double (*right)(const MixingBounds&, int), Tally& tally) {
  const WindowLaw mu = window_law(given.assumed, given.M);
  const auto laws = laws_along(given);
  const MixingBounds bounds(given.assumed, given.start, given.M, given.L);
  for (int steps = 1; steps <= given.L - given.M; ++steps) {
    for (const Subset S : lag_subsets(given.M)) {
      const auto law = laws[static_cast<std::size_t>(steps)].marginal(S);
      tally.at_most(total_variation(law, mu.marginal(S)), right(bounds, steps));
    }
  }
}

void check_average(const ChainCase& given, double (*right)(const MixingBounds&), Tally& tally) {
  const WindowLaw mu = window_law(given.assumed, given.M);
  const auto laws = laws_along(given);
  WindowLaw mean = laws.front();
  for (std::size_t i = 0; i < mean.joint.size(); ++i) {
    double sum = 0.0;
    for (std::size_t l = 0; l + 1 < laws.size(); ++l) sum += laws[l].joint[i];
    mean.joint[i] = sum / (given.L - given.M);
  }
  const MixingBounds bounds(given.assumed, given.start, given.M, given.L);
  for (const Subset S : lag_subsets(given.M)) {
    tally.at_most(total_variation(mean.marginal(S), mu.marginal(S)), right(bounds));
  }
}

double by_norm(const MixingBounds& b, int steps) {
  return rho_at(b.mixing, steps) * std::sqrt(b.D_0) / 2.0;
}
double by_eigenvalue(const MixingBounds& b, int steps) {
  return std::pow(b.mixing.lambda, steps) * std::sqrt(b.D_0 + 1.0);
}
double sum_of_norms(const MixingBounds& b) {
  return b.average();
}
double one_over_gap(const MixingBounds& b) {
  return std::sqrt(b.D_0 + 1.0) / (b.positions() * (1.0 - b.mixing.lambda));
}

/// Law of Y_{L+1} and Y_l together, mean over l, for all pairs of lag sets.
void check_joint(const ChainCase& given, Tally& tally) {
  const WindowLaw mu = window_law(given.assumed, given.M);
  const auto d = static_cast<std::size_t>(mu.d);
  const std::size_t outcomes = mu.joint.size();
  std::vector<double> together(outcomes * outcomes, 0.0);
  each_prompt(given.drawn, given.start, given.M, given.L, [&](const Prompt& prompt) {
    const double share = prompt.probability / (given.L - given.M);
    for (std::size_t l = 0; l < prompt.positions(); ++l) {
      together[(prompt.query * d + prompt.q) * outcomes + prompt.windows[l] * d +
               prompt.tokens[l]] += share;
    }
  });
  const MixingBounds bounds(given.assumed, given.start, given.M, given.L);
  for (const Subset at_query : lag_subsets(given.M)) {
    const auto mu_query = mu.marginal(at_query);
    const auto row = restriction(mu.d, mu.M, at_query);
    for (const Subset at_l : lag_subsets(given.M)) {
      const auto mu_l = mu.marginal(at_l);
      const auto column = restriction(mu.d, mu.M, at_l);
      std::vector<double> law(mu_query.size() * mu_l.size(), 0.0), product(law.size());
      for (std::size_t A = 0; A < outcomes; ++A) {
        for (std::size_t B = 0; B < outcomes; ++B) {
          law[(row[A / d] * d + A % d) * mu_l.size() + column[B / d] * d + B % d] +=
              together[A * outcomes + B];
        }
      }
      for (std::size_t i = 0; i < product.size(); ++i) {
        product[i] = mu_query[i / mu_l.size()] * mu_l[i % mu_l.size()];
      }
      tally.at_most(total_variation(law, product), bounds.joint(subset_size(at_query)));
    }
  }
}

void check_empirical(const ChainCase& given, Tally& tally) {
  const WindowLaw mu = window_law(given.assumed, given.M);
  const MixingBounds bounds(given.assumed, given.start, given.M, given.L);
  for (const Subset S : lag_subsets(given.M)) {
    const auto marginal = mu.marginal(S);
    const auto restricted = restriction(mu.d, mu.M, S);
    double mean = 0.0;
    each_prompt(given.drawn, given.start, given.M, given.L, [&](const Prompt& prompt) {
      mean += prompt.probability * empirical_chi_square(prompt, restricted, marginal, mu.d);
    });
    tally.at_most(mean, bounds.empirical(mu, S));
  }
}

/// E || mu~(. | X_{L+1-S}) - sum_l sigma*_l 1((x_l, X_{l-S}) = .) ||_1, mu~ tilted with `a_law`,
/// sigma* with `a`.
void check_tilt(const ChainCase& given, double a_law, double a, Tally& tally) {
  const WindowLaw mu = window_law(given.assumed, given.M);
  const auto d = static_cast<std::size_t>(mu.d);
  for (const Subset S : lag_subsets(given.M)) {
    const auto marginal = mu.marginal(S);
    const auto restricted = restriction(mu.d, mu.M, S);
    std::vector<std::vector<double>> laws;
    double least = 1.0;
    for (std::size_t E = 0; E < marginal.size() / d; ++E) {
      laws.push_back(tilted(marginal, mu.d, E, a_law));
      double mass = 0.0;
      for (std::size_t k = 0; k < d; ++k) mass += marginal[E * d + k];
      least = std::min(least, mass);
    }
    double distance = 0.0, chi = 0.0;
    each_prompt(given.drawn, given.start, given.M, given.L, [&](const Prompt& prompt) {
      const Attention star = attend(prompt, matches(prompt, restricted), a, mu.d, 1.0);
      std::vector<double> seen(marginal.size(), 0.0);
      for (std::size_t l = 0; l < prompt.positions(); ++l) {
        seen[restricted[prompt.windows[l]] * d + prompt.tokens[l]] += star.sigma[l];
      }
      distance += prompt.probability * 2.0 * total_variation(laws[restricted[prompt.query]], seen);
      chi += prompt.probability * empirical_chi_square(prompt, restricted, marginal, mu.d);
    });
    tally.at_most(distance, 2.0 * (1.0 + 1.0 / std::sqrt(least)) * std::sqrt(chi));
  }
}

/// Sequences that repeat a token, bounded as if each token were new.
ChainCase taken_for_fair() {
  return {repeating_chain(0.95), repeating_chain(0.5), {1.0, 0.0}, 1, 9};
}

}  // namespace

std::vector<Claim> distance_claims() {
  return {
      {"F.16.last",
       "The law of (x_{L+1}, X_{L+1-S}) is within rho_{L-M} sqrt(D_chi2(mu_0 || mu)) / 2 of mu in "
       "TV.",
       "F.29, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (const ChainCase& given : chain_cases(world)) check_last(given, by_norm, tally);
       },
       [](Tally& tally) { check_last(taken_for_fair(), by_norm, tally); },
       "the norms rho_i are those of a chain that forgets at once; the sequences do not"},
      {"F.16.last.printed",
       "The law of (x_{L+1}, X_{L+1-S}) is within |lambda_2|^(L-M) sqrt(D_chi2(mu_0 || mu) + 1) of "
       "mu "
       "in TV.",
       "F.29", Mode::exact, false,
       [](const World& world, Tally& tally) {
         for (const ChainCase& given : chain_cases(world)) check_last(given, by_eigenvalue, tally);
       },
       [](Tally& tally) {
         const Kernel kernel = nearly_fair_chain(0.01);
         check_last({kernel, kernel, {1.0, 0.0, 0.0, 0.0}, 2, 3}, by_eigenvalue, tally);
       },
       "two parents, one step: the older token of the window is still that of the start"},
      {"F.16.average",
       "The mean over l of the laws of (x_l, X_{l-S}) is within Lambda sqrt(D_chi2(mu_0 || mu)) / "
       "(2 (L-M)) of mu in TV.",
       "F.28, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (const ChainCase& given : chain_cases(world))
           check_average(given, sum_of_norms, tally);
       },
       [](Tally& tally) { check_average(taken_for_fair(), sum_of_norms, tally); },
       "Lambda is that of a chain that forgets at once; the sequences do not"},
      {"F.16.average.lambda",
       "The same mean is within sqrt(D_chi2(mu_0 || mu) + 1) / ((L-M) (1 - |lambda_2|)) of mu in "
       "TV: "
       "no violation is known, and no proof.",
       "F.28", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (const ChainCase& given : chain_cases(world))
           check_average(given, one_over_gap, tally);
       },
       [](Tally& tally) { check_average(taken_for_fair(), one_over_gap, tally); },
       "lambda_2 is that of a chain that forgets at once; the sequences do not"},
      {"F.17",
       "The pair (x_{L+1}, X_{L+1-S}), (x_l, X_{l-S'}), mean over l, is within (Lambda (sqrt((D + "
       "1) dm) "
       "+ sqrt(D)) / 2 + M - r_n) / (L-M) of independence in TV, D = D_chi2(mu_0 || mu).",
       "F.17, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (const ChainCase& given : chain_cases(world)) check_joint(given, tally);
       },
       [](Tally& tally) { check_joint(taken_for_fair(), tally); },
       "Lambda is that of a chain that forgets at once; the sequences do not"},
      {"F.18",
       "The expected chi-square of the empirical law of (x_l, X_{l-S}) to mu is at most ((2 "
       "(M-r_n) + 1) "
       "(1/m - 1) + 2 Lambda sqrt(dm (D + 1) / m)) / (L-M), m the least mass.",
       "F.18, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (const ChainCase& given : chain_cases(world)) check_empirical(given, tally);
       },
       [](Tally& tally) {
         check_empirical({repeating_chain(0.99), repeating_chain(0.5), {0.5, 0.5}, 1, 12}, tally);
       },
       "Lambda is that of a chain that forgets at once; the sequences do not"},
      {"F.19",
       "The starred attention's law of (x_l, X_{l-S}) is within 2 (1 + 1/sqrt(min mu(E))) sqrt(E "
       "chi2) of "
       "the tilted law in expected l1, for any a.",
       "F.19, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (const ChainCase& given : chain_cases(world)) {
           for (const double a : {world.theta.a, 3.0}) check_tilt(given, a, a, tally);
         }
       },
       [](Tally& tally) {
         const Kernel kernel = repeating_chain(0.0);
         check_tilt({kernel, kernel, {0.5, 0.5}, 1, 9}, 8.0, 0.1, tally);
       },
       "the law is tilted with a = 8, the attention has a = 0.1; tokens alternate, so chi2 = 0"},
  };
}

}  // namespace gih
