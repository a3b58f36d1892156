#include "gih/memory/block_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gih/base/error.hpp"
#include "gih/data/chain.hpp"

namespace gih {
namespace {

std::size_t power(int d, int n) {
  std::size_t product = 1;
  for (int i = 0; i < n; ++i) product *= static_cast<std::size_t>(d);
  return product;
}

}  // namespace

std::string BlockFilter::summarise(std::span<const Token> window,
                                   std::span<const Token> block) const {
  // All tokens in time order, so that the keys of the first items are seen.
  std::vector<Token> x(window.begin(), window.end());
  x.insert(x.end(), block.begin(), block.end());
  const auto d = static_cast<std::size_t>(law_.d());
  std::string keys, values;
  std::vector<int> key_counts(power(law_.d(), subset_size(S_)), 0), value_counts(d, 0);
  std::size_t key = 0;
  for (std::size_t l = window.size(); l < x.size(); ++l) {
    key = 0;
    for (int lag = 1; S_ >> (lag - 1) != 0; ++lag) {
      if (S_ >> (lag - 1) & 1U) key = key * d + x[l - static_cast<std::size_t>(lag)];
    }
    ++key_counts[key];
    ++value_counts[x[l]];
  }
  switch (summary_) {
    case BlockSummary::nothing:
      return "";
    case BlockSummary::whole:
      return token_text(block);
    case BlockSummary::decimate:
      return fmt::format("{}:{}", key, x.back());
    default:
      break;
  }
  const bool only_whether = summary_ == BlockSummary::max;
  for (const int count : key_counts) keys += fmt::format("{},", only_whether ? count > 0 : count);
  for (const int count : value_counts)
    values += fmt::format("{},", only_whether ? count > 0 : count);
  return summary_ == BlockSummary::values ? values : keys + ":" + values;
}

BlockFilter::BlockFilter(const SequenceLaw& law, Subset S, int c, BlockSummary summary,
                         std::size_t max_states)
    : law_(law), S_(S), c_(c), summary_(summary) {
  if (law.is_dirichlet()) {
    throw InputError("block summaries are filtered exactly for finitely many kernels alone");
  }
  w_ = law.r();
  while (S >> w_ != 0) ++w_;
  const double states = std::pow(law.d(), w_ + c);
  if (states > static_cast<double>(max_states)) {
    const auto feasible = static_cast<int>(std::floor(std::log(static_cast<double>(max_states)) /
                                                      std::log(law.d()))) -
                          w_;
    throw InputError(
        fmt::format("blocks of {} tokens are {:.3g} states, above {}: blocks of {} are "
                    "feasible",
                    c, states, max_states, feasible));
  }
  windows_ = power(law.d(), w_);
  const auto d = static_cast<std::size_t>(law.d());
  const WindowCodes codes(law.d(), w_);
  for (const Kernel& kernel : law.mixed()) {
    const auto start = extend_law(kernel, WindowChain(kernel).long_run_law(), w_);
    start_.insert(start_.end(), start.begin(), start.end());
    for (std::size_t Z = 0; Z < windows_; ++Z) {
      const auto row = kernel.row(kernel.parent_code(codes.decode(codes.first(w_) + Z)));
      next_.insert(next_.end(), row.begin(), row.end());
    }
  }
  const std::size_t strings = power(law.d(), c), kernels = law.mixed().size();
  product_.resize(kernels * windows_ * strings);
  std::vector<Token> block(static_cast<std::size_t>(c));
  for (std::size_t Z = 0; Z < windows_; ++Z) {
    std::vector<Token> window = codes.decode(codes.first(w_) + Z);
    std::reverse(window.begin(), window.end());
    for (std::size_t b = 0; b < strings; ++b) {
      std::size_t state = Z, rest = b;
      const std::size_t path = Z * strings + b;
      for (std::size_t m = 0; m < kernels; ++m) product_[m * windows_ * strings + path] = 1.0;
      for (Token& token : block) {
        token = static_cast<Token>(rest % d);
        rest /= d;
        for (std::size_t m = 0; m < kernels; ++m) {
          product_[m * windows_ * strings + path] *= next_[(m * windows_ + state) * d + token];
        }
        state = static_cast<std::size_t>(codes.advance(codes.first(w_) + state, token) -
                                         codes.first(w_));
      }
      ways_[summarise(window, block)].push_back({static_cast<std::uint32_t>(Z),
                                                 static_cast<std::uint32_t>(state),
                                                 static_cast<std::uint32_t>(path)});
    }
  }
}

std::vector<double> BlockFilter::law_of(const std::vector<double>& alpha) const {
  const auto d = static_cast<std::size_t>(law_.d());
  std::vector<double> p(d, 0.0);
  double sum = 0.0;
  for (std::size_t state = 0; state < alpha.size(); ++state) {
    for (std::size_t k = 0; k < d; ++k) p[k] += alpha[state] * next_[state * d + k];
    sum += alpha[state];
  }
  for (double& entry : p) entry /= sum;
  return p;
}

std::vector<double> BlockFilter::predict(std::span<const Token> x, std::size_t hidden,
                                         std::size_t blocks, Subset revealed) const {
  const auto w = static_cast<std::size_t>(w_), c = static_cast<std::size_t>(c_);
  const auto d = static_cast<std::size_t>(law_.d());
  if (hidden < w || hidden + blocks * c > x.size()) {
    throw InputError(fmt::format("{} blocks of {} after {} of {} tokens do not fit", blocks, c_,
                                 hidden, x.size()));
  }
  const WindowCodes codes(law_.d(), w_);
  const std::size_t kernels = law_.mixed().size(), paths = product_.size() / kernels;
  std::vector<double> alpha = start_, moved;  // long-run law: the same after `hidden` tokens
  const auto normalise = [&] {
    double sum = 0.0;
    for (const double entry : alpha) sum += entry;
    for (double& entry : alpha) entry /= sum;
  };
  for (std::size_t j = 0; j < blocks; ++j) {
    const std::size_t first = hidden + j * c;
    const auto& ways = ways_.at(summarise(x.subspan(first - w, w), x.subspan(first, c)));
    moved.assign(alpha.size(), 0.0);
    for (std::size_t m = 0; m < kernels; ++m) {
      for (const Way& way : ways) {
        moved[m * windows_ + way.to] +=
            alpha[m * windows_ + way.from] * product_[m * paths + way.path];
      }
    }
    std::swap(alpha, moved);
    normalise();
  }
  const std::size_t first_raw = hidden + blocks * c;
  for (std::size_t state = 0; revealed != 0 && state < alpha.size(); ++state) {
    const auto lags = codes.decode(codes.first(w_) + state % windows_);
    for (std::size_t lag = 1; lag <= w; ++lag) {
      if ((revealed >> (lag - 1) & 1U) && lags[lag - 1] != x[first_raw - lag]) alpha[state] = 0.0;
    }
  }
  if (revealed != 0) normalise();
  for (std::size_t l = first_raw; l < x.size(); ++l) {
    moved.assign(alpha.size(), 0.0);
    for (std::size_t state = 0; state < alpha.size(); ++state) {
      const std::size_t m = state / windows_, Z = state % windows_;
      const auto to =
          static_cast<std::size_t>(codes.advance(codes.first(w_) + Z, x[l]) - codes.first(w_));
      moved[m * windows_ + to] += alpha[state] * next_[state * d + x[l]];
    }
    std::swap(alpha, moved);
    normalise();
  }
  return law_of(alpha);
}

std::vector<double> BlockFilter::predict_full(std::span<const Token> x) const {
  const auto w = static_cast<std::size_t>(w_);
  const auto d = static_cast<std::size_t>(law_.d());
  const WindowCodes codes(law_.d(), w_);
  std::vector<double> alpha(start_.size(), 0.0);
  std::size_t Z = static_cast<std::size_t>(codes.at(x, w) - codes.first(w_));
  std::vector<double> weight;
  for (std::size_t m = 0; m < law_.mixed().size(); ++m) weight.push_back(start_[m * windows_ + Z]);
  for (std::size_t l = w; l < x.size(); ++l) {
    double sum = 0.0;
    for (std::size_t m = 0; m < weight.size(); ++m) {
      weight[m] *= next_[(m * windows_ + Z) * d + x[l]];
      sum += weight[m];
    }
    for (double& entry : weight) entry /= sum;
    Z = static_cast<std::size_t>(codes.advance(codes.first(w_) + Z, x[l]) - codes.first(w_));
  }
  for (std::size_t m = 0; m < weight.size(); ++m) alpha[m * windows_ + Z] = weight[m];
  return law_of(alpha);
}

}  // namespace gih
