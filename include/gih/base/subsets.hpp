#pragma once
// Subsets S of the heads [H] (or lags [M]) as bit masks: bit i-1 is element i. The order
// everywhere, in memory, files and figures, is that of the masks as integers:
// (), {1}, {2}, {1,2}, {3}, {1,3}, {2,3}, ...

#include <cstdint>
#include <string>
#include <vector>

namespace gih {

using Subset = std::uint32_t;

enum class SubsetRule {
  at_most,  ///< [H]_{<=D}: sizes 0 to D
  exactly,  ///< [H]_{=D}: size D alone, the second scenario of C.7
};

/// All subsets of {1..H} that the rule with degree D admits, ascending.
/// 1 <= H <= 31, 1 <= D <= H, else InputError.
std::vector<Subset> subsets(int H, int D, SubsetRule rule);

/// "110" for {1,2} of three: character i is 1 when i is in S.
std::string subset_code(Subset S, int H);

/// Number of elements.
int subset_size(Subset S);

}  // namespace gih
