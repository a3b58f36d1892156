// F.12 to F.15 and (E.6): the window chain itself.

#include <Eigen/Dense>
#include <algorithm>
#include <bit>
#include <cmath>

#include "claim_cases.hpp"
#include "claims_groups.hpp"
#include "gih/data/chain.hpp"
#include "mixing_bounds.hpp"
#include "prompt_sums.hpp"

namespace gih {
namespace {

constexpr int powers = 8;

struct Operators {
  Eigen::MatrixXd P, K, R;
  Eigen::VectorXd root;  // sqrt(mu)
};

/// P, K = diag(sqrt mu)^-1 P diag(sqrt mu), R = sqrt(mu) sqrt(mu)^T.
Operators operators(const Kernel& kernel, std::span<const double> mu) {
  const WindowChain chain(kernel);
  const auto n = static_cast<Eigen::Index>(chain.states());
  Operators found;
  found.P = Eigen::MatrixXd::Zero(n, n);
  for (std::size_t Z = 0; Z < chain.states(); ++Z) {
    for (int k = 0; k < kernel.d; ++k) {
      found.P(static_cast<Eigen::Index>(chain.successor(Z, k)), static_cast<Eigen::Index>(Z)) +=
          chain.next(Z, k);
    }
  }
  found.root = Eigen::VectorXd::Map(mu.data(), n).cwiseSqrt();
  found.K = found.root.cwiseInverse().asDiagonal() * found.P * found.root.asDiagonal();
  found.R = found.root * found.root.transpose();
  return found;
}

std::vector<double> long_run(const Kernel& kernel) {
  return WindowChain(kernel).long_run_law();
}

void equal_entries(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right, Tally& tally) {
  for (Eigen::Index i = 0; i < left.size(); ++i) tally.equal(left(i), right(i));
}

/// F.12 for i >= 1, with what follows for the law after i steps from any state.
void check_powers(const Kernel& kernel, std::span<const double> mu, Tally& tally) {
  const Operators of = operators(kernel, mu);
  const Mixing norms = mixing(kernel, true);
  const auto n = of.P.rows();
  Eigen::MatrixXd P = of.P, K = of.K, less = of.K - of.R;
  for (int i = 1; i <= powers; ++i) {
    equal_entries(K - of.R, less, tally);
    equal_entries(P, of.root.asDiagonal() * K * of.root.cwiseInverse().asDiagonal(), tally);
    const double rho = rho_at(norms, i);
    // Where almost nothing is left, P^i - mu is rounding.
    for (Eigen::Index Z = 0; rho > 1e-5 && Z < n; ++Z) {
      const double at_once = 1.0 / mu[static_cast<std::size_t>(Z)] - 1.0;
      const Eigen::VectorXd law = P.col(Z);
      tally.at_most(chi_square({law.data(), mu.size()}, mu), rho * rho * at_once);
    }
    P = of.P * P;
    K = of.K * K;
    less = (of.K - of.R) * less;
  }
}

/// ||(K - R)^i|| <= |lambda_2|^i.
void check_spectral(const Kernel& kernel, Tally& tally) {
  const Mixing norms = mixing(kernel, true);
  for (int i = 1; i <= powers; ++i) tally.at_most(rho_at(norms, i), std::pow(norms.lambda, i));
}

/// K^i - R against (K - R)^i from i = 0 on, times I - R when `corrected`.
void check_zeroth(const Kernel& kernel, std::span<const double> mu, bool corrected, Tally& tally) {
  const Operators of = operators(kernel, mu);
  Eigen::MatrixXd K = Eigen::MatrixXd::Identity(of.K.rows(), of.K.cols()), less = K;
  if (corrected) less -= of.R;
  for (int i = 0; i <= powers; ++i) {
    equal_entries(K - of.R, less, tally);
    K = of.K * K;
    less = (of.K - of.R) * less;
  }
}

/// Laws of one to three tokens, all at `first` (from 1) or later, against gamma to their number.
void check_floor(const Kernel& kernel, std::span<const double> start, int L, int first,
                 Tally& tally) {
  const double gamma = mixing(kernel, false).gamma;
  const auto d = static_cast<std::size_t>(kernel.d);
  std::vector<std::vector<std::size_t>> chosen;
  for (const Subset set : subsets(L + 2 - first, std::min(3, L + 2 - first), SubsetRule::at_most)) {
    std::vector<std::size_t> positions;
    for (int i = 0; i < L + 2 - first; ++i) {
      if (set >> i & 1U) positions.push_back(static_cast<std::size_t>(first - 1 + i));
    }
    if (!positions.empty()) chosen.push_back(positions);
  }
  std::vector<std::vector<double>> laws;
  for (const auto& positions : chosen) {
    std::size_t outcomes = 1;
    for (std::size_t i = 0; i < positions.size(); ++i) outcomes *= d;
    laws.emplace_back(outcomes, 0.0);
  }
  each_sequence(kernel, start, L, [&](std::span<const Token> x, double probability) {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      std::size_t outcome = 0;
      for (const std::size_t l : chosen[i]) outcome = outcome * d + x[l];
      laws[i][outcome] += probability;
    }
  });
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const double least = *std::min_element(laws[i].begin(), laws[i].end());
    tally.at_most(std::pow(gamma, chosen[i].size()), least);
  }
}

void check_reach(const Kernel& kernel, int steps, Tally& tally) {
  const Operators of = operators(kernel, long_run(kernel));
  Eigen::MatrixXd P = of.P;
  for (int i = 1; i < steps; ++i) P = of.P * P;
  tally.at_most(std::pow(mixing(kernel, false).gamma, kernel.largest_lag()), P.minCoeff());
}

void check_stationary_floor(const WindowLaw& law, double gamma, Tally& tally) {
  for (const Subset S : lag_subsets(law.M)) {
    const auto with_token = law.marginal(S);
    for (std::size_t E = 0; E < with_token.size(); E += static_cast<std::size_t>(law.d)) {
      double alone = 0.0;
      for (int k = 0; k < law.d; ++k) {
        const double both = with_token[E + static_cast<std::size_t>(k)];
        tally.at_most(std::pow(gamma, subset_size(S) + 1), both);
        alone += both;
      }
      tally.at_most(std::pow(gamma, subset_size(S)), alone);
    }
  }
}

void check_start(const Kernel& kernel, std::span<const double> start, double gamma, Tally& tally) {
  tally.at_most(chi_square(start, long_run(kernel)) + 1.0, std::pow(gamma, -kernel.largest_lag()));
}

void each_kernel(const World& world, const std::function<void(const Kernel&)>& check) {
  for (const Kernel& kernel : world.kernels) check(kernel);
}

const std::vector<double> uniform_on_four{0.25, 0.25, 0.25, 0.25};
const Kernel& worked() {
  return worlds().front().kernels.front();
}

std::vector<Claim> operator_claims() {
  return {
      {"F.12",
       "For i >= 1, K^i - R = (K - R)^i and P^i = D K^i D^-1 with D = diag(sqrt mu), so the "
       "chi-square to mu shrinks by rho_i^2 in i steps, rho_i = ||K^i - R||.",
       "F.12", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_kernel(world, [&](const Kernel& k) { check_powers(k, long_run(k), tally); });
       },
       [](Tally& tally) { check_powers(worked(), uniform_on_four, tally); },
       "mu replaced by a law that is not stationary"},
      {"F.12.printed", "For i >= 1, ||(K - R)^i|| <= |lambda_2|^i.", "proof of F.16", Mode::exact,
       false,
       [](const World& world, Tally& tally) {
         each_kernel(world, [&](const Kernel& k) { check_spectral(k, tally); });
       },
       [](Tally& tally) { check_spectral(nearly_fair_chain(0.01), tally); },
       "two parents: the norm at i = 1 is 1 however small lambda_2 is"},
      {"F.12.zero", "For i >= 0, K^i - R = (K - R)^i (I - R).", "ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_kernel(world, [&](const Kernel& k) { check_zeroth(k, long_run(k), true, tally); });
       },
       [](Tally& tally) { check_zeroth(worked(), uniform_on_four, true, tally); },
       "mu replaced by a law that is not stationary"},
      {"F.12.zero.printed", "For i >= 0, K^i - R = (K - R)^i.", "F.12", Mode::exact, false,
       [](const World& world, Tally& tally) {
         each_kernel(world, [&](const Kernel& k) { check_zeroth(k, long_run(k), false, tally); });
       },
       [](Tally& tally) {
         check_zeroth(repeating_chain(0.5), std::vector<double>{0.5, 0.5}, false, tally);
       },
       "i = 0 on the smallest chain: I - R is not I"},
  };
}

std::vector<Claim> floor_claims() {
  return {
      {"F.13", "Tokens after the first r_n have law >= gamma^(number of tokens), whatever mu_0.",
       "F.13", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (const ChainCase& given : chain_cases(world)) {
           check_floor(given.drawn, given.start, given.L, world.largest_lag() + 1, tally);
         }
       },
       [](Tally& tally) {
         check_floor(repeating_chain(0.7), std::vector<double>{1.0, 0.0}, 4, 1, tally);
       },
       "the first token is among those asked about, and mu_0 never starts with 1"},
      {"F.13.printed", "Tokens from position r_n on have law >= gamma^(number of tokens).", "F.13",
       Mode::exact, false,
       [](const World& world, Tally& tally) {
         for (const ChainCase& given : chain_cases(world)) {
           check_floor(given.drawn, given.start, given.L, world.largest_lag(), tally);
         }
       },
       [](Tally& tally) {
         check_floor(repeating_chain(0.7), std::vector<double>{1.0, 0.0}, 1, 1, tally);
       },
       "one parent, the first token certain: p(x_1 = 1) = 0"},
      {"F.14", "P^(r_n) >= gamma^(r_n) in every entry.", "F.14", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_kernel(world, [&](const Kernel& k) { check_reach(k, k.largest_lag(), tally); });
       },
       [](Tally& tally) { check_reach(worked(), 1, tally); },
       "one step where the parents reach two tokens back: some windows cannot follow"},
      {"F.15", "The stationary law of any tokens is >= gamma^(number of tokens).", "F.15",
       Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (std::size_t i = 0; i < world.kernels.size(); ++i) {
           check_stationary_floor(world.laws[i], mixing(world.kernels[i], false).gamma, tally);
         }
       },
       [](Tally& tally) {
         check_stationary_floor(window_law(repeating_chain(0.95), 2), 0.3, tally);
       },
       "an entry of pi, 0.05, below the gamma = 0.3 that is asserted"},
      {"E.6", "D_chi2(mu_0 || mu) + 1 <= gamma^(-r_n), whatever mu_0.", "E.6", Mode::exact, true,
       [](const World& world, Tally& tally) {
         for (const ChainCase& given : chain_cases(world)) {
           check_start(given.drawn, given.start, mixing(given.drawn, false).gamma, tally);
         }
       },
       [](Tally& tally) {
         check_start({2, {1}, {0.99, 0.01, 0.99, 0.01}}, std::vector<double>{0.0, 1.0}, 0.1, tally);
       },
       "an entry of pi, 0.01, below the gamma = 0.1 that is asserted"},
  };
}

}  // namespace

std::vector<Claim> mixing_claims() {
  std::vector<Claim> all = operator_claims();
  const auto floors = floor_claims();
  all.insert(all.end(), floors.begin(), floors.end());
  return all;
}

}  // namespace gih
