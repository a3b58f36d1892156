#pragma once
// An n-gram kernel pi: x_l ~ pi(. | x_{l-r_1}, ..., x_{l-r_n}).

#include <span>
#include <string>
#include <vector>

#include "gih/base/window.hpp"

namespace gih {

struct Kernel {
  int d = 0;                 ///< vocabulary size
  std::vector<int> parents;  ///< lags r_1 < ... < r_n, each at least 1
  /// d^n x d, row-major: row = parent code, in which r_1 (the nearest) is the most significant
  /// digit, so that a row-major array indexed [x_{l-r_1}] ... [x_{l-r_n}] [next] is this table.
  std::vector<double> pi;

  std::size_t rows() const { return pi.size() / static_cast<std::size_t>(d); }
  std::span<const double> row(std::size_t parent_code) const {
    return {pi.data() + parent_code * static_cast<std::size_t>(d), static_cast<std::size_t>(d)};
  }
  int largest_lag() const { return parents.back(); }

  /// Row of the parents found in a window given by its lags, nearest first (at least r_n of them).
  std::size_t parent_code(std::span<const Token> lags) const;
};

/// Throws InputError naming `source` unless sizes fit, parents ascend from 1, entries are finite
/// and not negative and every row sums to 1 within 1e-9.
void check_kernel(const Kernel& kernel, const std::string& source);

/// Number of parent codes d^n; InputError when the d^n x d table would exceed 2^31 entries.
std::size_t kernel_rows(int d, std::size_t n);

}  // namespace gih
