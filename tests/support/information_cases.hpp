#pragma once
// Kernels, data and weights for tests of the information.

#include "gih/data/dataset.hpp"
#include "gih/data/kernel.hpp"
#include "gih/model/parameters.hpp"
#include "support/chain_cases.hpp"

namespace gih::test {

inline Matrix diagonal_w(const ModelSpec& model, double diagonal, double off) {
  Matrix w = Matrix::Constant(model.H, model.M, off);
  w.diagonal().setConstant(diagonal);
  return w;
}

inline DataSpec one_kernel_data(const Kernel& kernel, std::size_t sequences) {
  DataSpec data;
  data.d = kernel.d;
  data.parents = kernel.parents;
  data.prior.name = "file";
  data.prior.kernels = {kernel};
  data.train = sequences;
  data.validation = 0;
  return data;
}

/// A kernel with every entry at least 0.05.
inline Kernel sound_kernel(int d, const std::vector<int>& parents, std::uint64_t index) {
  Kernel kernel = test::random_kernel(d, parents, 0.5, index);
  for (double& entry : kernel.pi) entry = 0.05 + (1.0 - 0.05 * d) * entry;
  return kernel;
}

}  // namespace gih::test
