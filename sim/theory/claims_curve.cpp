#include <algorithm>
#include <cmath>
#include <utility>

#include "claims_stages.hpp"

// Stage III: J~(X; r) between its ends, for every set S and not for S* alone.

namespace gih {
namespace {

constexpr int grid = 20;

template <class Body>
void each_value(const World& world, Body body) {
  each_tilt_case(world, [&](const TiltCase& on) {
    for (std::size_t X = 0; X < on.tilt.values(); ++X) {
      if (on.tilt.D_plus(X) > 1e-12) body(on, X);
    }
  });
}

void convex(const World& world, double sign, Tally& tally) {
  each_value(world, [&](const TiltCase& on, std::size_t X) {
    for (int j = 1; j < grid; ++j) {
      const double ends = on.tilt.J(X, (j - 1.0) / grid) + on.tilt.J(X, (j + 1.0) / grid);
      const double middle = 2.0 * on.tilt.J(X, static_cast<double>(j) / grid);
      tally.at_most(sign * (middle - ends) / on.tilt.D_plus(X), 0.0);
    }
  });
}
void check_convex(const World& world, Tally& tally) {
  convex(world, 1.0, tally);
}
void counter_convex(Tally& tally) {
  convex(worlds().front(), -1.0, tally);
}

void bounded(const World& world, bool larger, Tally& tally) {
  each_value(world, [&](const TiltCase& on, std::size_t X) {
    const double least = std::min(on.tilt.D_0(X), on.tilt.D_1(X));
    for (int j = 0; j <= grid; ++j) {
      const double J = on.tilt.J(X, static_cast<double>(j) / grid);
      tally.at_most(J / (larger ? on.tilt.D_plus(X) : least), 1.0);
    }
  });
}
void check_bounded(const World& world, Tally& tally) {
  bounded(world, true, tally);
}
void counter_bounded(Tally& tally) {
  bounded(worlds().front(), false, tally);
}

void lipschitz(const World& world, bool by_gamma, Tally& tally) {
  each_value(world, [&](const TiltCase& on, std::size_t X) {
    const double constant = on.tilt.D_plus(X) / (by_gamma ? on.gamma : 1.0);
    for (int j = 0; j <= grid; ++j) {
      for (int k = 0; k < j; ++k) {
        const double apart = static_cast<double>(j - k) / grid;
        const double J = on.tilt.J(X, static_cast<double>(j) / grid);
        const double other = on.tilt.J(X, static_cast<double>(k) / grid);
        tally.at_most(std::abs(J - other) / (constant * apart), 1.0);
      }
    }
  });
}
void check_lipschitz(const World& world, Tally& tally) {
  lipschitz(world, true, tally);
}
void counter_lipschitz(Tally& tally) {
  lipschitz(worlds().front(), false, tally);
}

void ratios(const World& world, bool by_gamma, Tally& tally) {
  each_value(world, [&](const TiltCase& on, std::size_t X) {
    const double most = by_gamma ? 1.0 / on.gamma : 1.0;
    tally.at_most(on.tilt.D_plus(X) / on.tilt.D_1(X) / most, 1.0);
    tally.at_most(on.tilt.D_plus(X) / on.tilt.D_0(X) / most, 1.0);
  });
}
void check_ratios(const World& world, Tally& tally) {
  ratios(world, true, tally);
}
void counter_ratios(Tally& tally) {
  ratios(worlds().front(), false, tally);
}

void ends_of_r(const World& world, bool exchanged, Tally& tally) {
  each_tilt_case(world, [&](const TiltCase& on) {
    for (const double a : {0.1, 1.0, 3.0, 10.0}) {
      double low = 1.0 / (1.0 + on.tilt.largest_m() * (std::exp(a) - 1.0));
      double high = 1.0 / (1.0 + on.tilt.smallest_m() * (std::exp(a) - 1.0));
      if (exchanged) std::swap(low, high);
      for (std::size_t X = 0; X < on.tilt.values(); ++X) {
        tally.at_most(low / on.tilt.r(X, a), 1.0);
        tally.at_most(on.tilt.r(X, a) / high, 1.0);
      }
    }
  });
}
void check_ends(const World& world, Tally& tally) {
  ends_of_r(world, false, tally);
}
void counter_ends(Tally& tally) {
  ends_of_r(worlds().front(), true, tally);
}

/// |J / D - 1| <= gamma^-2 reach(a), D at r = end.
template <class Reach>
void near_end(const World& world, double end, const std::vector<double>& as, Reach reach,
              Tally& tally) {
  each_value(world, [&](const TiltCase& on, std::size_t X) {
    for (const double a : as) {
      const double J = on.tilt.J(X, on.tilt.r(X, a));
      const double allowed = reach(on, a) / (on.gamma * on.gamma);
      tally.at_most(std::abs(J / on.tilt.J(X, end) - 1.0) / allowed, 1.0);
    }
  });
}
double to_one(const TiltCase& on, double a) {
  return on.tilt.largest_m() * std::expm1(a);
}
double to_zero(const TiltCase& on, double a) {
  return 1.0 / (1.0 + on.tilt.smallest_m() * std::expm1(a));
}
void check_E32(const World& world, Tally& tally) {
  near_end(world, 1.0, {1e-4, 0.01, 0.1, 1.0}, to_one, tally);
}
void counter_E32(Tally& tally) {
  near_end(worlds().front(), 0.0, {1e-4}, to_one, tally);
}
void check_E33(const World& world, Tally& tally) {
  near_end(world, 0.0, {1.0, 4.0, 8.0, 12.0}, to_zero, tally);
}
void counter_E33(Tally& tally) {
  near_end(worlds().front(), 1.0, {12.0}, to_zero, tally);
}

}  // namespace

std::vector<Claim> curve_claims() {
  return {
      {"Prop E.5", "J~(X; r) is convex in r.", "Proposition E.5", Mode::exact, true, check_convex,
       counter_convex, "the sign: concave"},
      {"Prop E.5.bound", "J~(X; r) <= D_+ = max(D_0, D_1).", "Proposition E.5", Mode::exact, true,
       check_bounded, counter_bounded, "min(D_0, D_1) in the place of the maximum"},
      {"Prop E.5.Lipschitz", "|J~(X; r) - J~(X; r')| <= gamma^-1 D_+ |r - r'|.", "Proposition E.5",
       Mode::exact, true, check_lipschitz, counter_lipschitz, "gamma^-1 is left out"},
      {"D_+", "D_+ <= D_1 / gamma and D_+ <= D_0 / gamma.", "sec. E.4", Mode::exact, true,
       check_ratios, counter_ratios, "gamma^-1 is left out"},
      {"r bounds", "1 / (1 + max m (e^a - 1)) <= r_pi(X; a) <= 1 / (1 + min m (e^a - 1)).",
       "sec. E.4", Mode::exact, true, check_ends, counter_ends, "max m and min m exchanged"},
      {"E.32", "|J / D_1 - 1| <= gamma^-2 max m (e^a - 1).", "E.32", Mode::exact, true, check_E32,
       counter_E32, "D_0 in the place of D_1"},
      {"E.33", "|J / D_0 - 1| <= gamma^-2 r^+(a).", "E.33", Mode::exact, true, check_E33,
       counter_E33, "D_1 in the place of D_0"},
  };
}

}  // namespace gih
