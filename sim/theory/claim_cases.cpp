#include "claim_cases.hpp"

#include <algorithm>

#include "gih/data/chain.hpp"
#include "gih/theory/information.hpp"

namespace gih {

Kernel repeating_chain(double stay) {
  return {2, {1}, {stay, 1.0 - stay, 1.0 - stay, stay}};
}

Kernel nearly_fair_chain(double trace) {
  return {2, {1, 2}, {0.5, 0.5, 0.5 - trace, 0.5 + trace, 0.5, 0.5, 0.5 - trace, 0.5 + trace}};
}

std::vector<double> point_mass(std::size_t states, std::size_t at) {
  std::vector<double> law(states, 0.0);
  law[at] = 1.0;
  return law;
}

std::vector<ChainCase> chain_cases(const World& world) {
  std::vector<ChainCase> cases;
  for (const Kernel& kernel : world.kernels) {
    const auto mu = WindowChain(kernel).long_run_law();
    const auto rarest = std::min_element(mu.begin(), mu.end()) - mu.begin();
    cases.push_back({kernel, kernel, world.start, world.M(), world.L});
    cases.push_back({kernel, kernel, point_mass(mu.size(), static_cast<std::size_t>(rarest)),
                     world.M(), world.L});
  }
  return cases;
}

std::vector<LossCase> loss_cases(const World& world, const Parameters& theta) {
  std::vector<LossCase> cases;
  for (const ChainCase& chain : chain_cases(world)) {
    cases.push_back({chain, world.model, theta, world.eps, theta.a, world.eps});
  }
  return cases;
}

Parameters focused(const ModelSpec& model, const Parameters& theta, Subset S) {
  Parameters sharp = theta;
  sharp.w.diagonal().array() += 4.0;
  sharp.c *= 0.1;
  const auto subsets = model.subsets();
  const auto at = std::find(subsets.begin(), subsets.end(), S) - subsets.begin();
  sharp.c(at) = 3.0;
  return sharp;
}

LossCase plain_case(const Kernel& drawn, const Kernel& assumed, int L, int M) {
  const ModelSpec model{.d = 2, .M = M, .H = M, .D = 1};
  Parameters theta{40.0 * Matrix::Identity(M, M), Eigen::VectorXd::Zero(M + 1), 1.0};
  theta.c(1) = 1.0;
  const double eps = 1e-6;
  return {{drawn, assumed, {0.5, 0.5}, M, L}, model, theta, eps, theta.a, eps};
}

LossCase on_one() {
  const World& world = worlds().front();
  LossCase given = loss_cases(world, focused(world.model, world.theta, 0b1)).front();
  given.theta.w.diagonal().array() += 30.0;
  given.theta.c *= 1e-8;
  given.theta.c(1) = 1.0;
  return given;
}

LossCase not_normalised() {
  LossCase given = plain_case(repeating_chain(0.5), repeating_chain(0.5), 9);
  given.theta.a = 10.0;
  given.a_assumed = 0.02;
  return given;
}

void each_prompt(const ChainCase& given, const std::function<void(const Prompt&)>& visit) {
  each_prompt(given.drawn, given.start, given.M, given.L, visit);
}

void each_set(const World& world, const std::function<void(const LossCase&, Subset)>& check) {
  for (const Subset S : world.subsets()) {
    if (S == 0) continue;
    for (const Parameters& theta : {world.theta, focused(world.model, world.theta, S)}) {
      for (const LossCase& given : loss_cases(world, theta)) check(given, S);
    }
  }
}

double delta_1(const ModelSpec& model, const Parameters& theta, Subset S) {
  const auto subsets = model.subsets();
  const Eigen::VectorXd p = theta.p();
  double others = 0.0;
  for (std::size_t i = 0; i < subsets.size(); ++i) {
    if (subsets[i] != S) others += p(static_cast<Eigen::Index>(i));
  }
  return others;
}

double delta_2(const WindowPairs& pairs, Subset S) {
  double product = 1.0;
  for (int h = 1; S >> (h - 1) != 0; ++h) {
    if (S >> (h - 1) & 1U) product *= pairs.sigma(h, h) * pairs.sigma(h, h);
  }
  return 1.0 - product;
}

Chosen chosen_set(const World& world) {
  Chosen best{0, 0.0};
  for (const Subset S : world.subsets()) {
    double mean = 0.0;
    for (const WindowLaw& law : world.laws) {
      mean += modified_information(law.marginal(S), law.d) / static_cast<double>(world.laws.size());
    }
    if (mean > best.I_star) best = {S, mean};
  }
  return best;
}

std::vector<Subset> lag_subsets(int M) {
  return subsets(M, M, SubsetRule::at_most);
}

}  // namespace gih
