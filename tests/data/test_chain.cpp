#include "gih/data/chain.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gih/base/error.hpp"
#include "support/chain_cases.hpp"

using namespace gih;
using gih::test::first_order;
using gih::test::random_kernel;
using gih::test::worked_kernel;

namespace {

using Law = std::vector<double>;

double largest_difference(const Law& a, const Law& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = std::abs(a[i] - b[i]);
    if (std::isnan(apart)) return apart;
    largest = std::max(largest, apart);
  }
  return largest;
}

/// The largest relative difference; entries of b are not 0.
double relative(const Law& a, const Law& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = std::abs(a[i] / b[i] - 1.0);
    if (std::isnan(apart)) return apart;
    largest = std::max(largest, apart);
  }
  return largest;
}

double sum(const Law& law) {
  return std::accumulate(law.begin(), law.end(), 0.0);
}

/// One step: the law of the next window.
Law step(const WindowChain& chain, const Law& law) {
  Law next(law.size(), 0.0);
  for (std::size_t Z = 0; Z < law.size(); ++Z) {
    for (int k = 0; k < chain.d(); ++k) next[chain.successor(Z, k)] += law[Z] * chain.next(Z, k);
  }
  return next;
}

/// Powers of (1 + P) / 2, which has the long-run laws of P and no period.
Law lazy_power(const WindowChain& chain, Law law, int steps) {
  for (int i = 0; i < steps; ++i) {
    const Law next = step(chain, law);
    for (std::size_t Z = 0; Z < law.size(); ++Z) law[Z] = 0.5 * (law[Z] + next[Z]);
  }
  return law;
}

}  // namespace

TEST_CASE("worked example: stationary law and spectrum") {
  const WindowChain chain(worked_kernel());
  CHECK(chain.states() == 4);
  // States (lag 2, lag 1): 00, 01, 10, 11.
  CHECK(largest_difference(chain.long_run_law(), {8.0 / 15, 2.0 / 15, 2.0 / 15, 1.0 / 5}) <= 1e-15);
  const auto values = chain.eigenvalues();
  REQUIRE(values.size() == 4);
  const std::vector<double> exact{1.0, (1.0 + std::sqrt(51.0)) / 10, (1.0 - std::sqrt(51.0)) / 10,
                                  0.5};
  for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(values[i] - exact[i]) <= 1e-14);
  CHECK(std::abs(chain.spectral_gap() - (1.0 - 0.814142842854)) <= 0.51e-12);
  const ChainClasses found = chain.classes();
  CHECK(found.recurrent_count == 1);
  CHECK(found.period == std::vector<int>{1});
}

TEST_CASE("windows: the new token becomes the least significant digit") {
  const WindowChain chain(random_kernel(3, {1, 3}, 1.0, 0));
  CHECK(chain.states() == 27);
  CHECK(chain.successor(0, 2) == 2);
  CHECK(chain.successor(1 * 9 + 2 * 3 + 0, 1) == 2 * 9 + 0 * 3 + 1);
  // pi(. | lag 1 = 0, lag 3 = 1) stands in row 0 * 3 + 1.
  const Kernel kernel = random_kernel(3, {1, 3}, 1.0, 0);
  for (int k = 0; k < 3; ++k) {
    CHECK(chain.next(1 * 9 + 2 * 3 + 0, k) == kernel.row(1)[static_cast<std::size_t>(k)]);
  }
}

TEST_CASE("the identity: every start is its own long-run law") {
  const WindowChain chain(first_order({{1, 0}, {0, 1}}));
  const ChainClasses found = chain.classes();
  CHECK(found.recurrent_count == 2);
  CHECK(found.recurrent == std::vector<bool>{true, true});
  CHECK(found.period == std::vector<int>{1, 1});
  CHECK(chain.long_run_law() == Law{0.5, 0.5});
  CHECK(largest_difference(chain.long_run_law(Law{0.3, 0.7}), {0.3, 0.7}) <= 1e-16);
  CHECK(std::abs(chain.spectral_gap()) <= 1e-15);
}

TEST_CASE("the flip: one class of period 2, law (1/2, 1/2) from any start") {
  const WindowChain chain(first_order({{0, 1}, {1, 0}}));
  const ChainClasses found = chain.classes();
  CHECK(found.recurrent_count == 1);
  CHECK(found.period == std::vector<int>{2});
  CHECK(chain.long_run_law() == Law{0.5, 0.5});
  CHECK(chain.long_run_law(Law{1.0, 0.0}) == Law{0.5, 0.5});
  CHECK(std::abs(chain.spectral_gap()) <= 1e-15);
}

TEST_CASE("block-diagonal: each class keeps the mass that it starts with") {
  const WindowChain chain(
      first_order({{0.5, 0.5, 0, 0}, {0.25, 0.75, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 0}}));
  const ChainClasses found = chain.classes();
  CHECK(found.recurrent_count == 2);
  CHECK(found.of_state[0] == found.of_state[1]);
  CHECK(found.of_state[2] == found.of_state[3]);
  CHECK(found.of_state[0] != found.of_state[2]);
  CHECK(found.period[static_cast<std::size_t>(found.of_state[0])] == 1);
  CHECK(found.period[static_cast<std::size_t>(found.of_state[2])] == 2);
  CHECK(largest_difference(chain.long_run_law(), {1.0 / 6, 1.0 / 3, 1.0 / 4, 1.0 / 4}) <= 1e-16);
  CHECK(largest_difference(chain.long_run_law(Law{0.1, 0.1, 0.8, 0.0}),
                           {0.2 / 3, 0.4 / 3, 0.4, 0.4}) <= 1e-16);
}

TEST_CASE("transient states hand their mass to the classes that absorb them") {
  // 0 leaves for 1 (absorbing) or for {2, 3} in the ratio 2 : 3; mu of {2, 3} is (1/3, 2/3).
  const WindowChain chain(
      first_order({{0.5, 0.2, 0.3, 0}, {0, 1, 0, 0}, {0, 0, 0, 1}, {0, 0, 0.5, 0.5}}));
  const ChainClasses found = chain.classes();
  CHECK(found.recurrent_count == 2);
  CHECK_FALSE(found.recurrent[static_cast<std::size_t>(found.of_state[0])]);
  CHECK(largest_difference(chain.long_run_law(Law{1, 0, 0, 0}), {0, 0.4, 0.2, 0.4}) <= 1e-16);
  CHECK(largest_difference(chain.long_run_law(), {0, 0.35, 0.65 / 3, 1.3 / 3}) <= 1e-16);
}

TEST_CASE("gambler's ruin: the split has a closed form") {
  // States 1 to 5 between the ends 0 and 6, a step up with probability p.
  const double p = 0.4;
  std::vector<std::vector<double>> rows(7, std::vector<double>(7, 0.0));
  rows[0][0] = rows[6][6] = 1.0;
  for (std::size_t i = 1; i < 6; ++i) {
    rows[i][i + 1] = p;
    rows[i][i - 1] = 1.0 - p;
  }
  const WindowChain chain(first_order(rows));
  for (std::size_t i = 1; i < 6; ++i) {
    CAPTURE(i);
    Law start(7, 0.0);
    start[i] = 1.0;
    const double ratio = (1.0 - p) / p;
    const double up = (1.0 - std::pow(ratio, static_cast<double>(i))) / (1.0 - std::pow(ratio, 6));
    CHECK(largest_difference(chain.long_run_law(start), {1.0 - up, 0, 0, 0, 0, 0, up}) <= 1e-15);
  }
}

TEST_CASE("a transient state that cannot return to itself has period 0") {
  const WindowChain chain(first_order({{0, 1}, {0, 1}}));
  const ChainClasses found = chain.classes();
  CHECK(found.recurrent_count == 1);
  CHECK(found.period[static_cast<std::size_t>(found.of_state[0])] == 0);
  CHECK(found.period[static_cast<std::size_t>(found.of_state[1])] == 1);
  CHECK(chain.long_run_law() == Law{0.0, 1.0});
}

TEST_CASE("a deterministic cycle through all windows: period 4, uniform law") {
  // 00 -> 01 -> 11 -> 10 -> 00; rows (lag 1, lag 2) = 00, 01, 10, 11.
  const WindowChain chain({2, {1, 2}, {0, 1, 1, 0, 0, 1, 1, 0}});
  CHECK(chain.classes().period == std::vector<int>{4});
  CHECK(largest_difference(chain.long_run_law(Law{1, 0, 0, 0}), Law(4, 0.25)) <= 1e-16);
}

TEST_CASE("tiny probabilities keep their relative accuracy") {
  // Two states that leave with probabilities p and q: mu = (q, p) / (p + q).
  const std::vector<std::pair<double, double>> leaves{
      {1e-200, 1e-200}, {1e-200, 3e-200}, {1e-300, 1e-8}, {0.3, 1e-300}, {1e-150, 1.0}};
  for (const auto& leave : leaves) {
    const double p = leave.first;
    const double q = leave.second;
    for (const bool exchanged : {false, true}) {
      CAPTURE(p);
      CAPTURE(q);
      CAPTURE(exchanged);
      const double first = exchanged ? q : p;
      const double second = exchanged ? p : q;
      const WindowChain chain(first_order({{1.0 - first, first}, {second, 1.0 - second}}));
      const Law exact{second / (p + q), first / (p + q)};
      CHECK(relative(chain.long_run_law(), exact) <= 4e-16);
      CHECK(relative(chain.long_run_law(Law{1.0, 0.0}), exact) <= 4e-16);
    }
  }
}

TEST_CASE("probabilities near the smallest double: no overflow, no NaN") {
  for (const double p : {1e-305, 1e-310, 5e-324}) {
    CAPTURE(p);
    const WindowChain one(first_order({{1.0, p}, {1.0, 0.0}}));
    CHECK(largest_difference(one.long_run_law(), {1.0, p}) <= 1e-15);
    const WindowChain other(first_order({{0.0, 1.0}, {p, 1.0}}));
    CHECK(largest_difference(other.long_run_law(), {p, 1.0}) <= 1e-15);
  }
}

TEST_CASE("products below the smallest double: the mass is still where it belongs") {
  // The way 0 -> 1 -> 2 -> 0 has probabilities e, e, 1, else back to 0: mu = (1, e, e^2). Every
  // numbering of the states gives the same law.
  const double e = 1e-200;
  std::vector<std::size_t> name{0, 1, 2};
  do {
    CAPTURE(name[0]);
    CAPTURE(name[1]);
    std::vector<std::vector<double>> rows(3, std::vector<double>(3, 0.0));
    rows[name[0]][name[0]] = 1.0;
    rows[name[0]][name[1]] = e;
    rows[name[1]][name[0]] = 1.0;
    rows[name[1]][name[2]] = e;
    rows[name[2]][name[0]] = 1.0;
    const WindowChain chain(first_order(rows));
    const Law law = chain.long_run_law();
    CHECK(std::abs(law[name[0]] - 1.0) <= 1e-15);
    CHECK(law[name[1]] == doctest::Approx(e).epsilon(1e-14));
    CHECK(law[name[2]] == 0.0);
  } while (std::next_permutation(name.begin(), name.end()));
}

TEST_CASE("random kernels: P mu = mu, and powers of the lazy chain go there") {
  struct Shape {
    int d;
    std::vector<int> parents;
  };
  std::uint64_t index = 1;
  for (const Shape& shape :
       {Shape{2, {1}}, Shape{3, {1, 2}}, Shape{3, {1, 3}}, Shape{2, {2, 4}}, Shape{5, {2}}}) {
    for (int repeat = 0; repeat < 5; ++repeat, ++index) {
      CAPTURE(index);
      const WindowChain chain(random_kernel(shape.d, shape.parents, 1.0, index));
      REQUIRE(chain.classes().recurrent_count == 1);
      const Law mu = chain.long_run_law();
      CHECK(std::abs(sum(mu) - 1.0) <= 1e-14);
      CHECK(largest_difference(step(chain, mu), mu) <= 1e-15);
      Law start(mu.size(), 0.0);
      start[0] = 1.0;
      CHECK(largest_difference(lazy_power(chain, start, 4000), mu) <= 1e-13);
    }
  }
}

TEST_CASE("concentrations near 0, where kernels are nearly or exactly reducible") {
  int reducible = 0;
  for (const double alpha : {1e-3, 1e-2, 3e-2}) {
    for (std::uint64_t index = 0; index < 300; ++index) {
      CAPTURE(alpha);
      CAPTURE(index);
      const WindowChain chain(random_kernel(3, {1, 2}, alpha, 1000 + index));
      reducible += chain.classes().recurrent_count > 1 ? 1 : 0;
      const Law mu = chain.long_run_law();
      if (!(std::abs(sum(mu) - 1.0) <= 1e-14)) FAIL("sum " << sum(mu));
      if (!(largest_difference(step(chain, mu), mu) <= 1e-14)) FAIL("P mu is not mu");
    }
  }
  CHECK(reducible >= 10);  // the exactly reducible ones were among them
}

TEST_CASE("extended laws equal an enumeration of the windows") {
  struct Shape {
    int d;
    std::vector<int> parents;
    int M;
  };
  std::uint64_t index = 50;
  for (const Shape& shape :
       {Shape{2, {1, 2}, 2}, Shape{2, {1, 2}, 5}, Shape{3, {1, 3}, 4}, Shape{3, {2}, 5}}) {
    CAPTURE(index);
    const Kernel kernel = random_kernel(shape.d, shape.parents, 0.5, index++);
    const WindowChain chain(kernel);
    const Law mu = chain.long_run_law();
    const Law longer = extend_law(kernel, mu, shape.M);
    const auto d = static_cast<std::size_t>(shape.d);
    const auto r_n = static_cast<std::size_t>(kernel.largest_lag());
    const auto M = static_cast<std::size_t>(shape.M);
    CHECK(std::abs(sum(longer) - 1.0) <= 1e-14);
    REQUIRE(longer.size() == static_cast<std::size_t>(std::pow(shape.d, shape.M)));
    Law exact(longer.size(), 0.0);
    std::vector<std::size_t> x(M);  // oldest first
    for (std::size_t code = 0; code < exact.size(); ++code) {
      for (std::size_t i = 0, rest = code; i < M; ++i, rest /= d) x[M - 1 - i] = rest % d;
      std::size_t oldest = 0;
      for (std::size_t i = 0; i < r_n; ++i) oldest = oldest * d + x[i];
      exact[code] = mu[oldest];
      for (std::size_t l = r_n; l < M; ++l) {
        std::size_t row = 0;
        for (const int r : kernel.parents) row = row * d + x[l - static_cast<std::size_t>(r)];
        exact[code] *= kernel.pi[row * d + x[l]];
      }
    }
    CHECK(largest_difference(longer, exact) <= 1e-16);
  }
}

TEST_CASE("too many windows are refused") {
  CHECK(WindowChain(random_kernel(2, {1, 12}, 1.0, 99)).states() == 4096);
  CHECK_THROWS_WITH_AS(
      WindowChain(random_kernel(2, {1, 13}, 1.0, 99)),
      "stationary law of vocabulary d = 2 with largest parent 13: d^r windows must "
      "be at most 4096",
      InputError);
}
