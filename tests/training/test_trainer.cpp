#include "gih/training/trainer.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "gih/base/error.hpp"
#include "support/close.hpp"
#include "support/quadratic.hpp"

using namespace gih;
using gih::test::Quadratic;

namespace {

constexpr int H = 2, M = 3, nS = 4;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

constexpr Blocks only_c{true, false, false}, only_w{false, true, false}, only_a{false, false, true};

Parameters start() {
  Parameters theta;
  theta.w = Matrix::Constant(H, M, 0.5);
  theta.c = Eigen::VectorXd::Constant(nS, 0.25);
  theta.a = -1.0;
  return theta;
}

const Schedule three_stages{{only_c, "gd", 5, 1.0}, {only_w, "gd", 4, 0.5}, {only_a, "gd", 3, 2.0}};

bool go_on(const TrainState&) {
  return true;
}

/// Bits of everything that a state holds.
std::vector<std::uint64_t> bits(const TrainState& state) {
  std::vector<std::uint64_t> all{std::uint64_t(state.stage), state.step};
  const auto add = [&](double x) { all.push_back(std::bit_cast<std::uint64_t>(x)); };
  const auto add_theta = [&](const Parameters& theta) {
    for (Eigen::Index i = 0; i < theta.w.size(); ++i) add(theta.w(i));
    for (Eigen::Index i = 0; i < theta.c.size(); ++i) add(theta.c(i));
    add(theta.a);
  };
  add_theta(state.theta);
  for (const LogRow& row : state.log) {
    all.push_back(std::uint64_t(row.stage));
    all.push_back(row.step);
    for (const double x : {row.time, row.train_loss, row.validation_loss}) add(x);
    add_theta(row.theta);
  }
  return all;
}

bool near(const Parameters& x, const Parameters& y) {
  return test::relative_difference(x.w, y.w) < 1e-14 &&
         test::relative_difference(x.c, y.c) < 1e-14 && std::abs(x.a - y.a) < 1e-14;
}

TrainState run(const Schedule& schedule, std::size_t log_every) {
  Quadratic objective(H, M, nS), validation(H, M, nS);
  TrainState state = initial_state(start());
  CHECK(train(schedule, log_every, objective, &validation, state, go_on));
  return state;
}

/// Turns one quantity into NaN or infinity from the `at`-th look at it on.
struct Broken : Quadratic {
  Broken(std::string what, int at, double value)
      : Quadratic(H, M, nS), what_(std::move(what)), at_(at), value_(value) {}

  double loss(const Parameters& theta) override {
    return what_ == "loss" && ++looks_ >= at_ ? value_ : Quadratic::loss(theta);
  }
  void evaluate_into(const Parameters& theta, Blocks blocks, bool with_loss,
                     Evaluation& result) override {
    Quadratic::evaluate_into(theta, blocks, with_loss, result);
    if (what_ == "loss" || ++looks_ < at_) return;
    if (what_ == "c") result.gradient.c(nS - 1) = value_;
    if (what_ == "w") result.gradient.w(H - 1, M - 1) = value_;
    if (what_ == "a") result.gradient.a = value_;
  }

 private:
  std::string what_;
  int at_, looks_ = 0;
  double value_;
};

}  // namespace

TEST_CASE("gradient descent on a quadratic follows its closed form") {
  const Quadratic exact(H, M, nS);
  const double rate = 0.8;
  const TrainState state = run({{Blocks::all(), "gd", 50, rate}}, 1);
  REQUIRE(state.log.size() == 51);
  for (std::size_t k = 0; k < state.log.size(); ++k) {
    CAPTURE(k);
    const LogRow& row = state.log[k];
    const Parameters theta = exact.after(start(), Blocks::all(), rate, double(k));
    CHECK(row.stage == 1);
    CHECK(row.step == k);
    CHECK(row.time == double(k) * rate);
    CHECK(near(row.theta, theta));
    CHECK(row.train_loss == doctest::Approx(Quadratic(H, M, nS).loss(theta)).epsilon(1e-12));
    CHECK(row.train_loss == row.validation_loss);
  }
}

TEST_CASE("each stage moves its blocks alone, from where the last one ended") {
  const Quadratic exact(H, M, nS);
  const TrainState state = run(three_stages, 1);
  Parameters theta = start();
  std::size_t row = 0;
  for (std::size_t k = 0; k < three_stages.size(); ++k) {
    const Stage& stage = three_stages[k];
    for (std::size_t step = 0; step <= stage.epochs; ++step, ++row) {
      CAPTURE(row);
      REQUIRE(row < state.log.size());
      CHECK(state.log[row].stage == int(k) + 1);
      CHECK(state.log[row].step == step);
      const auto expected = exact.after(theta, stage.trains, stage.learning_rate, double(step));
      CHECK(near(state.log[row].theta, expected));
      if (!stage.trains.c) CHECK(state.log[row].theta.c == state.log[row - 1].theta.c);
      if (!stage.trains.w) CHECK(state.log[row].theta.w == (k == 0 ? start() : theta).w);
      if (!stage.trains.a) CHECK(state.log[row].theta.a == start().a);
    }
    theta = state.log[row - 1].theta;
  }
  CHECK(row == state.log.size());
  CHECK(state.stage == 4);
  CHECK(state.step == 0);
}

TEST_CASE("the objective is asked for the stage's blocks alone") {
  for (const Blocks blocks : {only_c, only_w, only_a, Blocks{true, false, true}}) {
    Quadratic objective(H, M, nS);
    TrainState state = initial_state(start());
    train({{blocks, "gd", 1, 1.0}}, 0, objective, nullptr, state, go_on);
    CHECK(objective.asked.c == blocks.c);
    CHECK(objective.asked.w == blocks.w);
    CHECK(objective.asked.a == blocks.a);
  }
}

TEST_CASE("stopping anywhere and going on gives the bits of the unbroken run") {
  constexpr std::size_t steps = 5 + 4 + 3;
  for (const std::size_t log_every : {0UL, 1UL, 2UL, 100UL}) {
    const auto unbroken = bits(run(three_stages, log_every));
    for (std::size_t stop = 1; stop <= steps; ++stop) {
      CAPTURE(log_every);
      CAPTURE(stop);
      TrainState saved;
      {
        Quadratic objective(H, M, nS), validation(H, M, nS);
        TrainState state = initial_state(start());
        std::size_t done = 0;
        CHECK_FALSE(train(three_stages, log_every, objective, &validation, state,
                          [&](const TrainState& at) {
                            if (++done == stop) saved = at;
                            return done < stop;
                          }));
        CHECK(bits(saved) == bits(state));
      }
      Quadratic objective(H, M, nS), validation(H, M, nS);
      std::size_t done = stop;
      CHECK(train(three_stages, log_every, objective, &validation, saved,
                  [&](const TrainState&) { return ++done, true; }));
      CHECK(done == steps);
      CHECK(bits(saved) == unbroken);
    }
  }
}

TEST_CASE("a run that is stopped after every step ends the same") {
  Quadratic objective(H, M, nS), validation(H, M, nS);
  TrainState state = initial_state(start());
  int starts = 1;
  while (!train(three_stages, 2, objective, &validation, state, [](auto&) { return false; })) {
    ++starts;
    REQUIRE(starts < 100);
  }
  CHECK(starts == 13);
  CHECK(bits(state) == bits(run(three_stages, 2)));
}

TEST_CASE("a finished run stays as it is") {
  TrainState state = run(three_stages, 0);
  const auto before = bits(state);
  Quadratic objective(H, M, nS);
  CHECK(train(three_stages, 0, objective, nullptr, state, go_on));
  CHECK(bits(state) == before);
}

TEST_CASE("a run without stages logs one row, also when it is started again") {
  Quadratic objective(H, M, nS), validation(H, M, nS);
  TrainState state = initial_state(start());
  for (int i = 0; i < 2; ++i) {
    CHECK(train({}, 0, objective, &validation, state, go_on));
    REQUIRE(state.log.size() == 1);
    CHECK(state.log[0].stage == 0);
    CHECK(state.log[0].step == 0);
    CHECK(state.log[0].train_loss == objective.loss(start()));
    CHECK(state.log[0].validation_loss == objective.loss(start()));
    CHECK(near(state.log[0].theta, start()));
  }
}

TEST_CASE("a stage without epochs logs its start") {
  const TrainState state = run({{only_c, "gd", 0, 1.0}, {only_a, "gd", 1, 1.0}}, 0);
  REQUIRE(state.log.size() == 3);
  CHECK(state.log[0].stage == 1);
  CHECK(near(state.log[0].theta, start()));
  CHECK(state.log[1].stage == 2);
}

TEST_CASE("the validation loss is NaN without validation data") {
  for (const Schedule& schedule : {Schedule{}, three_stages}) {
    Quadratic objective(H, M, nS);
    TrainState state = initial_state(start());
    CHECK(train(schedule, 0, objective, nullptr, state, go_on));
    CHECK_FALSE(state.log.empty());
    for (const LogRow& row : state.log) {
      CHECK(std::isnan(row.validation_loss));
      CHECK(std::isfinite(row.train_loss));
    }
  }
}

TEST_CASE("what is not finite ends the run with stage, step, quantity, and the last good state") {
  struct {
    const char* what;
    int at;  ///< look at the quantity
    double value;
    bool stages;
    int stage;
    std::size_t step;
    const char* quantity;
  } const cases[] = {
      {"c", 1, none, true, 1, 0, "c after the step"},
      {"c", 4, INFINITY, true, 1, 3, "c after the step"},
      {"w", 7, -INFINITY, true, 2, 1, "w after the step"},
      {"a", 12, none, true, 3, 2, "a after the step"},
      {"loss", 1, none, true, 1, 0, "the training loss (nan)"},
      {"loss", 3, INFINITY, true, 1, 2, "the training loss (inf)"},
      {"loss", 15, none, true, 3, 3, "the training loss (nan)"},
      {"loss", 1, INFINITY, false, 0, 0, "the training loss (inf)"},
  };
  for (const auto& c : cases) {
    CAPTURE(std::string(c.what));
    CAPTURE(c.at);
    Broken objective(c.what, c.at, c.value);
    TrainState state = initial_state(start());
    std::string message;
    try {
      train(c.stages ? three_stages : Schedule{}, 1, objective, nullptr, state, go_on);
    } catch (const RunError& error) {
      message = error.what();
    }
    CAPTURE(message);
    const std::string place =
        "stage " + std::to_string(c.stage) + ", step " + std::to_string(c.step) + ": ";
    CHECK(message.starts_with(place + c.quantity + " is not finite"));
    CHECK(message.find("loss.epsilon") != std::string::npos);
    CHECK(state.theta.all_finite());
    CHECK(state.step == c.step);
    for (const LogRow& row : state.log) CHECK(std::isfinite(row.train_loss));

    // The state is one of the unbroken run: going on from it repeats no row.
    if (!c.stages) continue;
    Quadratic healthy(H, M, nS);
    TrainState unbroken = initial_state(start());
    CHECK(train(three_stages, 1, healthy, nullptr, unbroken, go_on));
    CHECK(train(three_stages, 1, healthy, nullptr, state, go_on));
    CHECK(bits(state) == bits(unbroken));
  }
}

TEST_CASE("a validation loss that is not finite is an error too") {
  for (const Schedule& schedule : {Schedule{}, three_stages}) {
    Quadratic objective(H, M, nS);
    Broken validation("loss", 1, none);
    TrainState state = initial_state(start());
    CHECK_THROWS_AS(train(schedule, 1, objective, &validation, state, go_on), RunError);
    CHECK(state.log.empty());
  }
}

TEST_CASE("an unknown method is refused by name") {
  Quadratic objective(H, M, nS);
  TrainState state = initial_state(start());
  CHECK_THROWS_WITH_AS(train({{only_c, "adam", 1, 1.0}}, 0, objective, nullptr, state, go_on),
                       "stage method \"adam\" is unknown", InputError);
}
