#include "gih/theory/measures.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "gih/base/error.hpp"
#include "gih/model/table_engine.hpp"
#include "gih/theory/estimators.hpp"
#include "support/statistics.hpp"

using namespace gih;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

const MeasureRow& row(const std::string& name) {
  for (const MeasureRow& each : measure_table()) {
    if (name == each.name) return each;
  }
  throw InputError(name);
}

double value(const char* name, std::vector<double> y, std::vector<double> target,
             std::vector<double> pi, double eps = 0.1) {
  return row(name).value(y, target, pi, eps);
}

}  // namespace

TEST_CASE("measures of one question are their formulas") {
  const std::vector<double> y{0.5, 0.3, 0.2}, third{0.0, 0.0, 1.0}, pi{0.2, 0.8, 0.0};
  CHECK(value("loss", y, third, pi) == doctest::Approx(-std::log(0.3)).epsilon(1e-15));
  CHECK(value("cross_entropy", y, third, pi) == doctest::Approx(-std::log(0.2)).epsilon(1e-15));
  CHECK(value("loss", y, pi, pi, 0.0) ==
        doctest::Approx(-0.2 * std::log(0.5) - 0.8 * std::log(0.3)).epsilon(1e-15));
  CHECK(value("kl", y, third, pi) ==
        doctest::Approx(0.2 * std::log(0.2 / 0.5) + 0.8 * std::log(0.8 / 0.3)).epsilon(1e-15));
  CHECK(value("tv", y, third, pi) == doctest::Approx(0.5).epsilon(1e-15));
  CHECK(value("risk", y, third, pi) ==
        doctest::Approx(-0.2 * std::log(0.6) - 0.8 * std::log(0.4)).epsilon(1e-15));
  CHECK(value("squared", y, third, pi) == doctest::Approx(0.09 + 0.25 + 0.04).epsilon(1e-15));
  CHECK(value("kl", pi, third, pi) == 0.0);
  CHECK(value("tv", pi, third, pi) == 0.0);
}

TEST_CASE("a probability of 0 is infinitely wrong where the token can come, and only there") {
  const std::vector<double> y{0.0, 1.0};
  CHECK(value("cross_entropy", y, {1.0, 0.0}, {}) == infinity);
  CHECK(value("cross_entropy", y, {0.0, 1.0}, {}) == 0.0);
  CHECK(value("loss", y, {1.0, 0.0}, {}) == doctest::Approx(-std::log(0.1)));
  CHECK(value("kl", y, {1.0, 0.0}, {0.1, 0.9}) == infinity);
  CHECK(value("kl", y, {1.0, 0.0}, {0.0, 1.0}) == 0.0);
}

TEST_CASE("laws that are close have a small divergence, never a negative one") {
  for (const double h : {1e-3, 1e-6, 1e-9, 1e-12}) {
    const double kl = value("kl", {0.3 + h, 0.7 - h}, {}, {0.3, 0.7});
    CHECK(std::abs(kl / (h * h / (2.0 * 0.21)) - 1.0) <=
          0.01);  // the next order and the rounding of h
  }
  CHECK(value("kl", {1.0, 1e-300}, {}, {1e-300, 1.0}) == doctest::Approx(300.0 * std::log(10.0)));
}

TEST_CASE("mean and standard error are those of a sample") {
  const std::vector<double> x{1.0, 4.0, 2.5, -1.0, 0.125};
  const std::vector<double> y{0.5, 3.0, 2.0, -2.0, 1.0};
  test::Moment moment, apart;
  for (std::size_t i = 0; i < x.size(); ++i) {
    moment.add(x[i]);
    apart.add(x[i] - y[i]);
  }
  const Measured m = summary(x);
  CHECK(m.mean == doctest::Approx(moment.mean()).epsilon(1e-14));
  CHECK(m.error == doctest::Approx(moment.standard_error()).epsilon(1e-14));
  CHECK(m.count == 5);
  CHECK(m.infinite == 0);
  const Measured paired = difference(x, y);
  CHECK(paired.mean == doctest::Approx(apart.mean()).epsilon(1e-14));
  CHECK(paired.error == doctest::Approx(apart.standard_error()).epsilon(1e-14));
  CHECK(std::isnan(summary({2.0}).error));
  CHECK(summary({2.0}).mean == 2.0);
  CHECK_THROWS_AS(difference(x, {1.0}), InputError);
}

TEST_CASE("infinite values are told, not hidden") {
  const Measured m = summary({1.0, infinity, 2.0, infinity});
  CHECK(m.mean == infinity);
  CHECK(std::isnan(m.error));
  CHECK(m.infinite == 2);
  CHECK(difference({1.0, 1.0}, {infinity, 0.0}).mean == -infinity);
  const Measured undecided = difference({infinity, 1.0}, {infinity, 0.0});
  CHECK(std::isnan(undecided.mean));
  CHECK(undecided.infinite == 1);
}

TEST_CASE("the mean loss is the training loss, for one question a sequence and for many") {
  DataSpec data;
  data.L = 30;
  data.train = 50;
  ModelSpec model;
  Parameters theta;
  theta.w = Matrix::Identity(3, 3);
  theta.c = Eigen::VectorXd::LinSpaced(7, 0.1, 0.7);
  theta.a = 1.5;
  for (const Target target : {Target::sampled, Target::conditional}) {
    for (const Positions positions : {Positions::last, Positions::sequential}) {
      const Prompts prompts = build_prompts(data, {3, false, target, positions}, Split::train, 1);
      const Matrix y = predictions(model, theta, prompts);
      const auto values = measure(row("loss"), y, prompts, {}, 0.2, 50);
      CHECK(values.size() == 50);
      const double loss = make_table_engine(model, {0.2}, prompts, 1)->loss(theta);
      CHECK(summary(values).mean == doctest::Approx(loss).epsilon(1e-13));
    }
  }
  data.L.reset();  // L = inf: a sequence is a kernel, its questions have unequal weights
  const Prompts prompts =
      build_prompts(data, {3, false, Target::conditional, Positions::last}, Split::train, 1);
  const auto values =
      measure(row("loss"), predictions(model, theta, prompts), prompts, {}, 0.2, 50);
  const double loss = make_table_engine(model, {0.2}, prompts, 1)->loss(theta);
  CHECK(summary(values).mean == doctest::Approx(loss).epsilon(1e-13));
}

TEST_CASE("cross-entropy against the true law is its divergence and an entropy") {
  DataSpec data;
  data.L = 40;
  data.train = 60;
  data.prior.floor = 0.01;
  const Prompts prompts =
      build_prompts(data, {3, false, Target::conditional, Positions::last}, Split::train, 1);
  const Matrix pi = true_conditional(data, Split::train, prompts);
  EstimatorSpec spec;
  spec.parents = data.parents;
  spec.prior = data.prior;
  const Matrix y = estimate("bayes", spec, prompts, 1);
  const auto entropy = measure(row("cross_entropy"), pi, prompts, pi, 0.0, 60);
  const auto cross = measure(row("cross_entropy"), y, prompts, pi, 0.0, 60);
  const auto kl = measure(row("kl"), y, prompts, pi, 0.0, 60);
  const auto tv = measure(row("tv"), y, prompts, pi, 0.0, 60);
  for (std::size_t i = 0; i < 60; ++i) {
    CHECK(std::abs(cross[i] - entropy[i] - kl[i]) <= 1e-13);
    CHECK(kl[i] >= 2.0 * tv[i] * tv[i] - 1e-15);  // Pinsker
  }
}

TEST_CASE("the risk is the loss of the true law, and the distance is twice the variation") {
  DataSpec data;
  data.L = 20;
  data.train = 30;
  EstimatorSpec spec;
  spec.S = 3;
  const auto build = [&](Target target) {
    return build_prompts(data, {3, false, target, Positions::last}, Split::train, 1);
  };
  const Prompts sampled = build(Target::sampled), law = build(Target::conditional);
  const Matrix pi = true_conditional(data, Split::train, sampled);
  const Matrix y = estimate("gih", spec, sampled, 1);
  const auto risk = measure(row("risk"), y, sampled, pi, 0.1, 30);
  const auto loss = measure(row("loss"), y, law, {}, 0.1, 30);
  const auto tv = measure(row("tv"), y, sampled, pi, 0.1, 30);
  const auto apart = distance(y, pi, sampled, 30);
  for (std::size_t i = 0; i < 30; ++i) {
    CHECK(std::abs(risk[i] - loss[i]) <= 1e-13);
    CHECK(std::abs(apart[i] - 2.0 * tv[i]) <= 1e-15);
  }
  CHECK(summary(apart).mean > 0.0);
  CHECK_THROWS_AS(distance(y, pi.topRows(3), sampled, 30), InputError);
}

TEST_CASE("sizes that do not fit are refused") {
  DataSpec data;
  data.L = 10;
  data.train = 4;
  const Prompts prompts = build_prompts(data, {}, Split::train, 1);
  const Matrix y = Matrix::Constant(4, 3, 1.0 / 3.0);
  CHECK(measure(row("loss"), y, prompts, {}, 0.0, 4).size() == 4);
  CHECK_THROWS_AS(measure(row("kl"), y, prompts, {}, 0.0, 4), InputError);
  CHECK_THROWS_AS(measure(row("loss"), y.topRows(3), prompts, {}, 0.0, 4), InputError);
  CHECK_THROWS_AS(measure(row("loss"), y, prompts, {}, 0.0, 3), InputError);
  CHECK_THROWS_AS(measure(row("loss"), y, prompts, {}, 0.0, 0), InputError);
}
