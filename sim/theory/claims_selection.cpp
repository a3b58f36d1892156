#include <algorithm>
#include <cmath>

#include "claims_stages.hpp"

// Stage I: c moves, w stands still, a is small.

namespace gih {

namespace {

Subset every_head(const World& world) {
  return (Subset{1} << world.M()) - 1;
}

std::vector<Matrix> weights_meeting(const World& world, const ExactChoice& choice, double k) {
  return {meeting(world, choice, k), barely_meeting(world, choice, k)};
}

/// Dw = 0.
Matrix alike(const World& world) {
  return Matrix::Zero(world.M(), world.M());
}

double bracket(const ExactChoice& choice, double Pi) {
  return Pi * choice.gap - 2.0 * (1.0 - Pi) * choice.I_star;
}

/// Of d_t log c_S^2 in the exact flow at L = inf.
Eigen::VectorXd log_rates(Objective& objective, const Parameters& theta) {
  const Parameters gradient = objective.evaluate(theta, {.c = true}, false).gradient;
  return -2.0 * gradient.c.cwiseQuotient(theta.c);
}

/// Largest a for which the error of the second attention's first order is what (E.11) allows.
double small_a(const ExactChoice& choice) {
  return std::log1p(13.0 * choice.gap / 192.0);
}

// ---- rows -------------------------------------------------------------------------------------

/// winner: the subset that is compared with the others.
void rate_bound(const World& world, const ExactChoice& choice, std::size_t winner, const Matrix& w,
                Tally& tally) {
  const auto gain = stage_one_gain(world.laws, world.model, w);
  const double least = bracket(choice, focus(w, every_head(world)));
  for (std::size_t S = 0; S < gain.size(); ++S) {
    if (S != winner) tally.at_most(least, gain[winner] - gain[S]);
  }
}

void check_E8(const World& world, Tally& tally) {
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  if (!choice.decided) return;
  for (const Matrix& w :
       {world.theta.w, focused(world.theta.w, 3.0), focused(world.theta.w, 30.0)}) {
    rate_bound(world, choice, choice.index, w, tally);
  }
}

void counter_E8(Tally& tally) {
  const World& world = worlds().front();
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  const std::size_t other = choice.index == 0 ? 1 : 0;
  rate_bound(world, choice, other, focused(world.theta.w, 30.0), tally);
}

void check_E11(const World& world, Tally& tally) {
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  if (!choice.decided) return;
  for (const double k : {k_first, k_both}) {
    for (const Matrix& w : weights_meeting(world, choice, k)) {
      tally.at_most(2.0 / 3.0, bracket(choice, focus(w, every_head(world))) / choice.gap);
    }
  }
}

void counter_E11(Tally& tally) {
  const World& world = worlds().front();
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  for (const Matrix& w : weights_meeting(world, choice, 1.0)) {
    tally.at_most(2.0 / 3.0, bracket(choice, focus(w, every_head(world))) / choice.gap);
  }
}

void rate_form(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  Parameters theta = world.theta;
  theta.w = w;
  theta.a = small_a(choice);
  const auto rates = log_rates(*limit_objective(world.kernels, world.model), theta);
  const double least = theta.a * choice.gap / (2.0 * theta.C_D());
  const auto winner = static_cast<Eigen::Index>(choice.index);
  for (Eigen::Index S = 0; S < rates.size(); ++S) {
    if (S != winner) tally.at_most(1.0, (rates(winner) - rates(S)) / least);
  }
}

void check_E12(const World& world, Tally& tally) {
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  if (!choice.decided) return;
  for (const Matrix& w : weights_meeting(world, choice, k_first))
    rate_form(world, choice, w, tally);
}

void counter_E12(Tally& tally) {
  const World& world = worlds().front();
  rate_form(world, choose_exactly(world.laws, world.model), alike(world), tally);
}

/// weighted: with the shares p_S, as it must be.
void growth_of_share(const World& world, bool weighted, Tally& tally) {
  const Parameters& theta = world.theta;
  const auto objective = limit_objective(world.kernels, world.model);
  const Eigen::VectorXd dc = -objective->evaluate(theta, {.c = true}, false).gradient.c;
  const Eigen::VectorXd rates = log_rates(*objective, theta);
  const Eigen::VectorXd p = theta.p();
  const double C_D = theta.C_D();
  for (Eigen::Index S = 0; S < p.size(); ++S) {
    const double dp = 2.0 * theta.c(S) * dc(S) / C_D - p(S) * 2.0 * theta.c.dot(dc) / C_D;
    double sum = 0.0;
    for (Eigen::Index T = 0; T < p.size(); ++T) {
      sum += (weighted ? p(T) : 1.0) * (rates(S) - rates(T));
    }
    tally.equal(dp, p(S) * sum);
  }
}

void check_share(const World& world, Tally& tally) {
  growth_of_share(world, true, tally);
}
void counter_share(Tally& tally) {
  growth_of_share(worlds().front(), false, tally);
}

void closed_form(const World& world, double factor, Tally& tally) {
  const double a = world.theta.a;
  const auto gain = stage_one_gain(world.laws, world.model, world.theta.w);
  const double T = 4.0 * world.theta.C_D() / (a * *std::max_element(gain.begin(), gain.end()));
  const Rate rate = [&](double, const Eigen::VectorXd& c, Eigen::VectorXd& dc) {
    dc = stage_one_rate(c, gain, a);
  };
  const int points = 8;
  const auto states = runge_kutta(rate, world.theta.c, T, points, 1e-11);
  for (int i = 1; i <= points; ++i) {
    const Eigen::VectorXd& c = states[static_cast<std::size_t>(i)];
    const Eigen::VectorXd p = c.cwiseAbs2() / c.squaredNorm();
    const auto exact = stage_one_weights(world.theta.c, gain, factor * a, T * i / points);
    for (Eigen::Index S = 0; S < p.size(); ++S) tally.equal(p(S), exact(S));
  }
}

void check_closed_form(const World& world, Tally& tally) {
  closed_form(world, 1.0, tally);
}
void counter_closed_form(Tally& tally) {
  closed_form(worlds().front(), 0.5, tally);
}

/// 1 - p_{S*}, without cancellation.
double rest(const Eigen::VectorXd& p, std::size_t winner) {
  double sum = 0.0;
  for (Eigen::Index S = 0; S < p.size(); ++S) {
    if (S != static_cast<Eigen::Index>(winner)) sum += p(S);
  }
  return sum;
}

struct FirstStage {
  double share, speed;  ///< p_{S*}(0); a p_{S*}(0) dI / (2 C_D)
  double t_1(double L) const { return std::log(L) / speed; }
};

FirstStage first_stage(const World& world, const ExactChoice& choice, double a) {
  const double share = world.theta.p()(static_cast<Eigen::Index>(choice.index));
  return {share, a * share * choice.gap / (2.0 * world.theta.C_D())};
}

void selection_bound(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  // The limit flow, in closed form.
  const auto gain = stage_one_gain(world.laws, world.model, w);
  const FirstStage stage = first_stage(world, choice, world.theta.a);
  const double end = stage.t_1(world.L);
  for (const double t : {1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0}) {
    const auto p = stage_one_weights(world.theta.c, gain, world.theta.a, t * end);
    tally.at_most(rest(p, choice.index) / ((1.0 - stage.share) * std::exp(-stage.speed * t * end)),
                  1.0);
  }
  // The exact flow at L = inf, whose a is small enough.
  const auto objective = limit_objective(world.kernels, world.model);
  Parameters theta = world.theta;
  theta.w = w;
  theta.a = small_a(choice);
  const Rate rate = [&](double, const Eigen::VectorXd& c, Eigen::VectorXd& dc) {
    theta.c = c;
    dc = -objective->evaluate(theta, {.c = true}, false).gradient.c;
  };
  const FirstStage exact = first_stage(world, choice, theta.a);
  const int points = 16;
  const double T = exact.t_1(world.L) / 16.0;
  const auto states = runge_kutta(rate, world.theta.c, T, points, 1e-6);
  for (int i = 1; i <= points; ++i) {
    const Eigen::VectorXd& c = states[static_cast<std::size_t>(i)];
    const Eigen::VectorXd p = c.cwiseAbs2() / c.squaredNorm();
    const double bound = (1.0 - exact.share) * std::exp(-exact.speed * T * i / points);
    tally.at_most(rest(p, choice.index) / bound, 1.0);
  }
}

void check_theorem(const World& world, Tally& tally) {
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  if (!choice.decided) return;
  for (const Matrix& w : weights_meeting(world, choice, k_both))
    selection_bound(world, choice, w, tally);
}

void counter_theorem(Tally& tally) {
  const World& world = worlds().front();
  selection_bound(world, choose_exactly(world.laws, world.model), alike(world), tally);
}

void end_of_stage(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  const auto gain = stage_one_gain(world.laws, world.model, w);
  const FirstStage stage = first_stage(world, choice, world.theta.a);
  for (const double L : {static_cast<double>(world.L), 100.0, 1e4, 1e8}) {
    const auto p = stage_one_weights(world.theta.c, gain, world.theta.a, stage.t_1(L));
    tally.at_most(L * rest(p, choice.index), 1.0);
  }
}

void check_t1(const World& world, Tally& tally) {
  const ExactChoice choice = choose_exactly(world.laws, world.model);
  if (!choice.decided) return;
  for (const Matrix& w : weights_meeting(world, choice, k_both))
    end_of_stage(world, choice, w, tally);
}

void counter_t1(Tally& tally) {
  const World& world = worlds().front();
  end_of_stage(world, choose_exactly(world.laws, world.model), alike(world), tally);
}

}  // namespace

std::vector<Claim> selection_claims() {
  return {
      {"E.8",
       "In the limit flow, log c_{S*}^2 gains on every other log c_S^2 at a rate of at least "
       "(4a/C_D)[Pi dI - 2 (1 - Pi) I*], Pi = prod_h (sigma^(h)_{-h})^2.",
       "E.8", Mode::exact, true, check_E8, counter_E8, "another subset stands in the place of S*"},
      {"E.11", "Where w meets (3.6) with k = 8 or 14, Pi dI - 2 (1 - Pi) I* is at least (2/3) dI.",
       "E.11", Mode::exact, true, check_E11, counter_E11,
       "Dw too small: (3.6) holds with k = 1 only"},
      {"E.12",
       "Where w meets (3.6) and e^a - 1 <= 13 dI / 192, the exact flow at L = inf lets "
       "log c_{S*}^2 gain at a rate of at least a dI / (2 C_D).",
       "E.12", Mode::exact, true, check_E12, counter_E12,
       "Dw = 0: every head looks at every lag alike"},
      {"stage-I.share", "d_t p_S = p_S sum_T p_T (d_t log c_S^2 - d_t log c_T^2).", "sec. E.2",
       Mode::exact, true, check_share, counter_share, "the shares p_T are left out of the sum"},
      {"stage-I.closed-form",
       "At fixed w the limit flow has p_S(t) proportional to p_S(0) exp(4 a G_S t / C_D), "
       "G_S = E g_{3,S}.",
       "ours", Mode::exact, true, check_closed_form, counter_closed_form,
       "2a in the exponent in place of 4a"},
      {"Thm I",
       "Where w meets (3.6), 1 - p_{S*}(t) <= (1 - p_{S*}(0)) exp(-a p_{S*}(0) dI t / (2 C_D)) "
       "along the limit flow, and along the exact flow at L = inf for small a.",
       "Theorem 3.6, stage I", Mode::exact, true, check_theorem, counter_theorem,
       "Dw = 0: every head looks at every lag alike"},
      {"t_1",
       "Where w meets (3.6), 1 - p_{S*} <= 1/L from t_1 = 2 C_D log L / (a p_{S*}(0) dI) on.",
       "Theorem 3.6, stage I", Mode::exact, true, check_t1, counter_t1,
       "Dw = 0: every head looks at every lag alike"},
  };
}

}  // namespace gih
