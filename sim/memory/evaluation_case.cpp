#include "evaluation_case.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "gih/data/chain.hpp"
#include "gih/memory/pooled_theory.hpp"

namespace gih {

Case draw_case(const MemoryTask& task, const DataSpec& data, Split split, std::size_t index) {
  Case found;
  found.x.resize(*data.L + 1);
  if (task.switching > 0.0) {
    found.kernel = draw_switching(data, split, index, task.stream.segment, task.switching, found.x);
  } else {
    found.kernel = sequence_kernel(data, split, index);
    draw_sequence(data, found.kernel, split, index, found.x);
  }
  found.next = found.x.back();
  found.x.pop_back();
  const std::vector<Token> lags(found.x.rbegin(), found.x.rbegin() + found.kernel.largest_lag());
  const auto row = found.kernel.row(found.kernel.parent_code(lags));
  found.truth.assign(row.begin(), row.end());
  return found;
}

/// Posterior mean of the query's row under a Dirichlet prior, parents known; nothing for other
/// laws.
std::vector<double> bayes(const Case& of, const DataSpec& data, double switching) {
  if (data.table || data.prior.name != "dirichlet" || data.prior.floor > 0.0 || switching > 0.0)
    return {};
  const auto r = static_cast<std::size_t>(data.parents.back());
  const auto matches = [&](std::size_t l) {  // of x[l] and the query, which follows x
    return std::all_of(data.parents.begin(), data.parents.end(), [&](int lag) {
      const auto back = static_cast<std::size_t>(lag);
      return of.x[l - back] == of.x[of.x.size() - back];
    });
  };
  const double alpha = data.prior.alpha;
  std::vector<double> p(static_cast<std::size_t>(data.d), alpha);
  double sum = alpha * data.d;
  for (std::size_t l = r; l < of.x.size(); ++l) {
    if (!matches(l)) continue;
    p[of.x[l]] += 1.0;
    sum += 1.0;
  }
  for (double& value : p) value /= sum;
  return p;
}

std::vector<double> pooled(const MemoryTask& task, const Case& of) {
  const Compressor kind = task.stream.compressor.kind;
  if (!task.reader.is_limit() || !std::isfinite(task.read.a) || task.switching > 0.0 ||
      (kind != Compressor::mean && kind != Compressor::sum)) {
    return {};
  }
  std::vector<Token> query;
  for (std::size_t lag = 1; task.S >> (lag - 1) != 0; ++lag) {
    if (task.S >> (lag - 1) & 1U) query.push_back(of.x[of.x.size() - lag]);
  }
  if (task.S >> 12 != 0) return {};
  const auto c = static_cast<int>(task.stream.compressor.rate);
  const double theta = kind == Compressor::mean ? task.read.a / c : task.read.a;
  return pooled_prediction(of.kernel, task.S, query, theta, c);
}

const char* frequency_of(const MemoryTask& task, const Case& of) {
  const WindowChain chain(of.kernel);
  const auto w = static_cast<std::size_t>(
      std::max(of.kernel.largest_lag(), static_cast<int>(std::bit_width(task.S))));
  const std::vector<double> law = extend_law(of.kernel, chain.long_run_law(), static_cast<int>(w));
  const WindowCodes codes(of.kernel.d, static_cast<int>(w));
  double mu = 0.0, alike = 1.0;
  for (std::size_t Z = 0; Z < law.size(); ++Z) {
    if (law[Z] == 0.0) continue;
    const auto lags = codes.decode(codes.first(static_cast<int>(w)) + Z);
    bool matches = true;
    for (std::size_t lag = 1; lag <= w && matches; ++lag) {
      if (task.S >> (lag - 1) & 1U) matches = lags[lag - 1] == of.x[of.x.size() - lag];
    }
    if (matches) mu += law[Z];
  }
  for (Subset S = task.S; S != 0; S &= S - 1) alike /= of.kernel.d;
  return mu < alike / 2.0 ? "rare" : mu > 2.0 * alike ? "frequent" : "mid";
}

Kernel draw_switching(const DataSpec& data, Split split, std::size_t index, std::size_t segment,
                      double switching, std::span<Token> x) {
  // Each kernel has a stream of its own, and so have the tokens: none moves another.
  const std::uint64_t number = 2 * index + (split == Split::train ? 0 : 1);
  std::uint64_t kernels = 0;
  const auto next_kernel = [&] {
    const Stream own(data.seed, Purpose::memory_switching, (++kernels << 40) + number);
    return draw_kernel(data.prior, data.d, data.parents, own, index);
  };
  Stream stream(data.seed, Purpose::memory_switching, number);
  Kernel kernel = next_kernel();
  const auto r = static_cast<std::size_t>(kernel.largest_lag());
  std::vector<Token> lags(r);
  for (std::size_t l = 0; l < x.size(); ++l) {
    if (l > 0 && l % segment == 0 && stream.uniform() < switching) {
      kernel = next_kernel();
    }
    const double at = stream.uniform();
    if (l < r) {
      x[l] = static_cast<Token>(at * data.d);
      continue;
    }
    for (std::size_t i = 0; i < r; ++i) lags[i] = x[l - 1 - i];
    const auto p = kernel.row(kernel.parent_code(lags));
    double left = at;
    std::size_t k = 0;
    while (k + 1 < p.size() && left >= p[k]) left -= p[k++];
    x[l] = static_cast<Token>(k);
  }
  return kernel;
}

}  // namespace gih
