// What the machine does at best, for the roofline of an epoch of Figure 3's protocol: one thread.
#include <benchmark/benchmark.h>

#include <cstring>
#include <numeric>

#include "protocol.hpp"

namespace {

using namespace gih;

const QuestionBlocks& protocol_layout() {
  static const QuestionBlocks blocks = [] {
    const Prompts prompts =
        build_prompts(benchmark_protocol::data(), {}, Split::train, available_threads());
    return benchmark_protocol::layout({}, prompts);
  }();
  return blocks;
}

/// Reading as many bytes as the layout has, over and over.
void machine_read(benchmark::State& state) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(protocol_layout().bytes()) / 64 * 8, 1);
  for (auto _ : state) {
    using Vector = std::uint64_t __attribute__((vector_size(64)));
    Vector sum[4]{};
    for (std::size_t i = 0; i + 32 <= words.size(); i += 32) {
      for (std::size_t j = 0; j < 4; ++j) {
        Vector v;
        std::memcpy(&v, words.data() + i + 8 * j, sizeof v);
        sum[j] += v;
      }
    }
    for (Vector& s : sum) benchmark::DoNotOptimize(s);
  }
  state.counters["bytes/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(words.size()) * 8.0,
      benchmark::Counter::kIsRate);
}

/// Products and sums that stay in registers.
void machine_multiply_add(benchmark::State& state) {
  constexpr std::size_t chains = 12, length = 1000;
  Lanes sum[chains]{};
  Lanes x = Lanes::all(0.999), y = Lanes::all(1e-3);
  for (auto _ : state) {
    benchmark::DoNotOptimize(x);
    benchmark::DoNotOptimize(y);
    for (std::size_t i = 0; i < length; ++i) {
      for (Lanes& s : sum) s = s * x + y;
    }
    for (Lanes& s : sum) benchmark::DoNotOptimize(s);
  }
  state.counters["flops/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 2.0 * lanes * chains * length,
                         benchmark::Counter::kIsRate);
}

/// The two loops of a pass and nothing else, on the layout's own entries as if they were one run:
/// every count is read, widened and multiplied, and added to a register or to one of the two sums
/// of its class.
void machine_pass(benchmark::State& state) {
  const QuestionBlocks& blocks = protocol_layout();
  constexpr std::size_t piece = 256;  // entries, which stay in the first cache
  std::vector<double> e(blocks.largest_chunk, 0.5);
  std::vector<Lanes> sums(2 * blocks.largest_chunk, Lanes{});
  const std::uint32_t* of = blocks.entry_class.data();
  const ShortLanes* n = blocks.short_counts.data();
  const std::size_t entries = blocks.entry_class.size();
  Lanes g = Lanes::all(1e-9);
  for (auto _ : state) {
    for (std::size_t first = 0; first < entries; first += piece) {
      const std::size_t last = std::min(first + piece, entries);
      Lanes sum[4]{};
      for (std::size_t i = first; i + 4 <= last; i += 4) {
        for (std::size_t j = 0; j < 4; ++j) sum[j] += e[of[i + j]] * widened(n[i + j]);
      }
      for (Lanes& s : sum) benchmark::DoNotOptimize(s);
      benchmark::DoNotOptimize(g);
      const Lanes factor = g;
      for (std::size_t i = first; i < last; ++i) sums[2 * of[i] + i % 2] += factor * widened(n[i]);
    }
    benchmark::ClobberMemory();
  }
  state.counters["entries/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(entries),
                         benchmark::Counter::kIsRate);
  state.counters["entries"] = static_cast<double>(entries);
  state.counters["bytes"] = blocks.bytes();
  state.counters["flops"] = benchmark_protocol::flops(blocks);
}

/// Adding eight doubles to a sum in the first cache.
void machine_store(benchmark::State& state) {
  constexpr std::size_t count = 128;
  std::vector<Lanes> sums(count, Lanes{});
  Lanes x = Lanes::all(1e-9);
  for (auto _ : state) {
    benchmark::DoNotOptimize(x);
    const Lanes term = x;
    for (Lanes& sum : sums) sum += term;
    benchmark::ClobberMemory();
  }
  state.counters["entries/s"] = benchmark::Counter(static_cast<double>(state.iterations()) * count,
                                                   benchmark::Counter::kIsRate);
}

BENCHMARK(machine_store)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(machine_read)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(machine_multiply_add)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(machine_pass)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
