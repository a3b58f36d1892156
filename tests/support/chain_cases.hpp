#pragma once
// Kernels for tests of the data floor.

#include <cstdint>
#include <utility>
#include <vector>

#include "gih/base/random.hpp"
#include "gih/data/kernel.hpp"

namespace gih::test {

/// The worked example: two tokens, parents 1 and 2, pi(1 | lag 1, lag 2) = 0.1, 0.6, 0.3, 0.8 for
/// (0,0), (0,1), (1,0), (1,1).
inline Kernel worked_kernel() {
  return {2, {1, 2}, {0.9, 0.1, 0.4, 0.6, 0.7, 0.3, 0.2, 0.8}};
}

/// A first-order chain from the rows of its transition matrix.
inline Kernel first_order(const std::vector<std::vector<double>>& rows) {
  Kernel kernel{static_cast<int>(rows.size()), {1}, {}};
  for (const auto& row : rows) kernel.pi.insert(kernel.pi.end(), row.begin(), row.end());
  return kernel;
}

/// Rows drawn from Dirichlet(alpha).
inline Kernel random_kernel(int d, std::vector<int> parents, double alpha, std::uint64_t index) {
  Kernel kernel{d, std::move(parents), {}};
  const std::size_t rows = kernel_rows(d, kernel.parents.size());
  const auto width = static_cast<std::size_t>(d);
  kernel.pi.resize(rows * width);
  Stream stream(2024, Purpose::train_kernel, index);
  for (std::size_t r = 0; r < rows; ++r) {
    stream.dirichlet(alpha, {kernel.pi.data() + r * width, width});
  }
  return kernel;
}

}  // namespace gih::test
