#include <doctest/doctest.h>

#include <cmath>

#include "gih/theory/growth_checks.hpp"
#include "gih/theory/tilt.hpp"

using namespace gih;

namespace {

Setup limit_setup() {
  Setup setup;
  setup.data.d = 2;
  setup.data.parents = {1};
  setup.data.L.reset();
  setup.data.prior.floor = 0.2;
  setup.data.train = 3;
  setup.model.d = 2;
  setup.model.M = setup.model.H = 2;
  setup.kernels = 3;
  setup.theta.w = 9.0 * Matrix::Identity(2, 2);
  setup.theta.c = Eigen::VectorXd::Ones(static_cast<Eigen::Index>(setup.model.subsets().size()));
  Blocks a;
  a.a = true;
  setup.schedule = {{a, "gd", 1, 1.0}, {a, "gd", 1, 1.0}};
  return setup;
}

/// Euler steps of da/dt = factor f_5(a), small at first and larger in the second stage.
Log follow(const Setup& setup, Subset S, double factor) {
  std::vector<WindowLaw> laws;
  for (std::size_t i = 0; i < setup.data.train; ++i) {
    laws.push_back(window_law(sequence_kernel(setup.data, Split::train, i), setup.model.M));
  }
  const std::vector<Tilt> kernels = tilts(laws, S);
  Log log;
  double a = 0.001;
  for (const int stage : {1, 2}) {
    double time = 0.0;
    const double target = stage == 1 ? 6.0 : 12.0;
    while (a < target) {
      log.push_back({stage, log.size(), time, 0.0, 0.0, setup.theta});
      log.back().theta.a = a;
      const double rate = factor * mean_f5(kernels, a);
      const double dt = 0.002 / rate;
      a += rate * dt;
      time += dt;
    }
  }
  return log;
}

}  // namespace

TEST_CASE("growth checks hold for the closed form and see another rate") {
  const Setup setup = limit_setup();
  const PriorFacts facts = prior_facts(setup);
  for (const Check& check : check_growth(setup, facts, follow(setup, facts.S_star(), 1.0))) {
    CAPTURE(check.id);
    CHECK(check.tally.verdict() == Verdict::pass);
  }
  for (const double factor : {0.5, 2.0}) {
    for (const Check& check : check_growth(setup, facts, follow(setup, facts.S_star(), factor))) {
      CAPTURE(check.id);
      CHECK(check.tally.verdict() == Verdict::fail);
    }
  }
}

TEST_CASE("growth checks say why they cannot be made") {
  Setup setup = limit_setup();
  const PriorFacts facts = prior_facts(setup);
  const Log log = follow(setup, facts.S_star(), 1.0);
  for (const Check& check : check_growth(setup, facts, {})) {
    CHECK(check.tally.verdict() == Verdict::skipped);
  }
  setup.eps = 0.1;
  for (const Check& check : check_growth(setup, facts, log)) {
    CHECK(check.tally.verdict() == Verdict::skipped);
  }
}
