// Predicted rates against finite differences along exact flows, which have no first order in a left
// out.
#include "gih/theory/growth_rates.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "gih/theory/tilt.hpp"
#include "gih/training/trainer.hpp"

using namespace gih;

namespace {

/// Forty kernels with parents 1 and 2, each of one sequence, at L = inf.
Setup limit_setup(double a, double diagonal) {
  Setup setup;
  setup.data.d = 2;
  setup.data.parents = {1, 2};
  setup.data.L.reset();
  setup.data.prior.alpha = 0.3;
  setup.data.prior.floor = 0.05;
  setup.data.train = 40;
  setup.model.d = 2;
  setup.model.mask = true;
  setup.theta.w = diagonal * Matrix::Identity(3, 3);
  setup.theta.c = Eigen::VectorXd::Constant(7, 0.01);
  setup.theta.a = a;
  return setup;
}

std::vector<Kernel> kernels_of(const Setup& setup) {
  std::vector<Kernel> kernels;
  for (std::size_t i = 0; i < setup.data.train; ++i) {
    kernels.push_back(sequence_kernel(setup.data, Split::train, i));
  }
  return kernels;
}

Stage flow(Blocks trains, double time) {
  Stage stage;
  stage.trains = trains;
  stage.method = "flow";
  stage.time = time;
  stage.tolerance = 1e-11;
  return stage;
}

Log trained(const Setup& setup) {
  const auto objective = limit_objective(kernels_of(setup), setup.model);
  TrainState state = initial_state(setup.theta);
  REQUIRE(
      train(setup.schedule, 0, *objective, nullptr, state, [](const TrainState&) { return true; }));
  return state.log;
}

/// Largest |measured / predicted - 1| of a stage.
double worst(const GrowthRates& found, int stage) {
  double apart = 0.0;
  int seen = 0;
  for (const GrowthRate& rate : found.rates) {
    if (rate.stage != stage) continue;
    ++seen;
    apart = std::max(apart, std::abs(rate.measured / rate.predicted - 1.0));
  }
  REQUIRE(seen > 100);
  return apart;
}

}  // namespace

TEST_CASE("what the predictions of c and w leave out is of first order in a") {
  std::map<double, std::pair<double, double>> apart;
  for (const double a : {0.004, 0.002, 0.001}) {
    Setup setup = limit_setup(a, 3.0);
    setup.schedule = {flow({.c = true}, 1.5 / a)};
    const GrowthRates one = growth_rates(setup, trained(setup));
    REQUIRE(one.choice.decided);
    REQUIRE(one.choice.S_star == 0b011);
    // w with p on S* alone, as the prediction has it.
    setup.theta.c.setZero();
    setup.theta.c[3] = 0.01;
    setup.schedule = {flow({.w = true}, 1000.0 / a)};
    apart[a] = {worst(one, 1), worst(growth_rates(setup, trained(setup)), 1)};
  }
  CHECK(apart[0.001].first < 0.01);
  CHECK(apart[0.001].second < 0.01);
  for (const double a : {0.004, 0.002}) {
    CHECK(apart[a].first / apart[a / 2].first == doctest::Approx(2.0).epsilon(0.05));
    CHECK(apart[a].second / apart[a / 2].second == doctest::Approx(2.0).epsilon(0.15));
  }
}

TEST_CASE("a grows as predicted where p is on S* and the heads are sharp") {
  Setup setup = limit_setup(0.001, 40.0);
  setup.theta.c.setZero();
  setup.theta.c[3] = 0.01;
  setup.schedule = {flow({.a = true}, 1e6)};
  const GrowthRates found = growth_rates(setup, trained(setup));
  CHECK(worst(found, 1) < 1e-4);
  CHECK(found.rates.back().value > 8.0);
  CHECK(std::isnan(found.rates.back().bound));
}

TEST_CASE(
    "rows: what grows, its value, the time; both the predictions and the bounds are positive") {
  Setup setup = limit_setup(0.001, 8.0);
  setup.schedule = {flow({.c = true}, 1000.0), flow({.w = true}, 1e9), flow({.a = true}, 10.0)};
  const Log log = trained(setup);
  const GrowthRates found = growth_rates(setup, log);
  std::map<std::string, int> rows;
  for (const GrowthRate& rate : found.rates) {
    ++rows[rate.of];
    CHECK(rate.to > rate.from);
    CHECK(rate.predicted > 0.0);
    if (rate.stage < 3) {
      CHECK(rate.bound > 0.0);
      CHECK(rate.measured > rate.bound);
    }
  }
  CHECK(rows.size() == 6 + 2 + 1);
  for (const char* name : {"110/000", "110/010", "110/011", "head 1", "head 2", "a"}) {
    CAPTURE(name);
    CHECK(rows[name] > 100);
  }
  // The rises of a quantity add up to what it rose in all.
  double rise = 0.0;
  for (const GrowthRate& rate : found.rates) {
    if (rate.of == "head 2") rise += rate.measured * (rate.to - rate.from);
  }
  const Matrix first = lag_attention(log.front().theta.w), last = lag_attention(log.back().theta.w);
  CHECK(rise == doctest::Approx(std::log(last(1, 1) / (last(1, 0) + last(1, 2))) -
                                std::log(first(1, 1) / (first(1, 0) + first(1, 2)))));
}

TEST_CASE("a stage that trains several blocks, or none, has no rates") {
  Setup setup = limit_setup(0.001, 8.0);
  CHECK(growth_rates(setup, trained(setup)).rates.empty());
  setup.schedule = {flow({.c = true, .a = true}, 1.0)};
  CHECK(growth_rates(setup, trained(setup)).rates.empty());
}
