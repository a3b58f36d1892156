#include "gih/theory/mixing.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "gih/data/chain.hpp"

namespace gih {
namespace {

/// Largest singular value.
double spectral_norm(const Eigen::MatrixXd& A) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(A).singularValues()(0);
}

void add_norms(const WindowChain& chain, Mixing& mixing) {
  const auto n = static_cast<Eigen::Index>(chain.states());
  Eigen::VectorXd root(n);
  for (Eigen::Index Z = 0; Z < n; ++Z) root(Z) = std::sqrt(mixing.stationary[static_cast<std::size_t>(Z)]);
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
  for (std::size_t i = 0; i < Mixing::most_terms; ++i) {
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

}  // namespace

bool Mixing::holds() const {
  return gamma > 0.0 && recurrent_classes == 1 && periods.front() == 1;
}

Mixing mixing(const Kernel& kernel, bool with_rho) {
  const WindowChain chain(kernel);
  Mixing result;
  result.gamma = *std::min_element(kernel.pi.begin(), kernel.pi.end());
  result.eigenvalues = chain.eigenvalues();
  result.lambda = std::abs(result.eigenvalues[1]);
  result.stationary = chain.long_run_law();
  const ChainClasses classes = chain.classes();
  result.recurrent_classes = classes.recurrent_count;
  for (std::size_t c = 0; c < classes.recurrent.size(); ++c) {
    if (classes.recurrent[c]) result.periods.push_back(classes.period[c]);
  }
  const bool positive = *std::min_element(result.stationary.begin(), result.stationary.end()) > 0.0;
  if (with_rho && positive && result.recurrent_classes == 1) {
    add_norms(chain, result);
  } else {
    result.Lambda = std::numeric_limits<double>::infinity();
  }
  return result;
}

}  // namespace gih
