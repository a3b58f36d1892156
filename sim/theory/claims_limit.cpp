// Lemma E.6: how near the trained transformer is to the generalised induction head.

#include <algorithm>
#include <cmath>

#include "claim_cases.hpp"
#include "claims_groups.hpp"
#include "prompt_sums.hpp"

namespace gih {
namespace {

struct Copied {
  std::vector<double> y;
  double matches = 0.0;  ///< N
};

/// GIH (3.3) on a prompt.
Copied induction_head(const Prompt& prompt, const std::vector<double>& s_star, int d) {
  Copied found{std::vector<double>(static_cast<std::size_t>(d), 0.0)};
  for (const double match : s_star) found.matches += match;
  for (std::size_t l = 0; l < s_star.size(); ++l) {
    found.y[prompt.tokens[l]] += found.matches > 0.0
                                     ? s_star[l] / found.matches
                                     : 1.0 / static_cast<double>(prompt.positions());
  }
  return found;
}

/// ||y - GIH||_1 on each sequence, GIH looking for `copied`, Delta that of S.
void check_distance(const LossCase& given, Subset S, Subset copied, Tally& tally) {
  const WindowPairs pairs(given.model.d, given.theta.w);
  const auto restricted = restriction(given.model.d, given.M, S);
  const auto looked_for = restriction(given.model.d, given.M, copied);
  const Eigen::VectorXd p = given.theta.p();
  const double a = given.theta.a;
  each_prompt(given, [&](const Prompt& prompt) {
    const auto s = pairs.scores(prompt, given.model, p), s_star = matches(prompt, restricted);
    const Attention soft = attend(prompt, s, a, given.model.d, given.eps);
    const Copied head = induction_head(prompt, matches(prompt, looked_for), given.model.d);
    double Delta = 0.0;
    for (std::size_t l = 0; l < s.size(); ++l) Delta = std::max(Delta, std::abs(s[l] - s_star[l]));
    const double rest = (static_cast<double>(prompt.positions()) - head.matches) * std::exp(-a);
    const double bound =
        head.matches > 0.0 ? 2.0 * rest / (head.matches + rest) + a * Delta : a * Delta;
    tally.at_most(2.0 * total_variation(soft.y, head.y), bound);
  });
}

/// y = GIH entry by entry, at heads that attend to their lags alone and p on S alone.
void check_limit(LossCase given, Subset S, double a, Tally& tally) {
  given.theta = focused(given.model, given.theta, S);
  given.theta.w = 60.0 * Matrix::Identity(given.model.H, given.M);
  const auto subsets = given.model.subsets();
  for (std::size_t i = 0; i < subsets.size(); ++i) {
    given.theta.c(static_cast<Eigen::Index>(i)) = subsets[i] == S ? 1.0 : 0.0;
  }
  const WindowPairs pairs(given.model.d, given.theta.w);
  const auto restricted = restriction(given.model.d, given.M, S);
  const Eigen::VectorXd p = given.theta.p();
  each_prompt(given, [&](const Prompt& prompt) {
    const Attention soft =
        attend(prompt, pairs.scores(prompt, given.model, p), a, given.model.d, given.eps);
    const Copied head = induction_head(prompt, matches(prompt, restricted), given.model.d);
    for (std::size_t k = 0; k < soft.y.size(); ++k) tally.equal(soft.y[k], head.y[k]);
  });
}

/// P(exists E: N_E < (L-M) mu(E) / 2), chi2 of `assumed`'s sequences.
void check_visits(const ChainCase& given, const ChainCase& assumed, Subset S, Tally& tally) {
  const WindowLaw law = window_law(given.assumed, given.M);
  const auto d = static_cast<std::size_t>(law.d);
  const auto restricted = restriction(law.d, law.M, S);
  const auto with_token = law.marginal(S);
  std::vector<double> mu(with_token.size() / d, 0.0);
  for (std::size_t i = 0; i < with_token.size(); ++i) mu[i / d] += with_token[i];
  const auto shares = [&](const Prompt& prompt) {
    std::vector<double> share(mu.size(), 0.0);
    for (const std::size_t X : prompt.windows) {
      share[restricted[X]] += 1.0 / static_cast<double>(prompt.positions());
    }
    return share;
  };
  double missing = 0.0, chi = 0.0;
  each_prompt(given, [&](const Prompt& prompt) {
    const auto share = shares(prompt);
    bool rare = false;
    for (std::size_t E = 0; E < mu.size(); ++E) rare = rare || share[E] < mu[E] / 2.0;
    if (rare) missing += prompt.probability;
  });
  each_prompt(assumed, [&](const Prompt& prompt) {
    chi += prompt.probability * chi_square(shares(prompt), mu);
  });
  tally.at_most(missing, 4.0 * chi / *std::min_element(mu.begin(), mu.end()));
}

}  // namespace

std::vector<Claim> limit_claims() {
  return {
      {"Lemma E.6",
       "||y - GIH||_1 <= 2 r / (N + r) + a Delta with r = (L-M-N) e^-a, N >= 1 matches, Delta = "
       "sup |s_l - s*_l|; <= a Delta for N = 0: on every sequence.",
       "Lemma E.6, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_set(world, [&](LossCase given, Subset S) {
           for (const double a : {given.theta.a, 4.0}) {
             given.theta.a = a;
             check_distance(given, S, S, tally);
           }
         });
       },
       [](Tally& tally) {
         LossCase given = on_one();
         given.theta.a = 10.0;
         check_distance(given, 0b1, 0b10, tally);
       },
       "the induction head looks for lag 2, the model for lag 1"},
      {"Lemma E.6.tail",
       "P(some E of mass mu(E) is seen less than (L-M) mu(E) / 2 times) <= 4 E chi2 / min mu(E).",
       "Lemma E.6, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (const ChainCase& given : chain_cases(world)) {
           for (const Subset S : world.subsets()) {
             if (S != 0) check_visits(given, given, S, tally);
           }
         }
       },
       [](Tally& tally) {
         const ChainCase stuck{repeating_chain(0.995), repeating_chain(0.5), {0.5, 0.5}, 1, 14};
         const ChainCase fair{repeating_chain(0.5), repeating_chain(0.5), {0.5, 0.5}, 1, 14};
         check_visits(stuck, fair, 0b1, tally);
       },
       "chi2 is that of a chain that forgets at once; the sequences repeat one token"},
      {"Lemma E.6.limit",
       "For a to infinity, sharp heads and p_{S*} = 1, y = GIH on every sequence.",
       "Lemma E.6, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (const LossCase& given : loss_cases(world, world.theta)) {
           for (const Subset S : world.subsets()) {
             if (S != 0) check_limit(given, S, 60.0, tally);
           }
         }
       },
       [](Tally& tally) {
         check_limit(loss_cases(worlds().front(), worlds().front().theta).front(), 0b1, 1.0, tally);
       },
       "a = 1"},
  };
}

}  // namespace gih
