#include "gih/theory/window_law.hpp"

#include <fmt/core.h>

#include <bit>
#include <cmath>

#include "gih/base/error.hpp"
#include "gih/data/chain.hpp"

namespace gih {

std::vector<double> WindowLaw::of_windows() const {
  std::vector<double> mu(windows(), 0.0);
  for (std::size_t Z = 0; Z < mu.size(); ++Z) {
    for (int z = 0; z < d; ++z) mu[Z] += at(Z, z);
  }
  return mu;
}

std::vector<double> WindowLaw::of_tokens() const {
  return marginal(0);
}

std::vector<double> WindowLaw::marginal(Subset S) const {
  const auto index = restriction(d, M, S);
  const auto width = static_cast<std::size_t>(d);
  std::size_t values = 1;
  for (int i = 0; i < subset_size(S); ++i) values *= width;
  std::vector<double> table(values * width, 0.0);
  for (std::size_t Z = 0; Z < index.size(); ++Z) {
    for (std::size_t z = 0; z < width; ++z) table[index[Z] * width + z] += joint[Z * width + z];
  }
  return table;
}

void check_law_size(int d, int M) {
  const auto most = static_cast<double>(most_law_entries);
  const double entries = std::pow(d, M + 1);
  if (entries <= most) return;
  int feasible = 0;
  while (std::pow(d, feasible + 2) <= most) ++feasible;
  throw InputError(fmt::format(
      "window M = {}: the long-run law of d = {} tokens has d^(M+1) = {:.3g} entries, at most {} "
      "are made; {}",
      M, d, entries, most_law_entries,
      feasible > 0 ? fmt::format("M must be at most {}", feasible)
                   : std::string("no window is feasible for this vocabulary")));
}

WindowLaw window_law(const Kernel& kernel, int M) {
  if (M < kernel.largest_lag()) {
    throw InputError(fmt::format("window M = {}: must be at least the largest parent lag {}", M,
                                 kernel.largest_lag()));
  }
  check_law_size(kernel.d, M);
  const WindowChain chain(kernel);
  const std::vector<double> mu = extend_law(kernel, chain.long_run_law(), M);
  WindowLaw law{kernel.d, M, std::vector<double>(mu.size() * static_cast<std::size_t>(kernel.d))};
  const WindowCodes codes(kernel.d, M);
  for (std::size_t Z = 0; Z < mu.size(); ++Z) {
    const auto row = kernel.row(kernel.parent_code(codes.decode(codes.first(M) + Z)));
    for (std::size_t z = 0; z < row.size(); ++z) law.joint[Z * row.size() + z] = mu[Z] * row[z];
  }
  return law;
}

std::vector<std::uint32_t> restriction(int d, int M, Subset S) {
  // Digit by digit: the index of a window is that of its tail plus the digit of its oldest lag.
  std::vector<std::uint32_t> index{0};
  std::uint32_t place = 1;
  for (int i = 0; i < M; ++i) {
    const bool in_S = S >> i & 1U;
    const std::size_t shorter = index.size();
    index.resize(shorter * static_cast<std::size_t>(d));
    for (int digit = 1; digit < d; ++digit) {
      for (std::size_t Z = 0; Z < shorter; ++Z) {
        index[static_cast<std::size_t>(digit) * shorter + Z] =
            index[Z] + (in_S ? static_cast<std::uint32_t>(digit) * place : 0U);
      }
    }
    if (in_S) place *= static_cast<std::uint32_t>(d);
  }
  return index;
}

}  // namespace gih
