// (E.7), (E.30) and each step on the way there: sections E.2 to E.4.

#include <algorithm>
#include <cmath>
#include <limits>

#include "claim_cases.hpp"
#include "claims_groups.hpp"
#include "gih/model/reference_engine.hpp"
#include "loss_chains.hpp"
#include "mixing_bounds.hpp"

namespace gih {
namespace {

double least_token(const LossCase& given) {
  const auto mu = window_law(given.assumed, given.M).of_tokens();
  return *std::min_element(mu.begin(), mu.end());
}

double least_entry(const LossCase& given) {
  return *std::min_element(given.assumed.pi.begin(), given.assumed.pi.end());
}

/// Bound of the step from ybar and eps to mu, C = 1.
double frequency_bound(const LossCase& given) {
  return (2.0 * given.eps_assumed + std::sqrt(token_chi_square(given))) / least_token(given);
}

double independence_bound(const LossCase& given, int size) {
  return MixingBounds(given.assumed, given.start, given.M, given.L).joint(size) /
         least_token(given);
}

/// |g_step - g_{step+1}| of every subset.
void check_g(const LossCase& given, int step, Tally& tally) {
  const auto g = g_chain(given);
  const auto subsets = given.model.subsets();
  const auto at = static_cast<std::size_t>(step);
  for (std::size_t i = 0; i < subsets.size(); ++i) {
    const double bound = step == 0   ? 4.0 * std::expm1(given.a_assumed)
                         : step == 1 ? frequency_bound(given)
                                     : independence_bound(given, subset_size(subsets[i]));
    tally.at_most(std::abs(g[at][i] - g[at + 1][i]), bound);
  }
}

/// |(e_h - e_i)^T (g_{h,step} - g_{h,step+1})| for h in S and every i; Delta_1 is that of
/// `assumed`.
void check_contrast(const LossCase& given, Subset S, Subset assumed, int step, Tally& tally) {
  const double bound = step == 0   ? 4.0 * delta_1(given.model, given.theta, assumed)
                       : step == 1 ? 8.0 * std::expm1(given.a_assumed)
                       : step == 2 ? 2.0 * frequency_bound(given)
                                   : 4.0 * independence_bound(given, subset_size(S));
  const auto at = static_cast<std::size_t>(step);
  for (int h = 1; h <= given.M; ++h) {
    if ((S >> (h - 1) & 1U) == 0) continue;
    const auto g = contrast_chain(given, S, h);
    for (std::size_t i = 0; i < g[at].size(); ++i) {
      if (i + 1 != static_cast<std::size_t>(h)) {
        tally.at_most(std::abs(g[at][i] - g[at + 1][i]), bound);
      }
    }
  }
}

/// Calls check(case, S*) with the parameters of the world, with some that concentrate on S*, and
/// with some that look for nothing else.
void each_case(const World& world, const std::function<void(const LossCase&, Subset)>& check) {
  const Subset S_star = chosen_set(world).S_star;
  const Parameters sharp = focused(world.model, world.theta, S_star);
  Parameters single = sharp;
  single.w.diagonal().array() += 20.0;
  single.c = (sharp.c.array() == sharp.c.maxCoeff()).select(sharp.c, 1e-4 * sharp.c);
  for (const Parameters& theta : {world.theta, sharp, single}) {
    for (const LossCase& given : loss_cases(world, theta)) check(given, S_star);
  }
}

void check_first_f(const LossCase& given, Subset S, Subset assumed, Tally& tally) {
  const FChain chain = f_chain(given, S);
  tally.at_most(std::abs(chain.f[0] - chain.f[1]),
                2.0 * delta_1(given.model, given.theta, assumed));
}

/// f_4 of `given`, the TV of `assumed`.
void check_last_f(const LossCase& given, const LossCase& assumed, Subset S, Tally& tally) {
  const FChain chain = f_chain(given, S);
  tally.at_most(std::abs(chain.f[4] - chain.f[5]), 2.0 * f_chain(assumed, S).apart);
}

/// (E.30) with the sum of the five errors for xi; f_5 at `population`'s a.
void check_growth(const LossCase& given, const LossCase& population, Subset S, double gamma,
                  Tally& tally) {
  const FChain chain = f_chain(given, S);
  const WindowPairs pairs(given.model.d, given.theta.w);
  const double Delta_1 = delta_1(given.model, given.theta, S);
  const double deltas = Delta_1 + delta_2(pairs, S);
  const double xi = 2.0 * Delta_1 + (2.0 + 3.0 * given.theta.a / given.eps) * deltas +
                    (chain.l1 + 2.0 * given.eps) / gamma +
                    std::max(1.0 / gamma - 1.0, 1.0) * chain.l1 + 2.0 * chain.apart;
  tally.at_most(std::abs(chain.f[0] - f_chain(population, S).f[5]), xi);
}

/// d_t log c_S^2 of the masked loss, by the reference engine over all sequences.
Eigen::VectorXd growth_of_c(const World& world, const Parameters& theta) {
  ModelSpec masked = world.model;
  masked.mask = true;
  std::vector<ReferenceQuestion> questions;
  for (const Kernel& kernel : world.kernels) {
    each_sequence(kernel, world.start, world.L, [&](std::span<const Token> x, double probability) {
      std::vector<double> target(static_cast<std::size_t>(world.d()), 0.0);
      target[x.back()] = 1.0;
      questions.push_back({{x.begin(), x.end() - 1},
                           target,
                           probability / static_cast<double>(world.kernels.size())});
    });
  }
  const auto engine = make_reference_engine(masked, {world.eps}, std::move(questions));
  const Parameters gradient = engine->evaluate(theta, {.c = true}, false).gradient;
  return -2.0 * gradient.c.cwiseQuotient(theta.c);
}

/// (E.7), with E_pi f and with its population form sum_S p_S g_{3,S}; bounds divide by C_D.
void check_rates(const World& world, const Parameters& theta, double C_D, Tally& tally) {
  const auto subsets = world.subsets();
  const Eigen::VectorXd growth = growth_of_c(world, theta);
  const auto count = static_cast<double>(world.kernels.size());
  std::vector<double> g_0(subsets.size(), 0.0), g(g_0), error(g_0);
  double f = 0.0, f_population = 0.0;
  for (const Kernel& kernel : world.kernels) {
    const ChainCase chain{kernel, kernel, world.start, world.M(), world.L};
    const LossCase given{chain, world.model, theta, world.eps, theta.a, world.eps};
    const auto members = g_chain(given);
    const MixingBounds bounds(kernel, world.start, world.M(), world.L);
    const WindowLaw law = window_law(kernel, world.M());
    const double mu_min = least_token(given);
    f += f_0(given) / count;
    for (std::size_t i = 0; i < subsets.size(); ++i) {
      g_0[i] += members[0][i] / count;
      g[i] += members[3][i] / count;
      error[i] += (4.0 * std::expm1(theta.a) +
                   (2.0 * world.eps + std::sqrt(bounds.empirical(law, 0))) / mu_min +
                   bounds.joint(subset_size(subsets[i])) / mu_min) /
                  count;
    }
  }
  const Eigen::VectorXd p = theta.p();
  for (std::size_t i = 0; i < g.size(); ++i) f_population += p(static_cast<Eigen::Index>(i)) * g[i];
  const double worst = *std::max_element(error.begin(), error.end());
  const double rate = 4.0 * theta.a / theta.C_D();
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double left = growth(static_cast<Eigen::Index>(i));
    tally.equal(left, rate * (g_0[i] - f));
    tally.at_most(std::abs(left - rate * (g[i] - f)), 4.0 * theta.a / C_D * error[i]);
    tally.at_most(std::abs(left - rate * (g[i] - f_population)), 8.0 * theta.a / C_D * worst);
  }
}

/// Tokens take turns exactly, and the loss has a larger eps than the bound.
LossCase large_eps(int M) {
  LossCase given = plain_case(repeating_chain(0.0), repeating_chain(0.0), 8 + M, M);
  given.eps = 0.5;
  return given;
}

/// Scores up to 500 on a chain with something to learn.
LossCase unbounded(int M) {
  LossCase given = plain_case(repeating_chain(0.2), repeating_chain(0.2), 9, M);
  given.theta.a = 10.0;
  given.a_assumed = 0.02;
  return given;
}

std::vector<Claim> g_claims() {
  return {
      {"g0-g1", "|g_{0,S} - g_{1,S}| <= 4 (e^a - 1) for every S.", "sec. E.2, ours", Mode::exact,
       true,
       [](const World& world, Tally& tally) {
         each_case(world, [&](const LossCase& given, Subset) { check_g(given, 0, tally); });
       },
       [](Tally& tally) { check_g(unbounded(1), 0, tally); },
       "scores as large as 500 in place of at most 1"},
      {"g1-g2", "|g_{1,S} - g_{2,S}| <= (2 eps + sqrt(E chi2)) / min mu for every S.",
       "sec. E.2, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_case(world, [&](const LossCase& given, Subset) { check_g(given, 1, tally); });
       },
       [](Tally& tally) { check_g(large_eps(1), 1, tally); },
       "the loss has eps = 0.5, the bound eps = 1e-6"},
      {"g2-g3", "|g_{2,S} - g_{3,S}| <= F17(|S|) / min mu for every S.", "sec. E.2, ours",
       Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_case(world, [&](const LossCase& given, Subset) { check_g(given, 2, tally); });
       },
       [](Tally& tally) {
         check_g(plain_case(repeating_chain(0.95), repeating_chain(0.5), 9), 2, tally);
       },
       "Lambda is that of a chain that forgets at once; the sequences do not"},
      {"E.7",
       "d_t log c_S^2 is (4a/C_D) (E g_{3,S} - E f) within (4a/C_D) Err(S), and within (8a/C_D) "
       "max Err "
       "with sum p g_3 in place of f, Err = 4 (e^a - 1) + (2 eps + sqrt(F18) + F17) / min mu.",
       "E.7, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         Parameters slow = world.theta;
         slow.a = 0.05;
         for (const Parameters& theta : {world.theta, slow}) {
           check_rates(world, theta, theta.C_D(), tally);
         }
       },
       [](Tally& tally) {
         Parameters small = worlds().front().theta;
         small.c *= 1e-4;
         check_rates(worlds().front(), small, 1.0, tally);
       },
       "the bound has C_D = 1, the model about 1e-8"},
  };
}

std::vector<Claim> contrast_claims() {
  return {
      {"gh0-gh1",
       "Dropping all sets but S* changes (e_h - e_i)^T g_h by at most 4 Delta_1, h in S*.",
       "sec. E.3, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_case(world, [&](const LossCase& g, Subset S) { check_contrast(g, S, S, 0, tally); });
       },
       [](Tally& tally) { check_contrast(on_one(), 0b10, 0b1, 0, tally); },
       "p and Delta_1 are those of {1}, S* is {2}"},
      {"gh1-gh2", "Uniform attention changes (e_h - e_i)^T g_h by at most 8 (e^a - 1), h in S*.",
       "sec. E.3, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_case(world, [&](const LossCase& g, Subset S) { check_contrast(g, S, S, 1, tally); });
       },
       [](Tally& tally) { check_contrast(unbounded(2), 0b1, 0b1, 1, tally); },
       "scores as large as 500 in place of at most 1"},
      {"gh2-gh3",
       "mu in place of ybar and eps changes (e_h - e_i)^T g_h by at most 2 (2 eps + sqrt(E chi2)) "
       "/ "
       "min mu, h in S*.",
       "sec. E.3, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_case(world, [&](const LossCase& g, Subset S) { check_contrast(g, S, S, 2, tally); });
       },
       [](Tally& tally) { check_contrast(large_eps(2), 0b1, 0b1, 2, tally); },
       "the loss has eps = 0.5, the bound eps = 1e-6"},
      {"gh3-gh4",
       "Independent windows change (e_h - e_i)^T g_h by at most 4 F17(|S*|) / min mu, h in S*.",
       "sec. E.3, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_case(world, [&](const LossCase& g, Subset S) { check_contrast(g, S, S, 3, tally); });
       },
       [](Tally& tally) {
         const LossCase given = plain_case(repeating_chain(0.02), repeating_chain(0.5), 14, 2);
         check_contrast(given, 0b1, 0b1, 3, tally);
       },
       "Lambda is that of a chain that forgets at once; the sequences do not"},
  };
}

std::vector<Claim> f_claims() {
  return {
      {"f0-f1", "|f_0 - f_1| <= 2 Delta_1.", "sec. E.4, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_case(world, [&](const LossCase& g, Subset S) { check_first_f(g, S, S, tally); });
       },
       [](Tally& tally) { check_first_f(on_one(), 0b10, 0b1, tally); },
       "p and Delta_1 are those of {1}, S* is {2}"},
      {"f4-f5", "|f_4 - f_5| <= 2 TV(law of (x_{L+1}, X_{L+1-S*}), mu).", "sec. E.4, ours",
       Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_case(world,
                   [&](const LossCase& given, Subset S) { check_last_f(given, given, S, tally); });
       },
       [](Tally& tally) {
         const Kernel kernel{2, {1}, {0.99, 0.01, 0.3, 0.7}};
         LossCase given = plain_case(kernel, kernel, 3), stationary = given;
         given.start = {0.0, 1.0};
         stationary.start = {30.0 / 31.0, 1.0 / 31.0};
         check_last_f(given, stationary, 0b1, tally);
       },
       "the TV is that of a stationary start, the sequences start with the rare token"},
      {"E.30",
       "d_t a = f_0 is f_5 within xi = 2 Delta_1 + (2 + 3 a/eps) (Delta_1 + Delta_2) + (l1 + 2 "
       "eps)/gamma "
       "+ max(1/gamma - 1, 1) l1 + 2 TV.",
       "E.29, E.30, ours", Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_case(world, [&](const LossCase& given, Subset S) {
           check_growth(given, given, S, least_entry(given), tally);
         });
       },
       [](Tally& tally) {
         LossCase given = plain_case(repeating_chain(0.0), repeating_chain(0.0), 9), other = given;
         other.theta.a = 5.0;
         check_growth(given, other, 0b1, 0.1, tally);
       },
       "f_5 at a = 5, the model at a = 1"},
  };
}

}  // namespace

std::vector<Claim> chain_claims() {
  std::vector<Claim> all = g_claims();
  for (const auto& group : {contrast_claims(), f_claims()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

}  // namespace gih
