#include "gih/data/kernel.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>

#include "gih/base/error.hpp"

namespace gih {

std::size_t Kernel::parent_code(std::span<const Token> lags) const {
  std::size_t code = 0;
  for (const int r : parents) {
    code = code * static_cast<std::size_t>(d) + lags[static_cast<std::size_t>(r - 1)];
  }
  return code;
}

std::size_t kernel_rows(int d, std::size_t n) {
  std::size_t rows = 1;
  for (std::size_t i = 0; i < n; ++i) {
    rows *= static_cast<std::size_t>(d);
    if (rows * static_cast<std::size_t>(d) > std::size_t{1} << 31) {
      throw InputError(fmt::format(
          "vocabulary d = {} with {} parents: the kernel's d^n x d entries must be at most 2^31", d,
          n));
    }
  }
  return rows;
}

void check_kernel(const Kernel& kernel, const std::string& source) {
  const auto fail = [&](const std::string& what) { throw InputError(source + ": " + what); };
  if (kernel.d < 2 || kernel.d > 65536) {
    fail(fmt::format("vocabulary {}: must be 2 to 65536", kernel.d));
  }
  if (kernel.parents.empty()) fail("a kernel needs at least one parent lag");
  int previous = 0;
  for (const int r : kernel.parents) {
    if (r <= previous) {
      fail(fmt::format("parents {}: lags must ascend from 1 or more",
                       fmt::join(kernel.parents, ",")));
    }
    previous = r;
  }
  const auto d = static_cast<std::size_t>(kernel.d);
  const std::size_t rows = kernel_rows(kernel.d, kernel.parents.size());
  if (kernel.pi.size() != rows * d) {
    fail(fmt::format("kernel has {} entries, {} are needed", kernel.pi.size(), rows * d));
  }
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = 0.0;
    for (const double entry : kernel.row(r)) {
      if (!(entry >= 0.0) || !std::isfinite(entry)) {
        fail(fmt::format("kernel row {}: entry {} must be 0 to 1", r, entry));
      }
      sum += entry;
    }
    if (std::abs(sum - 1.0) > 1e-9) {
      fail(fmt::format("kernel row {} sums to {:.12g}: must be 1 within 1e-9", r, sum));
    }
  }
}

}  // namespace gih
