// F.6 and F.7: which pairs of lags carry the expected gradient.

#include <algorithm>
#include <cmath>

#include "claim_cases.hpp"
#include "claims_groups.hpp"
#include "gih/base/random.hpp"
#include "gih/theory/information.hpp"
#include "prompt_sums.hpp"

namespace gih {
namespace {

/// Lags (i_h, j_h) for each head of a set; lags may repeat.
struct LagPairs {
  std::vector<int> i, j;
  static Subset set_of(const std::vector<int>& lags) {
    Subset S = 0;
    for (const int lag : lags) S |= Subset{1} << (lag - 1);
    return S;
  }
};

/// Each head's own lag on both sides, then random ones.
std::vector<LagPairs> lag_pairs(int size, const std::vector<int>& own, int M, Stream& stream) {
  std::vector<LagPairs> lists{{own, own}};
  const auto any = [&] { return 1 + static_cast<int>(stream.uniform() * M); };
  for (int n = 0; n < 8; ++n) {
    LagPairs pairs;
    for (int h = 0; h < size; ++h) {
      pairs.i.push_back(any());
      pairs.j.push_back(any());
    }
    lists.push_back(pairs);
  }
  return lists;
}

std::vector<int> elements(Subset S) {
  std::vector<int> all;
  for (int h = 1; S >> (h - 1) != 0; ++h) {
    if (S >> (h - 1) & 1U) all.push_back(h);
  }
  return all;
}

/// E[(sum_k 1(x = z = e_k) / mu(e_k) - 1) prod_h 1(x_{-i_h} = z_{-j_h})].
double with_equal_lags(const WindowLaw& law, const WindowPairs& windows, const LagPairs& lags) {
  return independent_sum(law, [&](std::size_t X, std::size_t Z) {
    for (std::size_t h = 0; h < lags.i.size(); ++h) {
      if (windows.digit(X, lags.i[h]) != windows.digit(Z, lags.j[h])) return 0.0;
    }
    return 1.0;
  });
}

/// F.6 with weights `scale` times those of the softmax.
void check_main_term(const World& world, double scale, Tally& tally) {
  Stream stream(6, Purpose::claims, 1);
  const Matrix other =
      Matrix::NullaryExpr(world.model.H, world.M(), [&] { return 3.0 * stream.uniform(); });
  const double I_star = chosen_set(world).I_star;
  const auto count = static_cast<double>(world.laws.size());
  const std::vector<Matrix> weights{world.theta.w, focused(world.model, world.theta, 0).w, other};
  for (const Matrix& w : weights) {
    const WindowPairs pairs(world.d(), w, other);
    for (const Subset S : world.subsets()) {
      if (S == 0) continue;
      const auto heads = elements(S);
      const double all = std::pow(scale, 2.0 * static_cast<double>(heads.size()));
      double A = 0.0;
      for (const WindowLaw& law : world.laws) {
        A += all / count *
             independent_sum(law, [&](std::size_t X, std::size_t Z) { return pairs.K(S, X, Z); });
      }
      for (const LagPairs& lags : lag_pairs(subset_size(S), heads, world.M(), stream)) {
        double product = all, B = 0.0;
        for (std::size_t h = 0; h < heads.size(); ++h) {
          product *= pairs.sigma(heads[h], lags.i[h]) * pairs.sigma_other(heads[h], lags.j[h]);
        }
        for (const WindowLaw& law : world.laws) B += with_equal_lags(law, pairs, lags) / count;
        tally.at_most(std::abs(A - product * B), std::max(0.0, 1.0 - product) * I_star);
      }
    }
  }
}

/// F.7 for lists of lags as long as the sets in `sizes_of`.
void check_any_lags(const World& world, const std::vector<Subset>& sizes_of, Tally& tally) {
  Stream stream(7, Purpose::claims, 1);
  const double I_star = chosen_set(world).I_star;
  const WindowPairs windows(world.d(), world.theta.w);
  for (const Subset S : sizes_of) {
    if (S == 0) continue;
    for (const LagPairs& lags : lag_pairs(subset_size(S), elements(S), world.M(), stream)) {
      double mean = 0.0;
      for (const WindowLaw& law : world.laws) {
        const double left = with_equal_lags(law, windows, lags);
        const double I_1 = modified_information(law.marginal(LagPairs::set_of(lags.i)), law.d);
        const double I_2 = modified_information(law.marginal(LagPairs::set_of(lags.j)), law.d);
        tally.at_most(std::abs(left), (I_1 + I_2) / 2.0);
        tally.at_most(std::abs(left), std::sqrt(I_1 * I_2));
        mean += left / static_cast<double>(world.laws.size());
      }
      tally.at_most(std::abs(mean), I_star);
    }
  }
}

/// d = 2, the next token is the parity of lags 1 and 2 with probability 0.9.
World parity_world() {
  World world = make_world("parity", 2, {1, 2}, 2, 1, 1.0, 0.1, 1, 4, 1);
  world.kernels = {{2, {1, 2}, {0.9, 0.1, 0.1, 0.9, 0.1, 0.9, 0.9, 0.1}}};
  world.laws = {window_law(world.kernels.front(), 2)};
  return world;
}

}  // namespace

std::vector<Claim> lag_claims() {
  return {
      {"F.6",
       "E_pi of the product of soft looks is that of any one pair of lags a head, times its "
       "weight, up to "
       "(1 - weight) I*.",
       "F.6", Mode::exact, true,
       [](const World& world, Tally& tally) { check_main_term(world, 1.0, tally); },
       [](Tally& tally) { check_main_term(worlds().front(), 2.0, tally); },
       "attention weights that sum to 2"},
      {"F.7",
       "|E[(sum_k 1(x = z = e_k) / mu(e_k) - 1) prod_h 1(x_{-i_h} = z_{-j_h})]| is at most the "
       "geometric "
       "and the arithmetic mean of I~({i_h}) and I~({j_h}); in the mean over kernels at most I*.",
       "F.7", Mode::exact, true,
       [](const World& world, Tally& tally) { check_any_lags(world, world.subsets(), tally); },
       [](Tally& tally) { check_any_lags(parity_world(), {0b11}, tally); },
       "two lags where D = 1 and only the pair informs: I* of single lags is 0"},
  };
}

}  // namespace gih
