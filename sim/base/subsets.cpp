#include "gih/base/subsets.hpp"

#include <fmt/core.h>

#include <bit>

#include "gih/base/error.hpp"

namespace gih {

std::vector<Subset> subsets(int H, int D, SubsetRule rule) {
  if (H < 1 || H > 31) throw InputError(fmt::format("heads H = {}: must be 1 to 31", H));
  if (D < 1 || D > H) {
    throw InputError(fmt::format("degree D = {}: must be 1 to the number of heads H = {}", D, H));
  }
  std::vector<Subset> found;
  for (Subset S = 0; S < (Subset{1} << H); ++S) {
    const int size = subset_size(S);
    if (rule == SubsetRule::at_most ? size <= D : size == D) found.push_back(S);
  }
  return found;
}

std::string subset_code(Subset S, int H) {
  std::string code(static_cast<std::size_t>(H), '0');
  for (int i = 0; i < H; ++i) {
    if (S >> i & 1U) code[static_cast<std::size_t>(i)] = '1';
  }
  return code;
}

int subset_size(Subset S) { return std::popcount(S); }

}  // namespace gih
