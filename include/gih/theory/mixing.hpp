#pragma once
// How fast a window chain forgets: what the bounds of the theory are made of.

#include <complex>
#include <vector>

#include "gih/data/dataset.hpp"
#include "gih/data/kernel.hpp"

namespace gih {

struct Mixing {
  double gamma = 0.0;                             ///< smallest entry of pi
  double lambda = 0.0;                            ///< |lambda_2(P)|; NaN above most_spectrum_states
  std::vector<std::complex<double>> eigenvalues;  ///< descending modulus; empty likewise
  std::vector<double> stationary;                 ///< mu on r_n-windows
  /// rho_i = ||K^i - sqrt(mu) sqrt(mu)^T||_2, K = diag(sqrt mu)^-1 P diag(sqrt mu) (F.12); rho_0 is
  /// that of the identity. Empty when the stationary law is not unique or has zeros.
  std::vector<double> rho;
  /// sum_i rho_i until rho_i < 1e-17; infinite when that takes more than most_terms, or rho is
  /// empty.
  double Lambda = 0.0;
  int recurrent_classes = 0;
  std::vector<int> periods;  ///< of the recurrent classes

  /// Assumption 3.5: primitive and gamma > 0.
  bool holds() const;

  /// Terms of Lambda for a chain of so many states: 100,000, fewer where a term takes long.
  static std::size_t most_terms(std::size_t states);
  static constexpr std::size_t most_spectrum_states = 1024;
};

/// Exact up to rounding. `with_rho` costs an eigenvalue of the d^{r_n} matrix a term.
Mixing mixing(const Kernel& kernel, bool with_rho);

/// The same over the kernels of a prior.
struct PriorMixing {
  double gamma = 0.0;                        ///< smallest entry of all
  double lambda = 0.0, lambda_median = 0.0;  ///< largest and median |lambda_2|
  double share_lambda_above_099 = 0.0;
  double share_breaking = 0.0;  ///< share of kernels that break Assumption 3.5
  int recurrent_classes = 0;    ///< most of them
};

/// Kernels 0 .. count-1 of the training split's streams. What needs eigenvalues is NaN where they
/// would take longer than some minutes.
PriorMixing prior_mixing(const DataSpec& data, std::size_t count, int threads);

}  // namespace gih
