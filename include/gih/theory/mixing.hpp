#pragma once
// How fast a window chain forgets: what the bounds of the theory are made of.

#include <complex>
#include <vector>

#include "gih/data/kernel.hpp"

namespace gih {

struct Mixing {
  double gamma = 0.0;   ///< smallest entry of pi
  double lambda = 0.0;  ///< |lambda_2(P)|
  std::vector<std::complex<double>> eigenvalues;  ///< descending modulus
  std::vector<double> stationary;                 ///< mu on r_n-windows
  /// rho_i = ||K^i - sqrt(mu) sqrt(mu)^T||_2, K = diag(sqrt mu)^-1 P diag(sqrt mu) (F.12); rho_0 is
  /// that of the identity. Empty when the stationary law is not unique or has zeros.
  std::vector<double> rho;
  /// sum_i rho_i until rho_i < 1e-17; infinite when that takes more than most_terms, or rho is empty.
  double Lambda = 0.0;
  int recurrent_classes = 0;
  std::vector<int> periods;  ///< of the recurrent classes

  /// Assumption 3.5: primitive and gamma > 0.
  bool holds() const;
  static constexpr std::size_t most_terms = 100000;
};

/// Exact up to rounding. `with_rho` costs an SVD of the d^{r_n} matrix a term.
Mixing mixing(const Kernel& kernel, bool with_rho);

}  // namespace gih
