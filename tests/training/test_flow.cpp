// The adaptive flow on an objective with known trajectories, and on the transformer.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "gih/base/error.hpp"
#include "gih/model/table_engine.hpp"
#include "gih/training/trainer.hpp"
#include "support/quadratic.hpp"

using namespace gih;

namespace {

const StepObserver go_on = [](const TrainState&) { return true; };

Parameters quadratic_start() {
  Parameters theta;
  theta.w = Matrix::Constant(2, 3, 0.5);
  // Of the sign of the targets: c never crosses 0 in the transformer, whose loss sees c_S^2 alone.
  theta.c = Eigen::VectorXd::Constant(4, -0.3);
  theta.a = -1.0;
  return theta;
}

Stage flow(Blocks trains, double time, double tolerance,
           const std::string& stepper = "dormand-prince") {
  Stage stage;
  stage.stepper = stepper;
  stage.trains = trains;
  stage.method = "flow";
  stage.time = time;
  stage.tolerance = tolerance;
  return stage;
}

double apart(const Parameters& a, const Parameters& b) {
  return std::max(
      {(a.w - b.w).cwiseAbs().maxCoeff(), (a.c - b.c).cwiseAbs().maxCoeff(), std::abs(a.a - b.a)});
}

struct Transformer {
  std::unique_ptr<Objective> objective;
  Parameters theta;

  explicit Transformer(std::size_t sequences) {
    DataSpec data;
    data.train = sequences;
    objective = make_table_engine({}, {0.1}, build_prompts(data, {}, Split::train, 1), 1);
    theta.w = Matrix::Constant(3, 3, 0.01);
    theta.w.diagonal().setConstant(3.0);
    theta.c = Eigen::VectorXd::Constant(7, 0.01);
    theta.a = 0.01;
  }
};

}  // namespace

TEST_CASE("log times: 0 and the end included, ascending, at most 1000 or so") {
  for (const double every : {0.0, 0.7}) {
    const auto times = log_times(50.0, every);
    CHECK(times.front() == 0.0);
    CHECK(times.back() == 50.0);
    CHECK(times.size() <= 1000);
    for (std::size_t i = 1; i < times.size(); ++i) CHECK(times[i] > times[i - 1]);
  }
  CHECK(log_times(0.0, 0.0) == std::vector<double>{0.0});
}

TEST_CASE("every row of the flow lies on the exact trajectory, closer with a smaller tolerance") {
  for (const StepperRow& stepper : stepper_table()) {
    CAPTURE(std::string(stepper.name));
    double worst_before = 1.0;
    for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
      CAPTURE(tolerance);
      test::Quadratic objective(2, 3, 4);
      TrainState state = initial_state(quadratic_start());
      REQUIRE(train({flow(Blocks::all(), 30.0, tolerance, stepper.name)}, 0, objective, nullptr,
                    state, go_on));
      double worst = 0.0;
      for (const LogRow& row : state.log) {
        const Parameters wanted = objective.flow(quadratic_start(), Blocks::all(), row.time);
        worst = std::max(worst, apart(row.theta, wanted));
        CHECK(std::isnan(row.validation_loss));
      }
      CHECK(state.log.size() == log_times(30.0, 0.0).size());
      CHECK(state.log.back().time == 30.0);
      CHECK(worst < 20.0 * tolerance + 1e-11);
      CHECK(worst < worst_before);
      worst_before = worst;
    }
  }
}

TEST_CASE("a stage moves its blocks alone, and rows come at the asked times") {
  test::Quadratic objective(2, 3, 4);
  TrainState state = initial_state(quadratic_start());
  REQUIRE(train({flow({.c = true}, 3.0, 1e-8), flow({.a = true}, 2.0, 1e-8)}, 1, objective, nullptr,
                state, go_on));
  REQUIRE(state.log.size() == 4 + 3);
  CHECK(state.log[2].time == 2.0);
  CHECK(state.log[2].theta.w == quadratic_start().w);
  CHECK(state.log[2].theta.a == -1.0);
  CHECK(state.log[5].theta.c == state.log[3].theta.c);
  CHECK(state.theta.a == doctest::Approx(3.5 + std::exp(-0.07 * 2.0) * (-1.0 - 3.5)).epsilon(1e-7));
}

TEST_CASE("stopped after any step and gone on from what a checkpoint holds: the same bits") {
  const Schedule schedule{flow({.c = true}, 20.0, 1e-7),
                          flow({.w = true, .a = true}, 40.0, 1e-7, "rosenbrock")};
  Transformer model(60);
  TrainState whole = initial_state(model.theta);
  std::size_t steps = 0;
  REQUIRE(train(schedule, 0, *model.objective, nullptr, whole,
                [&](const TrainState&) { return ++steps, true; }));
  REQUIRE(steps > 10);
  for (std::size_t stop = 1; stop < steps; stop += 3) {
    CAPTURE(stop);
    TrainState part = initial_state(model.theta);
    std::size_t taken = 0;
    REQUIRE_FALSE(train(schedule, 0, *model.objective, nullptr, part,
                        [&](const TrainState&) { return ++taken < stop; }));
    REQUIRE(train(schedule, 0, *model.objective, nullptr, part, go_on));
    REQUIRE(part.log.size() == whole.log.size());
    for (std::size_t i = 0; i < whole.log.size(); ++i) {
      CHECK(part.log[i].time == whole.log[i].time);
      CHECK(part.log[i].step == whole.log[i].step);
      CHECK(part.log[i].train_loss == whole.log[i].train_loss);
      CHECK(apart(part.log[i].theta, whole.log[i].theta) == 0.0);
    }
    CHECK(apart(part.theta, whole.theta) == 0.0);
  }
}

TEST_CASE("the end of a flow agrees with a far smaller tolerance's, and both steppers agree") {
  Transformer model(300);
  const auto end = [&](Blocks trains, double time, double tolerance, const char* stepper) {
    TrainState state = initial_state(model.theta);
    REQUIRE(train({flow(trains, time, tolerance, stepper)}, 1000000, *model.objective, nullptr,
                  state, go_on));
    return state.theta;
  };
  struct {
    Blocks trains;
    double time;
  } const stages[] = {
      {{.c = true}, 200.0}, {{.w = true}, 2000.0}, {{.a = true}, 500.0}, {Blocks::all(), 200.0}};
  for (const auto& [trains, length] : stages) {
    const double time = length;  // CAPTURE cannot hold a structured binding
    CAPTURE(time);
    const Parameters exact = end(trains, time, 1e-11, "dormand-prince");
    CHECK(apart(exact, model.theta) > 1e-3);
    for (const StepperRow& stepper : stepper_table()) {
      CAPTURE(std::string(stepper.name));
      CHECK(apart(end(trains, time, 1e-8, stepper.name), exact) < 1e-6);
    }
  }
}

TEST_CASE("Rosenbrock's steps grow where the flow is stiff, and the explicit ones cannot") {
  // Rates 1000 and 0.001: long after the fast motion has died an explicit step is still bound to
  // its time.
  struct Stiff final : Objective {
    double loss(const Parameters& at) override {
      return 500.0 * std::pow(at.w(0, 0) - 1.0, 2) + 0.0005 * std::pow(at.a - 2.0, 2);
    }
    void evaluate_into(const Parameters& at, Blocks, bool, Evaluation& result) override {
      result = {loss(at), at};
      result.gradient.w(0, 0) = 1000.0 * (at.w(0, 0) - 1.0);
      result.gradient.a = 0.001 * (at.a - 2.0);
    }
  } objective;
  Parameters theta;
  theta.w = Matrix::Zero(1, 1);
  theta.a = 0.0;
  std::vector<std::size_t> steps;
  for (const StepperRow& stepper : stepper_table()) {
    TrainState state = initial_state(theta);
    std::size_t count = 0;
    REQUIRE(train({flow({.w = true, .a = true}, 100.0, 1e-6, stepper.name)}, 0, objective, nullptr,
                  state, [&](const TrainState&) { return ++count, true; }));
    CHECK(state.theta.a == doctest::Approx(2.0 * (1.0 - std::exp(-0.1))).epsilon(1e-5));
    CHECK(state.theta.w(0, 0) == doctest::Approx(1.0).epsilon(1e-5));
    steps.push_back(count);
  }
  REQUIRE(steps.size() == 2);
  CHECK(steps[0] > 20000);
  CHECK(steps[1] < 200);
}

TEST_CASE("a stepper that is unknown is refused") {
  test::Quadratic objective(2, 3, 4);
  TrainState state = initial_state(quadratic_start());
  CHECK_THROWS_WITH_AS(
      train({flow({.a = true}, 1.0, 1e-8, "euler")}, 0, objective, nullptr, state, go_on),
      "stage stepper \"euler\" is unknown", InputError);
}

TEST_CASE("C_D is conserved to ten times the tolerance, the loss never rises") {
  Transformer model(500);
  for (const double tolerance : {1e-6, 1e-8}) {
    TrainState state = initial_state(model.theta);
    REQUIRE(
        train({flow({.c = true}, 100.0, tolerance)}, 0, *model.objective, nullptr, state, go_on));
    CHECK(std::abs(state.theta.C_D() / model.theta.C_D() - 1.0) <= 10.0 * tolerance);
    for (std::size_t i = 1; i < state.log.size(); ++i) {
      CHECK(state.log[i].train_loss <= state.log[i - 1].train_loss + 1e-12);
    }
    CHECK(state.theta.p()[3] > 0.9);
  }
}

TEST_CASE("descent tends to the flow as its rate falls: every difference halves with the rate") {
  Transformer model(500);
  for (const Blocks blocks : {Blocks{.c = true}, Blocks{.w = true}, Blocks{.a = true}}) {
    const auto trained = [&](const Parameters& theta) {
      std::vector<double> all;
      if (blocks.c) all.insert(all.end(), theta.c.begin(), theta.c.end());
      if (blocks.w) all.insert(all.end(), theta.w.data(), theta.w.data() + theta.w.size());
      if (blocks.a) all.push_back(theta.a);
      return all;
    };
    const double time = blocks.w ? 40.0 : 4.0;  // w is slow at the start
    TrainState limit = initial_state(model.theta);
    REQUIRE(train({flow(blocks, time, 1e-13)}, 0, *model.objective, nullptr, limit, go_on));
    const std::vector<double> wanted = trained(limit.theta);
    std::vector<double> before;
    for (const double rate : {0.04, 0.02, 0.01, 0.005}) {
      CAPTURE(rate);
      Stage stage;
      stage.trains = blocks;
      stage.epochs = static_cast<std::size_t>(std::round(time / rate));
      stage.learning_rate = rate;
      TrainState state = initial_state(model.theta);
      REQUIRE(train({stage}, 0, *model.objective, nullptr, state, go_on));
      std::vector<double> differences = trained(state.theta);
      for (std::size_t i = 0; i < wanted.size(); ++i) differences[i] -= wanted[i];
      for (std::size_t i = 0; i < before.size(); ++i) {
        CAPTURE(i);
        REQUIRE(std::abs(differences[i]) > 1e-11);  // above what the flow and rounding are off
        CHECK(std::abs(before[i] / differences[i] - 2.0) < 12.0 * rate);
      }
      before = differences;
    }
  }
}

TEST_CASE("a subset that was lost by hundreds of orders of magnitude comes back in its time") {
  // d_t log(p_1 / p_0) = 10 (a - 20) and a = t: the logarithm falls to -2000 and is 0 at t = 40. A
  // step that fits the fall and the rise ends far above log p = 0, where exp overflows.
  struct Returning final : Objective {
    double loss(const Parameters&) override { return 1.0; }
    void evaluate_into(const Parameters& at, Blocks, bool, Evaluation& result) override {
      result = {1.0, at};
      const Eigen::VectorXd p = at.p();
      result.gradient.c[0] = 5.0 * (at.a - 20.0) * p[1] * at.c[0];
      result.gradient.c[1] = -5.0 * (at.a - 20.0) * p[0] * at.c[1];
      result.gradient.a = -1.0;
    }
  } objective;
  Parameters theta;
  theta.w = Matrix::Zero(1, 1);
  theta.c = Eigen::VectorXd::Constant(2, 0.01);
  theta.a = 0.0;
  TrainState state = initial_state(theta);
  REQUIRE(train({flow({.c = true, .a = true}, 60.0, 1e-8)}, 1, objective, nullptr, state, go_on));
  REQUIRE(state.log.size() == 61);
  CHECK(state.log[20].theta.p()[1] == 0.0);  // e^-2000
  CHECK(state.log[40].theta.p()[1] == doctest::Approx(0.5).epsilon(1e-4));
  CHECK(state.log[60].theta.p()[0] == 0.0);
  CHECK(state.theta.C_D() == doctest::Approx(theta.C_D()).epsilon(1e-6));
}

TEST_CASE("a velocity that is not a number ends the run with its place") {
  struct Broken final : Objective {
    double loss(const Parameters&) override { return 1.0; }
    void evaluate_into(const Parameters& at, Blocks, bool, Evaluation& result) override {
      result = {1.0, at};
      result.gradient.a = at.a > 1.0 ? std::numeric_limits<double>::quiet_NaN() : -1.0;
    }
  } objective;
  for (const StepperRow& stepper : stepper_table()) {
    TrainState state = initial_state(quadratic_start());
    CHECK_THROWS_WITH_AS(
        train({flow({.a = true}, 10.0, 1e-8, stepper.name)}, 0, objective, nullptr, state, go_on),
        doctest::Contains("stage 1, step"), RunError);
    CHECK(std::isfinite(state.theta.a));
  }
}
