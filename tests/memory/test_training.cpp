#include "gih/memory/training.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>

#include "gih/base/error.hpp"
#include "support/memory_cases.hpp"

using namespace gih;
using namespace gih::test;

namespace {

struct Case {
  Reader reader = Reader::limit(3, 2, 3);
  DataSpec data;
  StreamSpec stream;
  MemoryTraining training;
  Case() {
    data.prior.alpha = 0.3;
    data.L = 120;
    data.train = 64;
    stream.compressor.kind = Compressor::conv;
    training.steps = 120;
    training.batch = 16;
  }
  TrainedCompressor run(const MemoryReading& reading = {}) const {
    return train_compressor(reader, data, stream, reading, training);
  }
};

double mean(const std::vector<double>& values, std::size_t first, std::size_t count) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
  return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), 0.0) /
         static_cast<double>(count);
}

}  // namespace

TEST_CASE("evictions are those of the stream") {
  for (const std::size_t n_mem : {0UL, 7UL, 20UL}) {
    for (const std::size_t rate : {1UL, 3UL, 9UL}) {
      StreamSpec spec;
      spec.segment = 6;
      spec.n_mem = n_mem;
      spec.compressor.rate = rate;
      const Items items = Reader::limit(2, 2, 3).items(random_tokens(2, 61, 1));
      StreamingMemory memory(spec, {}, items.d_e(), items.d);
      Tape tape;
      memory.record(tape);
      run_stream(memory, items, {.a = 1.0}, false);
      const auto found = evictions(spec, items.first, 61);
      REQUIRE(found.size() == tape.steps.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].rows == tape.steps[i].inputs.size());
        CHECK(found[i].old == tape.positions[tape.steps[i].inputs.front()]);
        CHECK(found[i].query + found[i].queries - 1 == tape.steps[i].made);
      }
    }
  }
}

TEST_CASE("every loss falls, and the same seed gives the same bits") {
  for (const TrainBy by : {TrainBy::ar, TrainBy::ar_z, TrainBy::ae, TrainBy::ce}) {
    Case test;
    test.training.by = by;
    if (by == TrainBy::ce) test.training.steps = 40;
    const TrainedCompressor trained = test.run();
    const auto& loss = trained.curve.loss;
    const std::size_t part = loss.size() / 4;
    CHECK(mean(loss, loss.size() - part, part) < mean(loss, 0, part));
    CHECK(test.run().compressor.weights == trained.compressor.weights);
    CHECK((trained.compressor.bias != 0.0) == (by == TrainBy::ar_z));
  }
}

TEST_CASE("reconstruction without the partition function leaves the mass alone") {
  Case test;
  const TrainedCompressor ar = test.run();
  test.training.by = TrainBy::ar_z;
  const TrainedCompressor ar_z = test.run();
  const std::size_t last = ar.curve.log_Z_loss.size() - 20;
  CHECK(mean(ar_z.curve.log_Z_loss, last, 20) < 0.5 * mean(ar.curve.log_Z_loss, last, 20));
}

TEST_CASE("joint training moves the transformer too") {
  Case test;
  test.reader = soft_reader(3, 2);
  test.training.joint = true;
  test.training.steps = 30;
  const TrainedCompressor trained = test.run();
  CHECK(trained.theta.a != test.reader.theta().a);
  CHECK(trained.theta.w != test.reader.theta().w);
  const auto& loss = trained.curve.transformer_loss;
  CHECK(mean(loss, 20, 10) < mean(loss, 0, 10));
}

TEST_CASE("Adam's first step has the size of the rate, a clipped gradient its length") {
  Adam adam(2, 0.1, 0.0);
  Eigen::VectorXd at{{1.0, -1.0}};
  adam.step(Eigen::VectorXd{{5.0, -0.001}}, at);
  CHECK(std::abs(at[0] - 0.9) < 1e-6);
  CHECK(std::abs(at[1] + 0.9) < 1e-4);
}

TEST_CASE("what cannot be trained is refused") {
  Case test;
  test.stream.compressor.kind = Compressor::mean;
  CHECK_THROWS_AS(test.run(), InputError);
  test = {};
  CHECK_THROWS_AS(test.run({.a = std::numeric_limits<double>::infinity()}), InputError);
  test.training.joint = true;
  CHECK_THROWS_AS(test.run(), InputError);
  test = {};
  test.data.L = 30;
  CHECK_THROWS_AS(test.run(), InputError);
  test.data.L.reset();
  CHECK_THROWS_AS(test.run(), InputError);
}
