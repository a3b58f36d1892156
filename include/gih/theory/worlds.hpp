#pragma once
// Small worlds in which claims are checked exactly: a prior of a few kernels, a model, parameters,
// and sequences short enough to sum over all of them.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gih/data/kernel.hpp"
#include "gih/model/parameters.hpp"
#include "gih/theory/window_law.hpp"

namespace gih {

struct World {
  std::string name;
  std::vector<Kernel> kernels;  ///< equally likely; all with the same d and parents
  ModelSpec model;              ///< M = H; D
  Parameters theta;             ///< random, w larger on the diagonal
  int L = 0;                    ///< length of the sequences that are summed over
  double eps = 0.0;             ///< L^(-1/2)
  /// mu_0: law of the first r_n tokens, d^{r_n} entries in WindowCodes order; random.
  std::vector<double> start;
  std::vector<WindowLaw> laws;  ///< of the kernels, M lags

  int d() const { return model.d; }
  int M() const { return model.M; }
  int largest_lag() const { return kernels.front().largest_lag(); }
  std::vector<Subset> subsets() const { return model.subsets(); }
  Subset parents() const;  ///< as a set of lags
};

/// The worlds of `gih verify --claims`: the worked two-token example, then random kernels with
/// entries above a floor for several d, parents, M, D. Deterministic.
const std::vector<World>& worlds();

/// A world of `count` random kernels: rows gamma + (1 - d gamma) Dirichlet(alpha).
World make_world(const std::string& name, int d, const std::vector<int>& parents, int M, int D,
                 double alpha, double gamma, int count, int L, std::uint64_t seed);

/// Calls visit(x, probability) for every sequence x_1 .. x_{L+1} of positive probability, the first
/// r_n tokens from `start`, the others by the kernel. Probabilities sum to 1.
void each_sequence(const Kernel& kernel, std::span<const double> start, int L,
                   const std::function<void(std::span<const Token>, double)>& visit);

}  // namespace gih
