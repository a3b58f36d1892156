// F.9 to F.11: from the model's attention to the one that looks for S* alone, and from there to the
// tilted law. On each sequence; the bounds in expectation follow.

#include <algorithm>
#include <cmath>

#include "claim_cases.hpp"
#include "claims_groups.hpp"

namespace gih {
namespace {

/// F.9 on each sequence: f_1 keeps the model's attention and K_S, f_2 has s* in place of both.
/// `star`: the set of s*; the Deltas are those of S.
void check_star(const LossCase& given, Subset S, Subset star_set, bool sharper, Tally& tally) {
  const WindowPairs pairs(given.model.d, given.theta.w);
  const auto restricted = restriction(given.model.d, given.M, star_set);
  const Eigen::VectorXd p = given.theta.p();
  const double a = given.theta.a, ratio = a / given.eps;
  const double factor = sharper ? 2.0 + 3.0 * ratio : 12.0 * (1.0 + ratio);
  const double deltas = delta_1(given.model, given.theta, S) + delta_2(pairs, S);
  each_prompt(given, [&](const Prompt& prompt) {
    const auto s_star = matches(prompt, restricted);
    const Attention soft =
        attend(prompt, pairs.scores(prompt, given.model, p), a, given.model.d, given.eps);
    const Attention star = attend(prompt, s_star, a, given.model.d, given.eps);
    double f_1 = 0.0, f_2 = 0.0;
    for (std::size_t l = 0; l < s_star.size(); ++l) {
      f_1 += soft.sigma[l] * soft.rho[l] * pairs.K(S, prompt.windows[l], prompt.query);
      f_2 += star.sigma[l] * star.rho[l] * s_star[l];
    }
    tally.at_most(std::abs(f_1 - f_2), factor * deltas);
  });
}

enum class TiltStep { rates, attention };  // F.10, F.11

/// F.10 and F.11 on each sequence; `a_law` tilts the law, theta.a the attention, and l1 is the
/// distance between the attention and the law tilted with theta.a.
void check_tilted(const LossCase& given, Subset S, TiltStep step, double a_law, double gamma,
                  Tally& tally) {
  const WindowLaw law = window_law(given.assumed, given.M);
  const auto d = static_cast<std::size_t>(law.d);
  const auto marginal = law.marginal(S);
  const auto restricted = restriction(law.d, law.M, S);
  each_prompt(given, [&](const Prompt& prompt) {
    const std::size_t X = restricted[prompt.query];
    const auto used = tilted(marginal, law.d, X, a_law);
    const auto true_law = tilted(marginal, law.d, X, given.theta.a);
    const auto s_star = matches(prompt, restricted);
    const Attention star = attend(prompt, s_star, given.theta.a, law.d, given.eps);
    std::vector<double> seen(marginal.size(), 0.0);
    double of_q = 0.0, matching = 0.0, f_2 = 0.0, f_3 = 0.0;
    for (std::size_t E = 0; E < marginal.size() / d; ++E) of_q += used[E * d + prompt.q];
    for (std::size_t k = 0; k < d; ++k) matching += used[X * d + k];
    for (std::size_t l = 0; l < s_star.size(); ++l) {
      seen[restricted[prompt.windows[l]] * d + prompt.tokens[l]] += star.sigma[l];
      const double same = prompt.tokens[l] == prompt.q ? 1.0 : 0.0;
      f_2 += star.sigma[l] * star.rho[l] * s_star[l];
      f_3 += star.sigma[l] * (same / of_q - 1.0) * s_star[l];
    }
    const double f_4 = used[X * d + prompt.q] / of_q - matching;
    const double l1 = 2.0 * total_variation(true_law, seen);
    if (step == TiltStep::rates) {
      tally.at_most(std::abs(f_2 - f_3), (l1 + 2.0 * given.eps) / gamma);
    } else {
      tally.at_most(std::abs(f_3 - f_4), std::max(1.0 / gamma - 1.0, 1.0) * l1);
    }
  });
}

double least_entry(const LossCase& given) {
  return *std::min_element(given.assumed.pi.begin(), given.assumed.pi.end());
}

/// Tokens take turns, so that the empirical law is the stationary one.
LossCase alternating() {
  return plain_case(repeating_chain(0.0), repeating_chain(0.0), 9);
}

}  // namespace

std::vector<Claim> star_claims() {
  return {
      {"F.9", "|f_1 - f_2| <= 12 (1 + a/eps) (Delta_1 + Delta_2), on every sequence.", "F.9",
       Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_set(world, [&](const LossCase& g, Subset S) { check_star(g, S, S, false, tally); });
       },
       [](Tally& tally) { check_star(on_one(), 0b1, 0b10, false, tally); },
       "s* looks at lag 2, the model and the Deltas at lag 1"},
      {"F.9.sharper", "|f_1 - f_2| <= (2 + 3 a/eps) (Delta_1 + Delta_2), on every sequence.",
       "F.9, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_set(world, [&](const LossCase& g, Subset S) { check_star(g, S, S, true, tally); });
       },
       [](Tally& tally) { check_star(on_one(), 0b1, 0b10, true, tally); },
       "s* looks at lag 2, the model and the Deltas at lag 1"},
      {"F.10",
       "mu~ in place of y* and eps changes f by |f_2 - f_3| <= (l1 + 2 eps) / gamma on every "
       "sequence, l1 "
       "the distance of the starred attention to the tilted law.",
       "F.10, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_set(world, [&](const LossCase& given, Subset S) {
           check_tilted(given, S, TiltStep::rates, given.theta.a, least_entry(given), tally);
         });
       },
       [](Tally& tally) { check_tilted(alternating(), 0b1, TiltStep::rates, -3.0, 0.1, tally); },
       "the law is tilted away from the query's window, the attention towards it"},
      {"F.11",
       "The tilted law in place of the starred attention changes f by |f_3 - f_4| <= max(1/gamma - "
       "1, 1) "
       "l1 on every sequence.",
       "F.11, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_set(world, [&](const LossCase& given, Subset S) {
           check_tilted(given, S, TiltStep::attention, given.theta.a, least_entry(given), tally);
         });
       },
       [](Tally& tally) {
         check_tilted(alternating(), 0b1, TiltStep::attention, -3.0, 0.1, tally);
       },
       "the law is tilted away from the query's window, the attention towards it"},
  };
}

}  // namespace gih
