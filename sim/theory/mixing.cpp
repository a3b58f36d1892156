#include "gih/theory/mixing.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "gih/base/parallel.hpp"
#include "gih/data/chain.hpp"

namespace gih {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// Largest singular value, as the root of an eigenvalue: several times as fast as a decomposition,
/// and for the largest one not less exact.
double spectral_norm(const Eigen::MatrixXd& A) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(A.transpose() * A,
                                                              Eigen::EigenvaluesOnly);
  return std::sqrt(std::max(0.0, solver.eigenvalues().maxCoeff()));
}

void add_norms(const WindowChain& chain, Mixing& mixing) {
  const auto n = static_cast<Eigen::Index>(chain.states());
  Eigen::VectorXd root(n);
  for (Eigen::Index Z = 0; Z < n; ++Z) {
    root(Z) = std::sqrt(mixing.stationary[static_cast<std::size_t>(Z)]);
  }
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index Z = 0; Z < n; ++Z) {
    for (int k = 0; k < chain.d(); ++k) {
      const auto to = static_cast<Eigen::Index>(chain.successor(static_cast<std::size_t>(Z), k));
      K(to, Z) += chain.next(static_cast<std::size_t>(Z), k) * root(Z) / root(to);
    }
  }
  const Eigen::MatrixXd R = root * root.transpose();
  // K^i - R = (K - R)^i for i >= 1, without the cancellation of the left side (F.12).
  const Eigen::MatrixXd step = K - R;
  Eigen::MatrixXd power = Eigen::MatrixXd::Identity(n, n) - R;
  const std::size_t most = Mixing::most_terms(chain.states());
  for (std::size_t i = 0; i < most; ++i) {
    const double rho = spectral_norm(power);
    mixing.rho.push_back(rho);
    if (rho < 1e-17) {
      for (const double term : mixing.rho) mixing.Lambda += term;
      return;
    }
    power = i == 0 ? step : Eigen::MatrixXd(power * step);
  }
  mixing.Lambda = std::numeric_limits<double>::infinity();
}

/// gamma, classes, periods, and eigenvalues where they are wanted and feasible.
Mixing structure(const Kernel& kernel, const WindowChain& chain, bool with_eigenvalues) {
  Mixing result;
  result.gamma = *std::min_element(kernel.pi.begin(), kernel.pi.end());
  result.lambda = not_known;
  if (with_eigenvalues && chain.states() <= Mixing::most_spectrum_states) {
    result.eigenvalues = chain.eigenvalues();
    result.lambda = std::abs(result.eigenvalues[1]);
  }
  const ChainClasses classes = chain.classes();
  result.recurrent_classes = classes.recurrent_count;
  for (std::size_t c = 0; c < classes.recurrent.size(); ++c) {
    if (classes.recurrent[c]) result.periods.push_back(classes.period[c]);
  }
  return result;
}

}  // namespace

bool Mixing::holds() const {
  return gamma > 0.0 && recurrent_classes == 1 && periods.front() == 1;
}

std::size_t Mixing::most_terms(std::size_t states) {
  const double feasible = 1e10 / std::pow(static_cast<double>(states), 3);
  return static_cast<std::size_t>(std::clamp(feasible, 1.0, 1e5));
}

Mixing mixing(const Kernel& kernel, bool with_rho) {
  const WindowChain chain(kernel);
  Mixing result = structure(kernel, chain, true);
  result.stationary = chain.long_run_law();
  const bool positive = *std::min_element(result.stationary.begin(), result.stationary.end()) > 0.0;
  if (with_rho && positive && result.recurrent_classes == 1) {
    add_norms(chain, result);
  } else {
    result.Lambda = std::numeric_limits<double>::infinity();
  }
  return result;
}

PriorMixing prior_mixing(const DataSpec& data, std::size_t count, int threads) {
  const auto number = static_cast<double>(count);
  const double states = std::pow(data.d, data.parents.back());
  const bool with_eigenvalues = number * std::pow(states, 3) <= 4e9;
  std::vector<Mixing> found(count);
  parallel_for(threads, count, [&](std::size_t i) {
    const Kernel kernel = sequence_kernel(data, Split::train, i);
    found[i] = structure(kernel, WindowChain(kernel), with_eigenvalues);
    found[i].eigenvalues = {};
  });
  PriorMixing all;
  all.gamma = 1.0;
  std::vector<double> lambdas;
  for (const Mixing& one : found) {
    all.gamma = std::min(all.gamma, one.gamma);
    all.recurrent_classes = std::max(all.recurrent_classes, one.recurrent_classes);
    all.share_breaking += one.holds() ? 0.0 : 1.0;
    all.share_lambda_above_099 += one.lambda > 0.99 ? 1.0 : 0.0;
    lambdas.push_back(one.lambda);
  }
  all.share_breaking /= number;
  all.share_lambda_above_099 /= number;
  if (!with_eigenvalues || states > static_cast<double>(Mixing::most_spectrum_states)) {
    all.lambda = all.lambda_median = all.share_lambda_above_099 = not_known;
    return all;
  }
  std::sort(lambdas.begin(), lambdas.end());
  all.lambda = lambdas.back();
  all.lambda_median = (lambdas[(count - 1) / 2] + lambdas[count / 2]) / 2.0;
  return all;
}

}  // namespace gih
