#include <algorithm>
#include <cmath>

#include "claims_groups.hpp"
#include "gih/theory/population.hpp"
#include "regimes.hpp"

// Stage III: how fast a grows while it is small and when it is large.

namespace gih {
namespace {

/// Stage III of a prior.
struct Growth : Regimes {
  double contrast = 0.0;  ///< max |mu(x|X) - mu(x)| / min(mu(x|X), mu(x)), at most 1/gamma
};

Growth growth(const std::vector<Kernel>& kernels, const std::vector<WindowLaw>& laws, Subset S) {
  double gamma = 1.0;
  for (const Kernel& kernel : kernels) {
    gamma = std::min(gamma, *std::min_element(kernel.pi.begin(), kernel.pi.end()));
  }
  Growth result{{tilts(laws, S), gamma}};
  for (const Tilt& tilt : result.kernels) {
    for (std::size_t X = 0; X < tilt.values(); ++X) {
      const Eigen::ArrayXd p = tilt.given(X).array(), q = tilt.mu().array();
      result.contrast = std::max(result.contrast, ((p - q).abs() / p.min(q)).maxCoeff());
    }
  }
  return result;
}

/// At the world's S*, for the largest delta and smaller ones, which move the regimes outwards and
/// make their factors sharp.
template <void (*row)(const Growth&, Tally&)>
void at_choice(const World& world, Tally& tally) {
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  if (!choice.decided) return;
  Growth on = growth(world.kernels, world.laws, choice.S_star);
  const double largest = on.delta;
  for (const double part : {1.0, 0.1, 0.01}) {
    on.delta = part * largest;
    row(on, tally);
  }
}

/// The worked example, whose S is {1,2} here.
Growth worked() {
  return growth(worlds().front().kernels, worlds().front().laws, 0b011);
}

/// 16 tokens, each followed by those of its own parity three times as often: every m is 1/16.
Growth parity() {
  constexpr int d = 16;
  Kernel kernel{d, {1}, {}};
  for (int x = 0; x < d; ++x) {
    for (int z = 0; z < d; ++z) kernel.pi.push_back(((x + z) % 2 == 0 ? 1.5 : 0.5) / d);
  }
  return growth({kernel}, {window_law(kernel, 1)}, 1);
}

void between(double low, double value, double high, Tally& tally) {
  tally.at_most(low, value);
  tally.at_most(value, high);
}

// ---- the theorem's two regimes ----------------------------------------------------------------

void small_up_to(const Growth& on, double end, Tally& tally) {
  for (int j = 0; j <= 10; ++j) {
    const double a = end * j / 10.0;
    between(on.low(), on.rate(a) / on.small_form(a), on.high(), tally);
  }
}
void row_small(const Growth& on, Tally& tally) {
  small_up_to(on, on.small_end(), tally);
}
void counter_small(Tally& tally) {
  small_up_to(worked(), 2.0, tally);
}
void row_small_printed(const Growth& on, Tally& tally) {
  small_up_to(on, std::log(1.0 / on.delta), tally);
}
void counter_small_printed(Tally& tally) {
  row_small_printed(worked(), tally);
}

void large_from(const Growth& on, double start, Tally& tally) {
  for (int j = 0; j <= 10; ++j) {
    const double a = start + 0.5 * j;
    between(on.low(), on.rate(a) / on.large_form(a), on.high(), tally);
  }
}
void row_large(const Growth& on, Tally& tally) {
  large_from(on, on.large_start(), tally);
}
void counter_large(Tally& tally) {
  large_from(worked(), 1.0, tally);
}

/// a f_5 would stay within the factors by which f_5 may leave its form.
void row_large_printed(const Growth& on, Tally& tally) {
  const double start = on.large_start();
  const double first = start * on.rate(start);
  for (int j = 1; j <= 10; ++j) {
    const double a = start + 0.5 * j;
    between(on.low() / on.high(), a * on.rate(a) / first, on.high() / on.low(), tally);
  }
}
void counter_large_printed(Tally& tally) {
  row_large_printed(worked(), tally);
}

// ---- slopes of log f_5 ------------------------------------------------------------------------

/// |log f_5(a) - log f_5(0) - slope a|, integrated from |d_a log f_5 - 1| <= (3 + contrast) m e^a
/// r.
void early_slope(const Growth& on, double slope, Tally& tally) {
  for (const double a : {0.01, 0.1, 0.5, 1.0, 2.0}) {
    const double apart = std::abs(std::log(on.rate(a) / on.rate(0.0)) - slope * a);
    tally.at_most(apart / ((3.0 + on.contrast) * std::log1p(on.high_m * std::expm1(a))), 1.0);
  }
}
void row_early_slope(const Growth& on, Tally& tally) {
  early_slope(on, 1.0, tally);
}
void counter_early_slope(Tally& tally) {
  early_slope(parity(), -2.0, tally);
}

/// The same at the other end, from |d_a log f_5 + 2| <= (3 + contrast) r.
void late_slope(const Growth& on, double slope, Tally& tally) {
  for (const double a : {4.0, 6.0, 8.0, 10.0, 12.0}) {
    const double to = a + 2.0, m = on.low_m;
    const double apart = std::abs(std::log(on.rate(to) / on.rate(a)) - slope * 2.0);
    // The integral of r^+ = 1 / (1 - m + m e^s).
    const double sum =
        (2.0 - std::log((1.0 + m * std::expm1(to)) / (1.0 + m * std::expm1(a)))) / (1.0 - m);
    tally.at_most(apart / ((3.0 + on.contrast) * sum), 1.0);
  }
}
void row_late_slope(const Growth& on, Tally& tally) {
  late_slope(on, -2.0, tally);
}
void counter_late_slope(Tally& tally) {
  late_slope(worked(), -1.0, tally);
}

// ---- the flow of a ----------------------------------------------------------------------------

std::vector<double> flow(const Growth& on, double a, double T, int points) {
  const Rate rate = [&](double, const Eigen::VectorXd& y, Eigen::VectorXd& dy) {
    dy(0) = on.rate(y(0));
  };
  std::vector<double> path;
  for (const auto& y : runge_kutta(rate, Eigen::VectorXd::Constant(1, a), T, points, 1e-12)) {
    path.push_back(y(0));
  }
  return path;
}

constexpr int points = 16;

/// e^{-a(0)} - e^{-a(t)} over I* t, until a(T) = end at the latest.
void early_time(const Growth& on, double a, double end, Tally& tally) {
  const double I_star = mean_early(on.kernels);
  const double T = (std::exp(-a) - std::exp(-end)) / (on.high() * I_star);
  const auto path = flow(on, a, T, points);
  for (int n = 1; n <= points; ++n) {
    const double grown = -std::exp(-a) * std::expm1(a - path[static_cast<std::size_t>(n)]);
    between(on.low(), grown / (I_star * T * n / points), on.high(), tally);
  }
}
void row_early_time(const Growth& on, Tally& tally) {
  early_time(on, on.small_end() / 10.0, on.small_end(), tally);
}
void counter_early_time(Tally& tally) {
  early_time(worked(), 1.0, 3.0, tally);
}

/// e^{2a(t)} - e^{2a(0)} over 2 E[m^-2 D_0] t, until e^{2a} has grown tenfold or so.
void late_time(const Growth& on, double a, Tally& tally) {
  const double late = mean_late(on.kernels);
  const double T = 10.0 * std::exp(2.0 * a) / (2.0 * late);
  const auto path = flow(on, a, T, points);
  const double most = on.high() / std::pow(-std::expm1(-a), 3);
  for (int n = 1; n <= points; ++n) {
    const double grown =
        std::exp(2.0 * a) * std::expm1(2.0 * (path[static_cast<std::size_t>(n)] - a));
    between(on.low(), grown / (2.0 * late * T * n / points), most, tally);
  }
}
void row_late_time(const Growth& on, Tally& tally) {
  late_time(on, on.large_start(), tally);
}
void counter_late_time(Tally& tally) {
  late_time(worked(), 1.0, tally);
}

}  // namespace

std::vector<Claim> regime_claims() {
  return {
      {"Thm III small",
       "For a <= log(1 + delta / max m), f_5 is e^a I* up to factors from (1-delta)^3 (1 - "
       "delta/gamma^2) to 1 + delta/gamma^2, delta <= min(gamma^2/4, 1/8).",
       "Theorem 3.6, stage III, threshold corrected", Mode::exact, true, at_choice<row_small>,
       counter_small, "a = 2, beyond the threshold"},
      {"Thm III small.printed", "The same for all a <= log(c_1 / delta), c_1 = 1.",
       "Theorem 3.6, stage III", Mode::exact, false, at_choice<row_small_printed>,
       counter_small_printed, "the threshold as it stands: worked example, S = {1,2}"},
      {"Thm III large",
       "For a >= log(1 + 1 / (delta min m)), f_5 is e^a (e^a - 1)^-3 E[m^-2 D_0], so d_t a ~ "
       "e^{-2a}, "
       "up to the same factors.",
       "Theorem 3.6, stage III, rate corrected", Mode::exact, true, at_choice<row_large>,
       counter_large, "a = 1, before the threshold"},
      {"Thm III large.printed",
       "For those a, a f_5 is constant up to the same factors: d_t a ~ 1/a.",
       "Theorem 3.6, stage III", Mode::exact, false, at_choice<row_large_printed>,
       counter_large_printed, "the rate as it stands: worked example, S = {1,2}"},
      {"slope early",
       "log f_5(a) = log f_5(0) + a up to (3 + kappa) log(1 + max m (e^a - 1)), kappa = max "
       "|mu(x|X) "
       "- mu(x)| / min(mu(x|X), mu(x)): slope 1 where m is small.",
       "ours", Mode::exact, true, at_choice<row_early_slope>, counter_early_slope, "slope -2"},
      {"slope late",
       "log f_5(a') - log f_5(a) = -2 (a' - a) up to (3 + kappa) times the integral of r^+: slope "
       "-2 "
       "where a is large.",
       "ours", Mode::exact, true, at_choice<row_late_slope>, counter_late_slope, "slope -1"},
      {"time early",
       "While a <= log(1 + delta / max m), e^{-a(0)} - e^{-a(t)} is I* t up to the factors of Thm "
       "III.",
       "sec. E.4", Mode::exact, true, at_choice<row_early_time>, counter_early_time,
       "a from 1 on, beyond the threshold"},
      {"time late",
       "From a >= log(1 + 1 / (delta min m)) on, e^{2a(t)} - e^{2a(0)} is 2 E[m^-2 D_0] t up to "
       "the "
       "factors of Thm III, and (1 - e^{-a(0)})^-3 above.",
       "sec. E.4", Mode::exact, true, at_choice<row_late_time>, counter_late_time,
       "a from 1 on, before the threshold"},
  };
}

}  // namespace gih
