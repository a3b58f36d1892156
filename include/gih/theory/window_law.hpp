#pragma once
// The long-run law mu^pi of a window of M tokens and the token after it (1.3), and its marginals.

#include <vector>

#include "gih/base/subsets.hpp"
#include "gih/data/kernel.hpp"

namespace gih {

struct WindowLaw {
  int d = 0;
  int M = 0;
  /// d^M x d, row-major: mu(Z, z). Row Z in the order of WindowCodes without its offset: the digit
  /// of lag i has place value d^{i-1}.
  std::vector<double> joint;

  std::size_t windows() const { return joint.size() / static_cast<std::size_t>(d); }
  double at(std::size_t Z, int z) const {
    return joint[Z * static_cast<std::size_t>(d) + static_cast<std::size_t>(z)];
  }
  /// mu(Z), d^M entries.
  std::vector<double> of_windows() const;
  /// mu(z), d entries.
  std::vector<double> of_tokens() const;
  /// mu(Z_{-S} = E, z), d^|S| x d: the digit of the smallest lag in S is the least significant.
  std::vector<double> marginal(Subset S) const;
};

/// Largest d^(M+1) for which a law is made.
constexpr std::size_t most_law_entries = std::size_t{1} << 26;

/// InputError, with the largest M that fits, when d^(M+1) is above it.
void check_law_size(int d, int M);

/// Exact. Where a kernel has several recurrent classes, the mixture that a uniform start ends in.
/// InputError when d^(M+1) is too many or M < r_n.
WindowLaw window_law(const Kernel& kernel, int M);

/// Index of Z_{-S} among the d^|S| values, for every window Z.
std::vector<std::uint32_t> restriction(int d, int M, Subset S);

}  // namespace gih
