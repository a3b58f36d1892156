#include "gih/data/dataset.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "gih/base/error.hpp"
#include "gih/data/chain.hpp"

namespace gih {
namespace {

/// Running sums of a probability row for inversion. From the last positive entry on they are
/// raised above every uniform number, so that rounding never yields a token of probability 0.
void running_sums(std::span<const double> p, std::span<double> sums) {
  double sum = 0.0;
  std::size_t last = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    sums[k] = sum += p[k];
    if (p[k] > 0.0) last = k;
  }
  std::fill(sums.begin() + static_cast<std::ptrdiff_t>(last), sums.end(), 2.0);
}

/// Smallest k with u < sums[k]. Counting takes whole vectors of sums and no branch that depends on
/// u, so up to some hundred tokens it is faster than a search by halves.
Token invert(std::span<const double> sums, double u) {
  if (sums.size() > 200) {
    return static_cast<Token>(std::upper_bound(sums.begin(), sums.end(), u) - sums.begin());
  }
  std::uint64_t k = 0;
  for (const double sum : sums) k += sum <= u ? 1U : 0U;
  return static_cast<Token>(k);
}

void first_tokens(const DataSpec& data, const Kernel& kernel, Stream& stream, std::span<Token> x) {
  const auto r = std::min(static_cast<std::size_t>(kernel.largest_lag()), x.size());
  if (data.initial == Initial::uniform) {
    for (Token& token : x.first(r)) {
      token = static_cast<Token>(stream.uniform() * static_cast<double>(data.d));
    }
    return;
  }
  const WindowChain chain(kernel);
  const int classes = chain.classes().recurrent_count;
  if (classes > 1) {
    throw InputError(
        fmt::format("data.initial = stationary: a kernel has {} recurrent classes, so its "
                    "stationary law is not "
                    "unique; use data.initial = uniform or a data.floor above 0",
                    classes));
  }
  std::vector<double> sums(chain.states());
  running_sums(chain.long_run_law(), sums);
  auto state = static_cast<WindowCode>(
      std::upper_bound(sums.begin(), sums.end(), stream.uniform()) - sums.begin());
  const WindowCodes codes(kernel.d, kernel.largest_lag());
  const auto lags = codes.decode(codes.first(kernel.largest_lag()) + state);
  for (std::size_t i = 0; i < r; ++i) x[i] = lags[lags.size() - 1 - i];
  for (std::size_t i = 1; i < r; ++i) stream.bits();  // as many numbers as under a uniform start
}

}  // namespace

void check_data(const DataSpec& data) {
  if (data.d < 2 || data.d > 65536) {
    throw InputError(fmt::format("vocabulary d = {}: must be 2 to 65536", data.d));
  }
  if (data.parents.empty() || data.parents.front() < 1 ||
      !std::is_sorted(data.parents.begin(), data.parents.end(), std::less_equal<>{})) {
    throw InputError(fmt::format("parents = {}: must be lags that ascend from 1 or more",
                                 fmt::join(data.parents, ",")));
  }
  check_prior(data.prior, data.d, data.parents);
  const auto largest = static_cast<std::size_t>(data.parents.back());
  if (data.L && *data.L < largest) {
    throw InputError(
        fmt::format("length L = {}: must be at least the largest parent lag {}", *data.L, largest));
  }
  if (data.train < 1) throw InputError("number of training sequences = 0: must be 1 or more");
  if (data.table) {
    if (!data.L) throw InputError("length L = inf: a data file has sequences of a finite length");
    if (data.table->d != data.d || data.table->columns != *data.L + 1) {
      throw InputError(
          fmt::format("the data file has vocabulary {} and {} tokens a sequence: vocabulary {} "
                      "with length L = {} "
                      "needs {} and {}",
                      data.table->d, data.table->columns, data.d, *data.L, data.d, *data.L + 1));
    }
    if (data.train + data.validation > data.table->rows) {
      throw InputError(fmt::format(
          "the data file has {} sequences: fewer than {} for training and {} for validation",
          data.table->rows, data.train, data.validation));
    }
  }
}

Kernel sequence_kernel(const DataSpec& data, Split split, std::size_t index) {
  if (data.table) {
    if (data.table->kernels.empty()) {
      throw InputError("the data file has no kernels, which this computation needs");
    }
    return data.table->kernels[split == Split::train ? index : data.train + index];
  }
  const Purpose purpose =
      split == Split::train ? Purpose::train_kernel : Purpose::validation_kernel;
  return draw_kernel(data.prior, data.d, data.parents, Stream(data.seed, purpose, index), index);
}

void draw_sequence(const DataSpec& data, const Kernel& kernel, Split split, std::size_t index,
                   std::span<Token> x) {
  if (data.table) {
    const auto row = data.table->row(split == Split::train ? index : data.train + index);
    std::copy(row.begin(), row.end(), x.begin());
    return;
  }
  const Purpose purpose =
      split == Split::train ? Purpose::train_tokens : Purpose::validation_tokens;
  Stream stream(data.seed, purpose, index);
  first_tokens(data, kernel, stream, x);

  const auto d = static_cast<std::size_t>(kernel.d);
  std::vector<double> sums(kernel.pi.size());
  for (std::size_t row = 0; row < kernel.rows(); ++row) {
    running_sums(kernel.row(row), {sums.data() + row * d, d});
  }
  const auto largest = static_cast<std::size_t>(kernel.largest_lag());
  if (kernel.parents.size() == largest) {
    // Parents are the last r_n tokens: with the nearest as the most significant digit the row of
    // the next token is this row shifted right, so no token is read again.
    std::size_t code = 0;
    for (std::size_t i = largest; i-- > 0;) code = code * d + x[i];
    const std::size_t shift = kernel.rows() / d;
    for (std::size_t l = largest; l < x.size(); ++l) {
      const Token token = invert({sums.data() + code * d, d}, stream.uniform());
      x[l] = token;
      code = code / d + token * shift;
    }
    return;
  }
  for (std::size_t l = largest; l < x.size(); ++l) {
    std::size_t code = 0;
    for (const int r : kernel.parents) code = code * d + x[l - static_cast<std::size_t>(r)];
    x[l] = invert({sums.data() + code * d, d}, stream.uniform());
  }
}

}  // namespace gih
