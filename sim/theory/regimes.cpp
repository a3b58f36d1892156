#include "regimes.hpp"

#include <algorithm>
#include <cmath>

namespace gih {

Regimes::Regimes(std::vector<Tilt> tilts, double least_entry)
    : kernels(std::move(tilts)),
      gamma(least_entry),
      delta(std::min(least_entry * least_entry / 4.0, 0.125)) {
  for (const Tilt& tilt : kernels) {
    low_m = std::min(low_m, tilt.smallest_m());
    high_m = std::max(high_m, tilt.largest_m());
  }
}

double Regimes::small_end() const {
  return std::log1p(delta / high_m);
}
double Regimes::large_start() const {
  return std::log1p(1.0 / (delta * low_m));
}
double Regimes::low() const {
  return std::pow(1.0 - delta, 3) * (1.0 - delta / (gamma * gamma));
}
double Regimes::high() const {
  return 1.0 + delta / (gamma * gamma);
}
double Regimes::small_form(double a) const {
  return std::exp(a) * mean_early(kernels);
}
double Regimes::large_form(double a) const {
  return std::exp(a) / std::pow(std::expm1(a), 3) * mean_late(kernels);
}

}  // namespace gih
