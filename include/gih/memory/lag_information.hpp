#pragma once
// How much two tokens a lag apart tell of each other, for one kernel (quenched) and for the law
// averaged over a prior (annealed).

#include <vector>

#include "gih/data/kernel.hpp"

namespace gih {

struct LagInformation {
  std::vector<double> mutual, chi_square;  ///< lags 1 .. largest, nats
  double lambda_2 = 0.0;                   ///< |lambda_2| of the window chain; one kernel alone
  double slope = 0.0;    ///< of log mutual over the last half of the lags where it is above 1e-28
  double plateau = 0.0;  ///< of infinite lag: two independent draws from mu^pi
};

/// From the long-run law of each kernel, joint laws averaged over them. InputError when lags < 1.
LagInformation lag_information(const std::vector<Kernel>& kernels, int lags);

/// Joint law of (x_i, x_{i+lag}) for lags 1 .. lags under the long-run law, d x d each.
std::vector<std::vector<double>> lag_joints(const Kernel& kernel, int lags);

}  // namespace gih
