#pragma once
// The worked example of the information laboratory: two tokens, order 2.

#include "gih/base/random.hpp"
#include "gih/data/prior.hpp"
#include "gih/memory/sequence_law.hpp"

namespace gih::test {

/// pi(1 | x_{l-2} x_{l-1}): 00 .1, 01 .6, 10 .7, 11 .2; rows are indexed [x_{l-1}][x_{l-2}].
inline Kernel worked_kernel() {
  return {2, {1, 2}, {0.9, 0.1, 0.3, 0.7, 0.4, 0.6, 0.8, 0.2}};
}

inline SequenceLaw worked_law() {
  return SequenceLaw::kernels({worked_kernel()});
}

inline Kernel law_kernel(int d, const std::vector<int>& parents, std::uint64_t index,
                         double alpha = 1.0) {
  PriorSpec prior;
  prior.alpha = alpha;
  return draw_kernel(prior, d, parents, Stream(31, Purpose::claims, index), 0);
}

}  // namespace gih::test
