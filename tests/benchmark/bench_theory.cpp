// The three stages by descent and by flow, the information of a prior, and the estimators.
#include <benchmark/benchmark.h>

#include "gih/model/table_engine.hpp"
#include "gih/theory/estimators.hpp"
#include "gih/theory/information.hpp"
#include "gih/training/trainer.hpp"
#include "protocol.hpp"

namespace {

using namespace gih;

void stages(benchmark::State& state, const std::string& method) {
  const Prompts prompts =
      build_prompts(benchmark_protocol::data(), {}, Split::train, available_threads());
  const auto engine = make_table_engine({}, {0.1}, prompts, available_threads());
  Schedule schedule;
  const Blocks trains[] = {{.c = true}, {.w = true}, {.a = true}};
  const std::size_t epochs[] = {2000, 50000, 5000};
  for (std::size_t k = 0; k < 3; ++k) {
    Stage stage;
    stage.trains = trains[k];
    stage.method = method;
    stage.epochs = epochs[k];
    stage.time = static_cast<double>(epochs[k]);
    schedule.push_back(stage);
  }
  for (auto _ : state) {
    TrainState run = initial_state(benchmark_protocol::start());
    train(schedule, 0, *engine, nullptr, run, [](const TrainState&) { return true; });
    benchmark::DoNotOptimize(run.theta.a);
  }
}
void stages_gd(benchmark::State& state) {
  stages(state, "gd");
}
void stages_flow(benchmark::State& state) {
  stages(state, "flow");
}

void information(benchmark::State& state) {
  const DataSpec data = benchmark_protocol::data();
  const ModelSpec model;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        prior_information(data, model.M, model.subsets(), 1000, available_threads()));
  }
  state.counters["kernels/s"] = benchmark::Counter(static_cast<double>(state.iterations()) * 1000.0,
                                                   benchmark::Counter::kIsRate);
}

void estimator(benchmark::State& state, const std::string& name) {
  const DataSpec data = benchmark_protocol::data(1000);
  const Prompts prompts = build_prompts(data, {}, Split::train, available_threads());
  EstimatorSpec spec;
  spec.S = 0b011;
  spec.prior = data.prior;
  spec.parents = data.parents;
  for (auto _ : state) {
    benchmark::DoNotOptimize(estimate(name, spec, prompts, available_threads()));
  }
  state.counters["prompts/s"] = benchmark::Counter(static_cast<double>(state.iterations()) * 1000.0,
                                                   benchmark::Counter::kIsRate);
}

BENCHMARK(stages_gd)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(stages_flow)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(estimator, gih, std::string("gih"))->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(estimator, bayes, std::string("bayes"))
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(information)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
