#pragma once
// Laws P over kernels. Adding one: a row in the table of prior.cpp.

#include <string>
#include <vector>

#include "gih/base/random.hpp"
#include "gih/data/kernel.hpp"

namespace gih {

struct PriorSpec {
  std::string name = "dirichlet";  ///< a row of prior_table()
  double alpha = 0.1;              ///< Dirichlet concentration, at least 1e-3
  double floor = 0.0;              ///< gamma: pi <- gamma + (1 - d gamma) pi, 0 <= gamma < 1/d
  std::vector<Kernel> kernels{};   ///< for "file": sequence i has kernel i mod their number
};

struct PriorRow {
  const char* name;
  const char* meaning;
  /// Fills pi of a kernel whose d and parents are set; `index` numbers the sequence.
  void (*draw)(const PriorSpec&, Stream&, std::size_t index, Kernel&);
};

const std::vector<PriorRow>& prior_table();

/// InputError, naming value and accepted range, unless every field is usable for d and parents.
void check_prior(const PriorSpec& prior, int d, const std::vector<int>& parents);

/// Kernel of sequence `index`; the stream is that of (seed, train_kernel or validation_kernel,
/// index). The floor is applied last.
Kernel draw_kernel(const PriorSpec& prior, int d, const std::vector<int>& parents, Stream stream,
                   std::size_t index);

}  // namespace gih
