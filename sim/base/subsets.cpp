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
  // Counted first: 31 heads of degree 15 would fill the memory of any machine.
  double count = 0.0;
  double of_size = 1.0;  // H choose size
  for (int size = 0; size <= D; ++size) {
    if (rule == SubsetRule::at_most || size == D) count += of_size;
    of_size *= static_cast<double>(H - size) / (size + 1);
  }
  constexpr double most = 1 << 20;
  if (count > most) {
    throw InputError(
        fmt::format("degree D = {} of H = {} heads: {:.0f} subsets, must be at most {:.0f}; use a "
                    "smaller degree",
                    D, H, count, most));
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

int subset_size(Subset S) {
  return std::popcount(S);
}

}  // namespace gih
