#include <algorithm>
#include <cmath>

#include "claims_stages.hpp"

// Stage III: a moves, p is on S* and each head on its own lag. What f_5 is made of; the statements
// hold for every set S, not for S* alone.

namespace gih {
namespace {

constexpr double attentions[] = {0.1, 1.0, 3.0};

/// body(X, tilted law given X, index of the values of Z_{-S}) once a value X of X_{-S}.
template <class Body>
void each_tilt(const TiltCase& on, double a, Body body) {
  const auto index = restriction(on.law.d, on.law.M, on.S);
  std::vector<bool> seen(on.tilt.values(), false);
  for (std::size_t window = 0; window < index.size(); ++window) {
    if (seen[index[window]]) continue;
    seen[index[window]] = true;
    body(index[window], tilted_law(on.law, on.S, window, a), index);
  }
}

/// Law of the token under a tilted law; of those windows alone that agree when `agree` is given.
Eigen::VectorXd tokens(const TiltCase& on, const std::vector<double>& tilted,
                       const std::vector<std::uint32_t>& index,
                       const std::size_t* agree = nullptr) {
  const auto d = static_cast<std::size_t>(on.law.d);
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(on.law.d);
  for (std::size_t Z = 0; Z < index.size(); ++Z) {
    if (agree != nullptr && index[Z] != *agree) continue;
    for (std::size_t z = 0; z < d; ++z) sum(static_cast<Eigen::Index>(z)) += tilted[Z * d + z];
  }
  return sum;
}

// ---- rows -------------------------------------------------------------------------------------

/// shift: 1 in e^a - 1.
void tilt_of_law(const World& world, double shift, Tally& tally) {
  each_tilt_case(world, [&](const TiltCase& on) {
    for (const double a : attentions) {
      each_tilt(on, a, [&](std::size_t X, const auto& tilted, const auto& index) {
        const double r = 1.0 / (1.0 + on.tilt.m(X) * (std::exp(a) - shift));
        const auto d = static_cast<std::size_t>(on.law.d);
        for (std::size_t Z = 0; Z < index.size(); ++Z) {
          const double factor = index[Z] == X ? std::exp(a) : 1.0;
          for (std::size_t z = 0; z < d; ++z) {
            tally.equal(tilted[Z * d + z], on.law.joint[Z * d + z] * factor * r);
          }
        }
      });
    }
  });
}
void check_E27(const World& world, Tally& tally) {
  tilt_of_law(world, 1.0, tally);
}
void counter_E27(Tally& tally) {
  tilt_of_law(worlds().front(), 0.0, tally);
}

/// exchanged: r in the place of 1 - r.
void next_token(const World& world, bool exchanged, Tally& tally) {
  each_tilt_case(world, [&](const TiltCase& on) {
    for (const double a : attentions) {
      each_tilt(on, a, [&](std::size_t X, const auto& tilted, const auto& index) {
        const double r = exchanged ? 1.0 - on.tilt.r(X, a) : on.tilt.r(X, a);
        const Eigen::VectorXd next = tokens(on, tilted, index);
        const Eigen::VectorXd mixed = r * on.tilt.mu() + (1.0 - r) * on.tilt.given(X);
        for (Eigen::Index z = 0; z < next.size(); ++z) tally.equal(next(z), mixed(z));
      });
    }
  });
}
void check_E35(const World& world, Tally& tally) {
  next_token(world, false, tally);
}
void counter_E35(Tally& tally) {
  next_token(worlds().front(), true, tally);
}

void agreeing(const World& world, double power, Tally& tally) {
  each_tilt_case(world, [&](const TiltCase& on) {
    for (const double a : attentions) {
      each_tilt(on, a, [&](std::size_t X, const auto& tilted, const auto& index) {
        const Eigen::VectorXd next = tokens(on, tilted, index, &X);
        const double share = std::exp(power * a) * on.tilt.r(X, a) * on.tilt.m(X);
        const Eigen::VectorXd given = on.tilt.given(X);
        for (Eigen::Index z = 0; z < next.size(); ++z) tally.equal(next(z), share * given(z));
      });
    }
  });
}
void check_E36(const World& world, Tally& tally) {
  agreeing(world, 1.0, tally);
}
void counter_E36(Tally& tally) {
  agreeing(worlds().front(), 0.0, tally);
}

void signal(const World& world, double power, Tally& tally) {
  each_tilt_case(world, [&](const TiltCase& on) {
    for (const double a : attentions) {
      const double exact = f5_by_definition(on.law, on.S, a);
      double first = 0.0, second = 0.0;
      for (std::size_t X = 0; X < on.tilt.values(); ++X) {
        const double r = on.tilt.r(X, a), m = on.tilt.m(X);
        first += m * std::exp(a) * m * std::pow(r, power) * on.tilt.J(X, r);
        const Eigen::ArrayXd given = on.tilt.given(X).array();
        const double ratio =
            (given.square() / (r * on.tilt.mu().array() + (1.0 - r) * given)).sum();
        second += m * std::exp(a) * m * r * (ratio - 1.0);
      }
      tally.equal(exact, first);
      tally.equal(exact, second);
      tally.equal(first, on.tilt.f5(a));
    }
  });
}
void check_E4(const World& world, Tally& tally) {
  signal(world, 3.0, tally);
}
void counter_E4(Tally& tally) {
  signal(worlds().front(), 2.0, tally);
}

void positive(const World& world, Tally& tally) {
  each_tilt_case(world, [&](const TiltCase& on) {
    for (int a = 0; a <= 12; ++a) tally.require(on.tilt.f5(a) * std::exp(2.0 * a) > 1e-14);
  });
}
void counter_positive(Tally& tally) {
  World world = worlds().front();
  world.kernels = {{2, {1, 2}, {0.7, 0.3, 0.7, 0.3, 0.7, 0.3, 0.7, 0.3}}};
  world.laws = {window_law(world.kernels.front(), world.M())};
  positive(world, tally);
}

/// exchanged: the two ends of r.
void curve(const World& world, bool exchanged, Tally& tally) {
  const double one = exchanged ? 0.0 : 1.0;
  each_tilt_case(world, [&](const TiltCase& on) {
    for (const double a : attentions) {
      each_tilt(on, a, [&](std::size_t X, const auto& tilted, const auto& index) {
        const Eigen::ArrayXd p = on.tilt.given(X).array(), q = on.tilt.mu().array();
        const Eigen::ArrayXd next = tokens(on, tilted, index).array();
        tally.equal(on.tilt.J(X, on.tilt.r(X, a)), ((p - q).square() / next).sum());
        tally.equal(on.tilt.J(X, one), (p.square() / q).sum() - 1.0);
        tally.equal(on.tilt.J(X, 1.0 - one), (q.square() / p).sum() - 1.0);
      });
    }
  });
}
void check_E31(const World& world, Tally& tally) {
  curve(world, false, tally);
}
void counter_E31(Tally& tally) {
  curve(worlds().front(), true, tally);
}

}  // namespace

std::vector<Claim> growth_claims() {
  return {
      {"E.27",
       "The tilted law is mu(z, Z) e^{a 1(Z_{-S} = X_{-S})} / (1 + m (e^a - 1)), m = mu(X_{-S}).",
       "E.27", Mode::exact, true, check_E27, counter_E27, "e^a in the place of e^a - 1"},
      {"E.35",
       "The tilted law of the token is r mu(z) + (1 - r) mu(z|X), r = 1 / (1 + m (e^a - 1)).",
       "E.35", Mode::exact, true, check_E35, counter_E35, "r and 1 - r exchanged"},
      {"E.36", "The tilted law of a token with an agreeing window is e^a r m mu(z|X).", "E.36",
       Mode::exact, true, check_E36, counter_E36, "the factor e^a is left out"},
      {"Prop E.4",
       "f_5 (E.28) = E[e^a m r^3 J(X; a)] = E[e^a m r (sum_x mu(x|X)^2 / (r mu(x) + (1-r) mu(x|X)) "
       "- 1)].",
       "Proposition E.4, E.28", Mode::exact, true, check_E4, counter_E4, "r^2 in the place of r^3"},
      {"f_5 positive",
       "f_5 is positive at every a where some lag of S tells something of the next token.",
       "sec. E.4", Mode::exact, true, positive, counter_positive,
       "a kernel that forgets: its rows are equal"},
      {"E.31",
       "J~(X; r) is J at r_pi(X; a), chi2(mu(.|X) || mu) at r = 1, chi2(mu || mu(.|X)) at r = 0.",
       "E.31", Mode::exact, true, check_E31, counter_E31, "r = 0 and r = 1 exchanged"},
  };
}

}  // namespace gih
