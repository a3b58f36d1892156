#include "mixing_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "prompt_sums.hpp"

namespace gih {

MixingBounds::MixingBounds(const Kernel& kernel, std::span<const double> start, int M, int L)
    : mixing(gih::mixing(kernel, true)),
      D_0(chi_square(start, mixing.stationary)),
      d(kernel.d),
      r(kernel.largest_lag()),
      M(M),
      L(L) {}

double rho_at(const Mixing& mixing, int i) {
  return mixing.rho[std::min(static_cast<std::size_t>(i), mixing.rho.size() - 1)];
}

double MixingBounds::outcomes(int size) const {
  return std::pow(d, std::min(size + 1, r));
}

double MixingBounds::last() const {
  return rho_at(mixing, L - M) * std::sqrt(D_0) / 2.0;
}

double MixingBounds::average() const {
  return mixing.Lambda * std::sqrt(D_0) / (2.0 * positions());
}

double MixingBounds::joint(int size) const {
  const double forgotten = std::sqrt((D_0 + 1.0) * outcomes(size)) + std::sqrt(D_0);
  return (mixing.Lambda * forgotten / 2.0 + (M - r)) / positions();
}

double MixingBounds::empirical(const WindowLaw& law, Subset S) const {
  const auto marginal = law.marginal(S);
  const double least = *std::min_element(marginal.begin(), marginal.end());
  const double near = (2.0 * (M - r) + 1.0) * (1.0 / least - 1.0);
  const double far =
      2.0 * mixing.Lambda * std::sqrt(outcomes(subset_size(S)) * (D_0 + 1.0) / least);
  return (near + far) / positions();
}

}  // namespace gih
