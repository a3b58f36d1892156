#include "gih/memory/lag_information.hpp"

#include <fmt/format.h>

#include <cmath>

#include "gih/base/error.hpp"
#include "gih/data/chain.hpp"
#include "gih/memory/sequence_law.hpp"

namespace gih {

std::vector<std::vector<double>> lag_joints(const Kernel& kernel, int lags) {
  const WindowChain chain(kernel);
  const auto d = static_cast<std::size_t>(kernel.d);
  const std::vector<double> law = chain.long_run_law();
  std::vector<std::vector<double>> joints(static_cast<std::size_t>(lags),
                                          std::vector<double>(d * d, 0.0));
  for (std::size_t first = 0; first < d; ++first) {
    std::vector<double> state(law.size(), 0.0), moved;
    for (std::size_t Z = first; Z < law.size(); Z += d) state[Z] = law[Z];  // lag 1 is `first`
    for (auto& joint : joints) {
      moved.assign(state.size(), 0.0);
      for (std::size_t Z = 0; Z < state.size(); ++Z) {
        if (state[Z] == 0.0) continue;
        for (std::size_t k = 0; k < d; ++k) {
          const double P = state[Z] * chain.next(Z, static_cast<int>(k));
          moved[chain.successor(Z, static_cast<int>(k))] += P;
          joint[first * d + k] += P;
        }
      }
      std::swap(state, moved);
    }
  }
  return joints;
}

LagInformation lag_information(const std::vector<Kernel>& kernels, int lags) {
  if (lags < 1) throw InputError(fmt::format("{} lags: must be 1 or more", lags));
  if (kernels.empty()) throw InputError("no kernel");
  const auto d = static_cast<std::size_t>(kernels.front().d);
  const double share = 1.0 / static_cast<double>(kernels.size());
  std::vector<std::vector<double>> mean(static_cast<std::size_t>(lags),
                                        std::vector<double>(d * d, 0.0));
  std::vector<double> independent(d * d, 0.0);
  for (const Kernel& kernel : kernels) {
    const auto joints = lag_joints(kernel, lags);
    std::vector<double> mu(d, 0.0);
    for (std::size_t i = 0; i < d * d; ++i) mu[i / d] += joints[0][i];
    for (std::size_t i = 0; i < d * d; ++i) {
      for (std::size_t lag = 0; lag < joints.size(); ++lag) mean[lag][i] += share * joints[lag][i];
      independent[i] += share * mu[i / d] * mu[i % d];
    }
  }
  LagInformation found;
  for (const auto& joint : mean) {
    found.mutual.push_back(mutual_information(joint, d, d));
    found.chi_square.push_back(chi_square_information(joint, d, d));
  }
  found.plateau = mutual_information(independent, d, d);
  if (kernels.size() == 1) {
    const auto eigenvalues = WindowChain(kernels.front()).eigenvalues();
    found.lambda_2 = eigenvalues.size() > 1 ? std::abs(eigenvalues[1]) : 0.0;
  }
  // Least squares on the later half of what is above rounding.
  std::size_t usable = 0;
  while (usable < found.mutual.size() && found.mutual[usable] > 1e-28) ++usable;
  double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  for (std::size_t lag = usable / 2; lag < usable; ++lag) {
    const double x = static_cast<double>(lag) + 1.0, y = std::log(found.mutual[lag]);
    n += 1.0;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  const double spread = n * sxx - sx * sx;
  found.slope = spread > 0.0 ? (n * sxy - sx * sy) / spread : 0.0;
  return found;
}

}  // namespace gih
