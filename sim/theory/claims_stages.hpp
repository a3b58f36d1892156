#pragma once
// What the rows about the three stages share: weights that meet (3.6) or break it, and the kernels
// of a world seen through each set of lags.

#include <algorithm>
#include <limits>

#include "claims_groups.hpp"
#include "gih/theory/population.hpp"
#include "gih/theory/tilt.hpp"

namespace gih {

constexpr double k_first = 8.0;  ///< constant in (3.6) that stage I needs
constexpr double k_both = 14.0;  ///< and that both stages need

/// w with each head's own lag ahead of its other lags by Dw.
inline Matrix focused(Matrix w, double Dw) {
  for (Eigen::Index h = 0; h < w.rows(); ++h) {
    double others = -std::numeric_limits<double>::infinity();
    for (Eigen::Index j = 0; j < w.cols(); ++j) {
      if (j != h) others = std::max(others, w(h, j));
    }
    w(h, h) = others + Dw;
  }
  return w;
}

/// (3.6) met with the constant k and nothing to spare; off-diagonal entries of the world.
inline Matrix meeting(const World& world, const ExactChoice& choice, double k) {
  return focused(world.theta.w, required_gap(k, world.M(), choice.gap, choice.I_star));
}

/// The same with all other lags equal: the least focused of all such weights.
inline Matrix barely_meeting(const World& world, const ExactChoice& choice, double k) {
  return focused(Matrix::Zero(world.M(), world.M()),
                 required_gap(k, world.M(), choice.gap, choice.I_star));
}

/// (3.6) broken: every head looks at the lag before its own instead, so Dw < 0.
inline Matrix astray(const World& world) {
  Matrix w = Matrix::Zero(world.M(), world.M());
  for (int h = 0; h < world.M(); ++h) w(h, (h + world.M() - 1) % world.M()) = 4.0;
  return w;
}

/// body(h, i), h in S, i any other lag.
template <class Body>
void each_head_and_lag(const World& world, Subset S, Body body) {
  for (int h = 1; h <= world.M(); ++h) {
    if (!(S >> (h - 1) & 1U)) continue;
    for (int i = 1; i <= world.M(); ++i) {
      if (i != h) body(h, i);
    }
  }
}

using StageRow = void (*)(const World&, const ExactChoice&, const Matrix& w, Tally&);

/// A row in a world whose S* is decided, at weights that meet (3.6).
template <StageRow row>
void where_the_gap_holds(const World& world, Tally& tally) {
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  if (choice.decided) row(world, choice, meeting(world, choice, k_both), tally);
}

/// The same where heads are astray and, unlike in some worlds, do not find back.
template <StageRow row>
void where_heads_are_astray(Tally& tally) {
  const World world = make_world("heads astray", 3, {1, 2}, 3, 2, 0.3, 0.05, 3, 6, 9);
  row(world, choose_exactly(world.laws, world.model), astray(world), tally);
}

/// One kernel of a world seen through the lags S.
struct TiltCase {
  const WindowLaw& law;
  Subset S;
  Tilt tilt;
  double gamma;  ///< least entry of pi
};

/// body(case) for every kernel and every set but the empty one.
template <class Body>
void each_tilt_case(const World& world, Body body) {
  for (std::size_t n = 0; n < world.kernels.size(); ++n) {
    const auto& pi = world.kernels[n].pi;
    for (const Subset S : world.subsets()) {
      if (S == 0) continue;
      body(TiltCase{world.laws[n], S, Tilt(world.laws[n], S),
                    *std::min_element(pi.begin(), pi.end())});
    }
  }
}

}  // namespace gih
