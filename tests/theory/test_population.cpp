#include "gih/theory/population.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <memory>

#include "gih/base/error.hpp"
#include "gih/theory/information.hpp"
#include "gih/theory/tilt.hpp"
#include "gih/theory/worlds.hpp"
#include "support/chain_cases.hpp"
#include "support/close.hpp"

using namespace gih;

namespace {

/// theta of a world with p on S alone.
Parameters on_set_alone(const World& world, Subset S) {
  Parameters theta = world.theta;
  const auto subsets = world.subsets();
  for (std::size_t i = 0; i < subsets.size(); ++i) {
    theta.c(static_cast<Eigen::Index>(i)) = subsets[i] == S ? 0.7 : 0.0;
  }
  return theta;
}

}  // namespace

TEST_CASE("the worked example's stage III, to the digits") {
  const WindowLaw law = window_law(test::worked_kernel(), 3);
  const Tilt tilt(law, 0b011);
  CHECK(tilt.f5(1.0) == doctest::Approx(0.082016965238).epsilon(5e-12));
  CHECK(tilt.f5(3.0) == doctest::Approx(0.011921770683).epsilon(5e-11));
  CHECK(tilt.late() == doctest::Approx(10.201719576720).epsilon(5e-13));
  CHECK(tilt.early() == doctest::Approx(43.0 / 375.0).epsilon(1e-14));
  for (const double a : {0.1, 1.0, 3.0}) {
    CHECK(f5_by_definition(law, 0b011, a) == doctest::Approx(tilt.f5(a)).epsilon(1e-13));
  }
  // How the late form is approached.
  const double expected[] = {0.7274, 0.9541, 0.9936, 0.9991, 0.9999};
  for (int i = 0; i < 5; ++i) {
    const double a = 4.0 + 2.0 * i;
    CHECK(std::abs(tilt.f5(a) * std::exp(2.0 * a) / tilt.late() - expected[i]) < 5e-5);
  }
}

TEST_CASE("the worked example chooses {2}, and the stage I gains are those of the digits") {
  const ModelSpec model{.d = 2, .M = 3, .H = 3, .D = 2};
  const std::vector<WindowLaw> laws{window_law(test::worked_kernel(), 3)};
  const ExactChoice choice = choose_exactly(laws, model);
  CHECK(choice.decided);
  CHECK(choice.S_star == 0b010);
  CHECK(choice.I_star == doctest::Approx(841.0 / 5625.0).epsilon(1e-14));
  CHECK(choice.gap == doctest::Approx(196.0 / 5625.0).epsilon(1e-13));
  Matrix w = Matrix::Constant(3, 3, 0.01);
  w.diagonal().setConstant(3.0);
  const auto gain = stage_one_gain(laws, model, w);
  const double digits[] = {
      0.0,           0.072679281885, 0.139234834879, 0.109397152561, 0.048959175681, 0.061845803879,
      0.097036484590};
  for (std::size_t S = 0; S < gain.size(); ++S) CHECK(std::abs(gain[S] - digits[S]) < 5e-13);
}

TEST_CASE("two sums of g_3 over pairs of windows agree") {
  int checked = 0;
  for (const World& world : worlds()) {
    const auto gain = stage_one_gain(world.laws, world.model, world.theta.w);
    const StageTwo stage(world.laws, 1);
    const auto subsets = world.subsets();
    for (std::size_t S = 0; S < subsets.size(); ++S, ++checked) {
      CHECK(std::abs(stage.gain_of_set(world.theta.w, subsets[S]) - gain[S]) < 1e-14);
    }
  }
  CHECK(checked > 50);
}

TEST_CASE("the gap that (3.6) demands makes its focus exact") {
  const double Dw = required_gap(14.0, 3, 0.02, 0.2);
  CHECK(std::pow(1.0 + 2.0 * std::exp(-Dw), 6.0) ==
        doctest::Approx(1.0 + 0.1 / 14.0).epsilon(1e-13));
  Matrix w = Matrix::Zero(3, 3);
  w.diagonal().setConstant(Dw);
  CHECK(smallest_gap(w, 0b111) == Dw);
  CHECK(focus(w, 0b111) == doctest::Approx(1.0 / (1.0 + 0.1 / 14.0)).epsilon(1e-13));
  CHECK(focus(w, 0b010) == doctest::Approx(std::pow(focus(w, 0b111), 1.0 / 3.0)).epsilon(1e-13));
  w(1, 0) = 1.0;
  CHECK(smallest_gap(w, 0b111) == Dw - 1.0);
  CHECK(smallest_gap(w, 0b101) == Dw);
}

TEST_CASE("Runge-Kutta: a solution that is known, and a refusal") {
  const Rate turn = [](double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) {
    dy = Eigen::Vector2d(-y(1), y(0)) * 2.0 * t;
  };
  const auto states = runge_kutta(turn, Eigen::Vector2d(1.0, 0.0), 2.0, 4, 1e-11);
  REQUIRE(states.size() == 5);
  for (int i = 0; i <= 4; ++i) {
    const double t = 0.5 * i;
    CHECK(std::abs(states[static_cast<std::size_t>(i)](0) - std::cos(t * t)) < 1e-11);
    CHECK(std::abs(states[static_cast<std::size_t>(i)](1) - std::sin(t * t)) < 1e-11);
  }
  const Rate wild = [](double, const Eigen::VectorXd& y, Eigen::VectorXd& dy) {
    dy = y.cwiseAbs2();
  };
  CHECK_THROWS_AS(runge_kutta(wild, Eigen::VectorXd::Ones(1), 2.0, 2, 1e-9), RunError);
}

TEST_CASE("stage I: Runge-Kutta follows the closed form, and C_D stays") {
  const World& world = worlds()[8];
  const auto gain = stage_one_gain(world.laws, world.model, world.theta.w);
  const Rate rate = [&](double, const Eigen::VectorXd& c, Eigen::VectorXd& dc) {
    dc = stage_one_rate(c, gain, 0.5);
  };
  const auto states = runge_kutta(rate, world.theta.c, 400.0, 8, 1e-12);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Eigen::VectorXd p = states[i].cwiseAbs2() / states[i].squaredNorm();
    const auto exact = stage_one_weights(world.theta.c, gain, 0.5, 50.0 * static_cast<double>(i));
    CHECK((p - exact).cwiseAbs().maxCoeff() < 1e-11);
    CHECK(states[i].squaredNorm() == doctest::Approx(world.theta.C_D()).epsilon(1e-11));
  }
}

// The limit formulas linearise the second attention in a; the engine at L = inf does not. So the
// gradients, divided by a, agree at a = 0 and part in proportion to a.
TEST_CASE("the engine at L = inf tends to the limit formulas of stages I and II") {
  int checked = 0;
  for (const World& world : worlds()) {
    CAPTURE(world.name);
    const ExactChoice choice = choose_exactly(world.laws, world.model);
    const auto engine = limit_objective(world.kernels, world.model);
    const auto gain = stage_one_gain(world.laws, world.model, world.theta.w);
    const StageTwo stage(world.laws, choice.S_star);
    const Parameters alone = on_set_alone(world, choice.S_star);
    const Eigen::VectorXd dc = stage_one_rate(world.theta.c, gain, 1.0);
    const Matrix dw = stage.rate(alone.w, 1.0);
    const auto errors = [&](double a) {
      Parameters theta = world.theta;
      theta.a = a;
      const Eigen::VectorXd c = -engine->evaluate(theta, Blocks::all(), false).gradient.c / a;
      Parameters at = alone;
      at.a = a;
      Matrix w = -engine->evaluate(at, Blocks::all(), false).gradient.w / a;
      return std::array{test::relative_difference(c, dc), test::relative_difference(w, dw)};
    };
    const auto coarse = errors(2e-3);
    const auto fine = errors(1e-3);
    for (std::size_t block = 0; block < 2; ++block, ++checked) {
      CHECK(fine[block] < 1e-2);
      CHECK(coarse[block] / fine[block] == doctest::Approx(2.0).epsilon(0.02));
    }
  }
  CHECK(checked == 20);
}

// With p on S and each head on its own lag nothing is linearised: f_5 is the engine's own slope.
TEST_CASE("stage III is the engine's gradient in a at L = inf, at every a") {
  int checked = 0;
  for (const World& world : worlds()) {
    CAPTURE(world.name);
    const auto engine = limit_objective(world.kernels, world.model);
    for (const Subset S : world.subsets()) {
      Parameters theta = on_set_alone(world, S);
      theta.w.setZero();
      theta.w.diagonal().setConstant(60.0);
      const auto kernels = tilts(world.laws, S);
      for (const double a : {0.1, 1.0, 4.0}) {
        theta.a = a;
        const double slope = -engine->evaluate(theta, Blocks::all(), false).gradient.a;
        CHECK(std::abs(slope - mean_f5(kernels, a)) < 1e-14);
        ++checked;
      }
    }
  }
  CHECK(checked > 150);
}

// At a = 0 the slope is 1 - (3 E[m^2 D_1] + E[m^2 J~'(1)]) / I*, which is 1 - 3/d here.
TEST_CASE("the early slope of log f5 tends to 1 only as the largest m tends to 0") {
  for (const int d : {4, 8, 16, 32}) {
    // Each token is followed by those of its own parity more often: mu(x) = 1/d.
    Kernel kernel{d, {1}, {}};
    for (int x = 0; x < d; ++x) {
      for (int z = 0; z < d; ++z) kernel.pi.push_back(((x + z) % 2 == 0 ? 1.5 : 0.5) / d);
    }
    const Tilt tilt(window_law(kernel, 1), 1);
    const double slope = (std::log(tilt.f5(1e-4)) - std::log(tilt.f5(-1e-4))) / 2e-4;
    CHECK(std::abs(slope - (1.0 - 3.0 / d)) < 1e-7);
  }
}
