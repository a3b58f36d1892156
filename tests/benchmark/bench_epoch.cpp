// One gradient-descent epoch: table engine by stage and threads, against the reference engine, and
// against each size.
#include <benchmark/benchmark.h>

#include "gih/base/parallel.hpp"
#include "gih/model/reference_engine.hpp"
#include "gih/model/table_engine.hpp"
#include "protocol.hpp"

namespace {

using namespace gih;

void epochs(benchmark::State& state, const DataSpec& data, Blocks blocks, int threads) {
  const Prompts prompts = build_prompts(data, {}, Split::train, available_threads());
  const auto engine = make_table_engine({}, {0.1}, prompts, threads);
  Parameters theta = benchmark_protocol::start();
  for (auto _ : state) {
    const Evaluation at = engine->evaluate(theta, blocks, false);
    // A tiny rate: the parameters change, as in training, but not where they are.
    theta.c -= 1e-9 * at.gradient.c;
    theta.w -= 1e-9 * at.gradient.w;
    theta.a -= 1e-9 * at.gradient.a;
    benchmark::DoNotOptimize(theta.a);
  }
}

void epoch_c(benchmark::State& state) {
  epochs(state, benchmark_protocol::data(), {true, false, false}, static_cast<int>(state.range(0)));
}
void epoch_w(benchmark::State& state) {
  epochs(state, benchmark_protocol::data(), {false, true, false}, static_cast<int>(state.range(0)));
}
void epoch_a(benchmark::State& state) {
  epochs(state, benchmark_protocol::data(), {false, false, true}, static_cast<int>(state.range(0)));
}
void epoch_joint(benchmark::State& state) {
  epochs(state, benchmark_protocol::data(), Blocks::all(), static_cast<int>(state.range(0)));
}
/// A joint epoch of a model on data of its own, with what its layout makes a pass read.
void scaling(benchmark::State& state, const DataSpec& data, const ModelSpec& model) {
  const Prompts prompts = build_prompts(data, {.M = model.M}, Split::train, available_threads());
  const auto engine = make_table_engine(model, {0.1}, prompts, available_threads());
  Parameters theta = zero_parameters(model);
  theta.w.setConstant(0.01);
  theta.w.diagonal().setConstant(3.0);
  theta.c.setConstant(0.01);
  theta.a = 0.01;
  for (auto _ : state) {
    const Evaluation at = engine->evaluate(theta, Blocks::all(), false);
    theta.c -= 1e-9 * at.gradient.c;
    theta.w -= 1e-9 * at.gradient.w;
    theta.a -= 1e-9 * at.gradient.a;
    benchmark::DoNotOptimize(theta.a);
  }
  benchmark_protocol::count_layout(state, model, prompts);
}

void epoch_by_N(benchmark::State& state) {
  scaling(state, benchmark_protocol::data(static_cast<std::size_t>(state.range(0))), {});
}
void epoch_by_L(benchmark::State& state) {
  const auto L = static_cast<std::size_t>(state.range(0));
  scaling(state, benchmark_protocol::data(1000, L), {});
}
void epoch_by_d(benchmark::State& state) {
  DataSpec data = benchmark_protocol::data(1000);
  data.d = static_cast<int>(state.range(0));
  scaling(state, data, {.d = data.d});
}
void epoch_by_M(benchmark::State& state) {
  scaling(state, benchmark_protocol::data(1000), {.M = static_cast<int>(state.range(0))});
}
void epoch_by_H(benchmark::State& state) {
  scaling(state, benchmark_protocol::data(1000), {.M = 8, .H = static_cast<int>(state.range(0))});
}
void epoch_by_D(benchmark::State& state) {
  scaling(state, benchmark_protocol::data(1000),
          {.M = 8, .H = 8, .D = static_cast<int>(state.range(0))});
}

/// The position-by-position engine on a hundredth of the sequences: times 100 it is one epoch.
void reference_hundredth(benchmark::State& state) {
  const DataSpec data = benchmark_protocol::data(90);
  std::vector<ReferenceQuestion> questions;
  std::vector<Token> x(*data.L + 1);
  for (std::size_t i = 0; i < data.train; ++i) {
    draw_sequence(data, sequence_kernel(data, Split::train, i), Split::train, i, x);
    ReferenceQuestion question{{x.begin(), x.end() - 1}, std::vector<double>(3, 0.0), 1.0 / 90.0};
    question.target[x.back()] = 1.0;
    questions.push_back(question);
  }
  const auto engine = make_reference_engine({}, {0.1}, questions);
  const Parameters theta = benchmark_protocol::start();
  for (auto _ : state) benchmark::DoNotOptimize(engine->evaluate(theta, Blocks::all(), false));
}

BENCHMARK(reference_hundredth)->Unit(benchmark::kMillisecond);
BENCHMARK(epoch_c)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(
    benchmark::kMicrosecond);
BENCHMARK(epoch_w)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(
    benchmark::kMicrosecond);
BENCHMARK(epoch_a)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(
    benchmark::kMicrosecond);
BENCHMARK(epoch_joint)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
// Sizes at which the cost of an epoch is plotted.
#define SCALING(name) \
  BENCHMARK(epoch_by_##name)->ArgName(#name)->UseRealTime()->Unit(benchmark::kMicrosecond)
SCALING(N)->RangeMultiplier(10)->Range(1000, 1000000);
SCALING(L)->RangeMultiplier(10)->Range(100, 1000000);
SCALING(d)->Arg(2)->Arg(3)->Arg(5)->Arg(10)->Arg(20)->Arg(50);
SCALING(M)->Arg(3)->Arg(4)->Arg(5)->Arg(6)->Arg(8)->Arg(10);
SCALING(H)->Arg(2)->Arg(3)->Arg(4)->Arg(6)->Arg(8);
SCALING(D)->Arg(1)->Arg(2)->Arg(3)->Arg(4)->Arg(6)->Arg(8);

}  // namespace
