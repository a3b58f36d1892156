// Tokens a second, by vocabulary size, and prompts (tokens, cells and questions) a second.
#include <benchmark/benchmark.h>

#include "gih/data/prompts.hpp"
#include "protocol.hpp"

namespace {

using namespace gih;

void sample_tokens(benchmark::State& state) {
  DataSpec data = benchmark_protocol::data(1, 10000);
  data.d = static_cast<int>(state.range(0));
  std::vector<Token> x(*data.L + 1);
  const Kernel kernel = sequence_kernel(data, Split::train, 0);
  std::size_t index = 0;
  for (auto _ : state) {
    draw_sequence(data, kernel, Split::train, index++, x);
    benchmark::DoNotOptimize(x.data());
  }
  state.counters["tokens/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(x.size()),
                         benchmark::Counter::kIsRate);
}

void build_protocol(benchmark::State& state) {
  const DataSpec data = benchmark_protocol::data();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        build_prompts(data, {}, Split::train, static_cast<int>(state.range(0))));
  }
  state.counters["tokens/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * 9000 * 101, benchmark::Counter::kIsRate);
}

BENCHMARK(sample_tokens)->ArgName("d")->Arg(2)->Arg(3)->Arg(10)->Arg(50)->Arg(150);
BENCHMARK(build_protocol)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
