#include <algorithm>
#include <bit>
#include <cmath>

#include "claims_stages.hpp"

// Stage II: w moves, p is on S*, a is small. What holds at given weights; claims_focus.cpp follows
// the flow.

namespace gih {
namespace {

/// Q = prod_{h' in S* \ h} (sigma_{-h'})^2 sigma_{-h}.
double partial_focus(const Matrix& w, Subset S_star, int h) {
  return focus(w, S_star & ~(Subset{1} << (h - 1))) * lag_attention(w)(h - 1, h - 1);
}

double information_of(const World& world, const ExactChoice& choice, Subset S) {
  const auto subsets = world.subsets();
  const auto at = std::find(subsets.begin(), subsets.end(), S);
  return choice.information.at(static_cast<std::size_t>(at - subsets.begin()));
}

/// A row at the weights of the world, which need not meet (3.6), and at weights that do.
template <StageRow row>
void at_any_weights(const World& world, Tally& tally) {
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  if (!choice.decided) return;
  row(world, choice, world.theta.w, tally);
  row(world, choice, astray(world), tally);
  row(world, choice, meeting(world, choice, k_both), tally);
}

/// A choice that is not that of the world: its I* is a tenth of what it is.
template <StageRow row>
void with_less_information(Tally& tally) {
  const World& world = worlds().front();
  ExactChoice choice = choose_exactly(world.laws, world.model);
  choice.I_star /= 10.0;
  row(world, choice, world.theta.w, tally);
}

void contrast(const World& world, const ExactChoice& choice, const Matrix& w, double factor,
              Tally& tally) {
  const StageTwo stage(world.laws, choice.S_star);
  each_head_and_lag(world, choice.S_star, [&](int h, int i) {
    const Eigen::VectorXd g = stage.gain(w, h);
    tally.equal(g(h - 1) - g(i - 1), factor * (stage.tau(w, h, h) - stage.tau(w, h, i)));
  });
}
void row_contrast(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  contrast(world, choice, w, 2.0, tally);
}
void counter_contrast(Tally& tally) {
  const World& world = worlds().front();
  contrast(world, choose_exactly(world.laws, world.model), world.theta.w, 1.0, tally);
}

void row_E19(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  const StageTwo stage(world.laws, choice.S_star);
  each_head_and_lag(world, choice.S_star, [&](int h, int i) {
    if (i != (h == 1 ? 2 : 1)) return;  // once a head
    const double Q = partial_focus(w, choice.S_star, h);
    tally.at_most(std::abs(stage.tau(w, h, h) - Q * choice.I_star), (1.0 - Q) * choice.I_star);
  });
}

void row_E20(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  const StageTwo stage(world.laws, choice.S_star);
  each_head_and_lag(world, choice.S_star, [&](int h, int i) {
    const double Q = partial_focus(w, choice.S_star, h);
    tally.at_most(std::abs(stage.tau(w, h, i) - Q * stage.psi(h, i)), (1.0 - Q) * choice.I_star);
  });
}

void row_psi(const World& world, const ExactChoice& choice, const Matrix&, Tally& tally) {
  const StageTwo stage(world.laws, choice.S_star);
  each_head_and_lag(world, choice.S_star, [&](int h, int i) {
    const Subset other = (choice.S_star & ~(Subset{1} << (h - 1))) | Subset{1} << (i - 1);
    const double middle = (choice.I_star + information_of(world, choice, other)) / 2.0;
    tally.at_most(stage.psi(h, i), middle);
    tally.at_most(middle, choice.I_star - choice.gap / 2.0);
  });
}

void row_E21(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  const StageTwo stage(world.laws, choice.S_star);
  const double Pi = focus(w, choice.S_star);
  each_head_and_lag(world, choice.S_star, [&](int h, int i) {
    tally.at_most(Pi * choice.gap / 2.0 - 2.0 * (1.0 - Pi) * choice.I_star,
                  stage.tau(w, h, h) - stage.tau(w, h, i));
  });
}
void counter_E21(Tally& tally) {
  const World& world = worlds().front();
  ExactChoice choice = choose_exactly(world.laws, world.model);
  choice.S_star = Subset{1} << (choice.S_star == 1 ? 1 : 0);
  row_E21(world, choice, focused(world.theta.w, 30.0), tally);
}

void focus_bound(const World& world, Subset S, const Matrix& w, double Dw, Tally& tally) {
  const double least = std::pow(1.0 + (world.M() - 1) * std::exp(-Dw), -2 * std::popcount(S));
  tally.at_most(least / focus(w, S), 1.0);
}
void row_E25(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  focus_bound(world, choice.S_star, w, smallest_gap(w, choice.S_star), tally);
}
void counter_E25(Tally& tally) {
  const World& world = worlds().front();
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  const Matrix w = focused(Matrix::Zero(world.M(), world.M()), 2.0);
  focus_bound(world, choice.S_star, w, 2.5, tally);
}

void row_E26(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  const StageTwo stage(world.laws, choice.S_star);
  const double Pi = focus(w, choice.S_star);
  tally.at_most(2.0 / 3.0, (Pi * choice.gap - 4.0 * (1.0 - Pi) * choice.I_star) / choice.gap);
  each_head_and_lag(world, choice.S_star, [&](int h, int i) {
    const Eigen::VectorXd g = stage.gain(w, h);
    tally.at_most(2.0 / 3.0, (g(h - 1) - g(i - 1)) / choice.gap);
  });
}

/// The bracket alone, at the least Dw that k = 8 allows: all other lags equal.
void bracket_at_8(const World& world, Tally& tally) {
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  if (!choice.decided) return;
  const double Pi = focus(barely_meeting(world, choice, k_first), choice.S_star);
  tally.at_most(2.0 / 3.0, (Pi * choice.gap - 4.0 * (1.0 - Pi) * choice.I_star) / choice.gap);
}
/// Both lags in S*, M = 2: no lag is left over to make up for k.
void counter_bracket_at_8(Tally& tally) {
  bracket_at_8(make_world("", 2, {1, 2}, 2, 2, 1.0, 0.05, 3, 9, 4), tally);
}

// ---- heads outside S* -------------------------------------------------------------------------

void still(const World& world, Subset heads, Subset S_star, double other, Tally& tally) {
  Parameters theta = world.theta;
  const auto subsets = world.subsets();
  for (std::size_t S = 0; S < subsets.size(); ++S) {
    if (subsets[S] != S_star) theta.c(static_cast<Eigen::Index>(S)) *= other;
  }
  double Delta_1 = 0.0;
  for (std::size_t S = 0; S < subsets.size(); ++S) {
    if (subsets[S] != S_star) Delta_1 += theta.p()(static_cast<Eigen::Index>(S));
  }
  const auto objective = limit_objective(world.kernels, world.model);
  const Matrix dw = objective->evaluate(theta, {.w = true}, false).gradient.w;
  const Matrix sigma = lag_attention(theta.w);
  for (int h = 0; h < world.M(); ++h) {
    if (!(heads >> h & 1U)) continue;
    for (int i = 0; i < world.M(); ++i) {
      tally.at_most(std::abs(dw(h, i)) / (4.0 * theta.a * sigma(h, i) * Delta_1), 1.0);
    }
  }
}
void check_still(const World& world, Tally& tally) {
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  if (!choice.decided) return;
  for (const double other : {1.0, 0.1, 0.001})
    still(world, ~choice.S_star, choice.S_star, other, tally);
}
void counter_still(Tally& tally) {
  const World& world = worlds().front();
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  still(world, choice.S_star, choice.S_star, 0.001, tally);
}

}  // namespace

std::vector<Claim> concentration_claims() {
  return {
      {"stage-II.contrast", "E g_{h,4}^T (e_h - e_i) = 2 (tau_{h,1} - tau_{h,2}).", "sec. E.3",
       Mode::exact, true, at_any_weights<row_contrast>, counter_contrast,
       "the factor 2 is left out"},
      {"E.19",
       "|tau_{h,1} - Q I*| <= (1 - Q) I*, Q = prod_{h' in S* but h} (sigma_{-h'})^2 sigma_{-h}.",
       "E.19", Mode::exact, true, at_any_weights<row_E19>, with_less_information<row_E19>,
       "a tenth of I*"},
      {"E.20", "|tau_{h,2} - Q psi| <= (1 - Q) I*.", "E.20", Mode::exact, true,
       at_any_weights<row_E20>, with_less_information<row_E20>, "a tenth of I*"},
      {"stage-II.psi", "psi <= (I* + I~(S* with i in the place of h)) / 2 <= I* - dI / 2.",
       "sec. E.3", Mode::exact, true, where_the_gap_holds<row_psi>, with_less_information<row_psi>,
       "a tenth of I*"},
      {"E.21",
       "tau_{h,1} - tau_{h,2} >= Pi dI / 2 - 2 (1 - Pi) I*, Pi = prod_{h in S*} (sigma_{-h})^2.",
       "E.21", Mode::exact, true, at_any_weights<row_E21>, counter_E21,
       "another subset stands in the place of S*"},
      {"E.25", "Pi >= (1 + (M-1) e^{-Dw})^{-2|S*|} where each head of S* prefers its lag by Dw.",
       "E.25", Mode::exact, true, at_any_weights<row_E25>, counter_E25,
       "heads that prefer their lag by 2.0 only, for Dw = 2.5"},
      {"E.26",
       "Where w meets (3.6) with k = 14, E g_{h,4}^T (e_h - e_i) and its lower bound "
       "Pi dI - 4 (1 - Pi) I* are at least (2/3) dI.",
       "E.26", Mode::exact, true, where_the_gap_holds<row_E26>, where_heads_are_astray<row_E26>,
       "Dw < 0: each head looks at another's lag"},
      {"E.26.k=8",
       "k = 8 in (3.6), which is enough for (E.11), makes Pi dI - 4 (1 - Pi) I* at least (2/3) dI "
       "as well.",
       "E.26 with a constant of one digit in E.9", Mode::exact, false, bracket_at_8,
       counter_bracket_at_8, "k = 14 is needed: M = 2 and S* of both lags"},
      {"stage-II.other-heads",
       "A head outside S* moves by |d_t w_{-i}| <= 4 a sigma_{-i} (1 - p_{S*}).", "ours",
       Mode::exact, true, check_still, counter_still, "a head of S*"},
  };
}

}  // namespace gih
