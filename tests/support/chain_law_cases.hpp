#pragma once
// The worked example of the information laboratory: two tokens, order 2.

#include "gih/base/random.hpp"
#include "gih/memory/sequence_law.hpp"

namespace gih::test {

/// pi(1 | x_{l-2} x_{l-1}): 00 .1, 01 .6, 10 .7, 11 .2; rows are indexed [x_{l-1}][x_{l-2}].
inline Kernel worked_kernel() {
  return {2, {1, 2}, {0.9, 0.1, 0.3, 0.7, 0.4, 0.6, 0.8, 0.2}};
}

inline SequenceLaw worked_law() {
  return SequenceLaw::kernels({worked_kernel()});
}

inline Kernel law_kernel(int d, std::vector<int> parents, std::uint64_t index, double alpha = 1.0) {
  Kernel kernel{d, std::move(parents), {}};
  const std::size_t rows = kernel_rows(d, kernel.parents.size());
  kernel.pi.resize(rows * static_cast<std::size_t>(d));
  Stream stream(31, Purpose::claims, index);
  for (std::size_t row = 0; row < rows; ++row) {
    stream.dirichlet(
        alpha, {kernel.pi.data() + row * static_cast<std::size_t>(d), static_cast<std::size_t>(d)});
  }
  return kernel;
}

}  // namespace gih::test
