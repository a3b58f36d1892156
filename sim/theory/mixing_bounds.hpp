#pragma once
// Right sides of F.16 to F.18: how far a sequence of length L is from the stationary law, in terms
// of the norms rho_i and their sum Lambda. Never of |lambda_2| alone, which bounds neither.

#include <span>

#include "gih/theory/mixing.hpp"
#include "gih/theory/window_law.hpp"

namespace gih {

struct MixingBounds {
  /// `start`: mu_0, the law of the first r_n tokens.
  MixingBounds(const Kernel& kernel, std::span<const double> start, int M, int L);

  /// TV of the law of (x_{L+1}, X_{L+1-S}) to mu, any S (F.16).
  double last() const;
  /// TV of the mean over l = M+1 .. L of the laws of (x_l, X_{l-S}) to mu, any S (F.16).
  double average() const;
  /// TV of the mean over l of the laws of the pair, at L+1 with lags S and at l with any lags, to
  /// mu x mu; `size` is |S| (F.17).
  double joint(int size) const;
  /// Expected chi-square of the empirical law of (x_l, X_{l-S}), l = M+1 .. L, to mu (F.18).
  double empirical(const WindowLaw& law, Subset S) const;

  Mixing mixing;
  double D_0 = 0.0;  ///< D_chi2(mu_0 || mu)
  int d, r, M, L;    ///< r = r_n
  double positions() const { return L - M; }

 private:
  /// dm(S) = d^min(|S|+1, r_n)
  double outcomes(int size) const;
};

/// Entry i of rho, whatever i: beyond those kept it is 0 to rounding.
double rho_at(const Mixing& mixing, int i);

}  // namespace gih
