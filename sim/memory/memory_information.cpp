#include "gih/memory/memory_information.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "gih/base/error.hpp"
#include "gih/base/parallel.hpp"
#include "gih/base/random.hpp"
#include "gih/data/chain.hpp"
#include "gih/memory/block_filter.hpp"
#include "predictions.hpp"

namespace gih {
namespace {

/// Everything that the reading depends on: the slots, and the query.
std::string state_of(const StreamingMemory& memory, const double* u) {
  std::string text;
  const auto append = [&](const double* values, Eigen::Index count) {
    for (Eigen::Index i = 0; i < count; ++i) {
      const double rounded = std::round(values[i] * 1e9);  // sums in another order are the same
      text.append(reinterpret_cast<const char*>(&rounded), sizeof rounded);
    }
  };
  for (const Block& block : memory.blocks()) {
    for (std::size_t i = 0; i < block.slots->size(); ++i) {
      append(block.slots->key(i), block.slots->d_e());
      append(block.slots->value(i), block.slots->d());
      append(&block.slots->info(i).n, 1);
    }
    text += '|';
  }
  if (const LinearMemory* linear = memory.linear()) {
    append(linear->A.data(), linear->A.size());
    append(linear->m.data(), linear->m.size());
  }
  append(u, memory.current().d_e());
  return text;
}

}  // namespace

LossSplit split_loss(const SequenceLaw& law, const Reader& reader, const StreamSpec& stream,
                     const ReadOptions& options, int n, double eps, std::size_t max_states) {
  struct Seen {
    std::vector<double> mass, y;
  };
  const auto d = static_cast<std::size_t>(law.d());
  const Eigen::VectorXd none;
  const bool track = compressor_row(stream.compressor.kind).uses_usage;
  std::unordered_map<std::string, std::size_t> number;
  std::vector<Seen> seen;
  LossSplit split;
  double full = 0.0;  // sum P sum_k p log p
  law.each(n, max_states, [&](std::span<const Token> x, double P, std::span<const double> p) {
    const Items items = reader.items(x);
    StreamingMemory memory(stream, none, items.d_e(), items.d);
    run_stream(memory, items, options, track);
    const double* u = items.u.row(n).data();
    const auto [at, is_new] = number.emplace(state_of(memory, u), number.size());
    const auto t = static_cast<std::size_t>(n) + 1;
    if (is_new) {
      const Reading reading = std::as_const(memory).read(u, t, options);
      seen.push_back({std::vector<double>(d, 0.0), smoothed(reading.y, eps)});
    }
    Seen& one = seen[at->second];
    split.total += P * divergence(p, one.y);
    for (std::size_t k = 0; k < d; ++k) {
      one.mass[k] += P * p[k];
      if (p[k] > 0.0) full += P * p[k] * std::log(p[k]);
    }
  });
  split.information = full;
  for (const Seen& one : seen) {
    double all = 0.0;
    for (const double mass : one.mass) all += mass;
    for (std::size_t k = 0; k < d; ++k) {
      const double p = one.mass[k] / all;
      if (p == 0.0) continue;
      split.information -= one.mass[k] * std::log(p);
      split.reading += one.mass[k] * std::log(p / one.y[k]);
    }
  }
  split.states = static_cast<double>(seen.size());
  return split;
}

LossSplit sample_loss(const SequenceLaw& law, Subset S, int M, const StreamSpec& stream,
                      const ReadOptions& options, int n, double eps, std::size_t samples,
                      std::uint64_t seed, int threads) {
  BlockSummary summary = BlockSummary::mean;
  switch (stream.compressor.kind) {
    case Compressor::drop:
      summary = BlockSummary::nothing;
      break;
    case Compressor::mean:
    case Compressor::sum:
      break;
    case Compressor::max:
      summary = BlockSummary::max;
      break;
    case Compressor::decimate:
      summary = BlockSummary::decimate;
      break;
    default:
      throw InputError(
          fmt::format("the information loss of {} is not sampled: use drop, mean, sum, "
                      "max or decimate",
                      compressor_row(stream.compressor.kind).name));
  }
  if (stream.n_cmem != unlimited_slots || stream.leftover != Leftover::carry) {
    throw InputError(
        "the information loss is sampled for an unlimited compressed memory that "
        "carries its leftovers");
  }
  if (samples < 2) {
    throw InputError(fmt::format("{} samples: must be 2 or more for a standard error", samples));
  }
  const auto c = static_cast<int>(stream.compressor.rate);
  const BlockFilter filter(law, S, c, summary);
  const Reader reader = Reader::limit(law.d(), std::max(M, filter.window()), S);
  const Eigen::VectorXd none;
  struct Sample {
    double total, information, reading;
  };
  std::vector<Sample> found(samples);
  std::vector<std::vector<double>> starts;
  for (const Kernel& kernel : law.mixed()) starts.push_back(WindowChain(kernel).long_run_law());
  parallel_for(threads, samples, [&](std::size_t i) {
    Stream random(seed, Purpose::memory_sampling, i);
    const std::size_t count = law.mixed().size();
    const auto m = static_cast<std::size_t>(random.uniform() * static_cast<double>(count));
    const Kernel& kernel = law.mixed()[m];
    const auto draw = [&](std::span<const double> p) {
      double left = random.uniform();
      std::size_t k = 0;
      while (k + 1 < p.size() && left >= p[k]) left -= p[k++];
      return k;
    };
    const WindowCodes codes(law.d(), law.r());
    std::vector<Token> x = codes.decode(codes.first(law.r()) + draw(starts[m]));
    std::reverse(x.begin(), x.end());
    std::vector<Token> lags(static_cast<std::size_t>(law.r()));
    while (x.size() < static_cast<std::size_t>(n)) {
      std::copy(x.rbegin(), x.rbegin() + law.r(), lags.begin());
      x.push_back(static_cast<Token>(draw(kernel.row(kernel.parent_code(lags)))));
    }
    const Items items = reader.items(x);
    StreamingMemory memory(stream, none, items.d_e(), items.d);
    run_stream(memory, items, options, false);
    const auto t = static_cast<std::size_t>(n) + 1;
    const Reading reading = std::as_const(memory).read(items.u.row(n).data(), t, options);
    // What is not compressed is raw, and the blocks are those before it; for drop the tokens
    // before the raw items are gone, in blocks of c as far as they go.
    const std::size_t raw =
        memory.pending().size() + memory.memory().size() + memory.current().size();
    const std::size_t older = x.size() - (items.first - 1) - raw;
    const std::size_t blocks = older / static_cast<std::size_t>(c);
    const std::size_t hidden = x.size() - raw - blocks * static_cast<std::size_t>(c);
    const auto full = filter.predict_full(x);
    // The keys of the first raw items hold tokens from before them.
    Subset revealed = 0;
    for (std::size_t item = 0; item < raw; ++item) {
      for (int lag = 1; S >> (lag - 1) != 0; ++lag) {
        const int before = lag - static_cast<int>(item);
        if ((S >> (lag - 1) & 1U) && before >= 1) revealed |= Subset{1} << (before - 1);
      }
      if (item >= 31) break;
    }
    const auto known = filter.predict(x, hidden, blocks, revealed);
    const auto y = smoothed(reading.y, eps);
    found[i] = {divergence(full, y), divergence(full, known), 0.0};
    found[i].reading = found[i].total - found[i].information;
  });
  LossSplit split;
  const auto count = static_cast<double>(samples);
  const auto gather = [&](double Sample::*member, double& mean, double& error) {
    for (const Sample& sample : found) mean += sample.*member / count;
    double squares = 0.0;
    for (const Sample& sample : found) squares += std::pow(sample.*member - mean, 2);
    error = std::sqrt(squares / (count - 1.0) / count);
  };
  gather(&Sample::total, split.total, split.total_error);
  gather(&Sample::information, split.information, split.information_error);
  gather(&Sample::reading, split.reading, split.reading_error);
  return split;
}

}  // namespace gih
