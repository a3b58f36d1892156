#pragma once
// Chains on which hypotheses break, for counter-examples, and the laws mu_0 that claims are checked
// with.

#include <vector>

#include "gih/theory/worlds.hpp"
#include "prompt_sums.hpp"

namespace gih {

/// Two tokens, one parent: the last token is repeated with probability `stay`.
Kernel repeating_chain(double stay);

/// Two tokens, lags 1 and 2, that look at neither but for a trace: pi(1 | ...) = 0.5 + trace when
/// lag 2 is 1.
Kernel nearly_fair_chain(double trace);

/// All mass on one state.
std::vector<double> point_mass(std::size_t states, std::size_t at);

/// A chain, and what a bound takes it for. They are the same wherever a claim holds.
struct ChainCase {
  Kernel drawn;    ///< law of the sequences
  Kernel assumed;  ///< whose mu, gamma, Lambda the bound is made of
  std::vector<double> start;
  int M, L;
};

/// Of every kernel of a world: with its mu_0, and from the state that mu visits least.
std::vector<ChainCase> chain_cases(const World& world);

/// A case with a model on it, and the a and eps that a bound takes it to have.
struct LossCase : ChainCase {
  ModelSpec model;
  Parameters theta;
  double eps;
  double a_assumed, eps_assumed;
};

/// Of every chain_cases(world), at theta.
std::vector<LossCase> loss_cases(const World& world, const Parameters& theta);

/// Head h attends to lag h with nearly all its weight, p_S is nearly 1.
Parameters focused(const ModelSpec& model, const Parameters& theta, Subset S);

/// Two tokens, M heads that attend to their lags alone, D = 1, all of p on {1}, a = 1, eps = 1e-6,
/// uniform start: nothing errs but what the chain does.
LossCase plain_case(const Kernel& drawn, const Kernel& assumed, int L, int M = 1);

/// The worked example with heads that attend to their lags alone and p on {1} alone.
LossCase on_one();

/// plain_case with scores as large as 500 that a bound takes for scores in [0, 1].
LossCase not_normalised();

/// Calls visit for every sequence of the case.
void each_prompt(const ChainCase& given, const std::function<void(const Prompt&)>& visit);

/// Calls check(case, S) for each nonempty S of the model, with the parameters of the world and with
/// some that concentrate on S.
void each_set(const World& world, const std::function<void(const LossCase&, Subset)>& check);

/// Delta_1 = 1 - p_S and Delta_2 = 1 - prod_{h in S} (sigma^(h)_{-h})^2 (F.1).
double delta_1(const ModelSpec& model, const Parameters& theta, Subset S);
double delta_2(const WindowPairs& pairs, Subset S);

/// argmax of the prior's I~ among the model's subsets, and its value I*.
struct Chosen {
  Subset S_star;
  double I_star;
};
Chosen chosen_set(const World& world);

/// Subsets of the M lags, the empty one included.
std::vector<Subset> lag_subsets(int M);

}  // namespace gih
