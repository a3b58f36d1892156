#include "gih/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "support/statistics.hpp"

using gih::Purpose;
using gih::Stream;
using gih::test::kolmogorov_p;
using gih::test::level;
using gih::test::Moment;

namespace {

template <typename Draw>
std::vector<double> sample(std::size_t n, Draw draw) {
  std::vector<double> values(n);
  for (double& value : values) value = draw();
  return values;
}

}  // namespace

TEST_CASE("the goodness-of-fit tests reject a sample of a law that is slightly wrong") {
  Stream stream(12, Purpose::train_tokens, 0);
  const auto values = sample(100000, [&] { return stream.uniform(); });
  CHECK(kolmogorov_p(values, [](double u) { return std::pow(u, 1.05); }) < level);
  std::vector<double> counts(10, 0.0);
  for (const double u : values) ++counts[static_cast<std::size_t>(10.0 * u)];
  std::vector<double> expected(10, 1e4);
  CHECK(gih::test::chi_square_p(counts, expected) >= level);
  std::vector<double> shifted = counts;
  shifted[0] += 1000.0;
  shifted[1] -= 1000.0;
  CHECK(gih::test::chi_square_p(shifted, expected) < level);
  CHECK(gih::test::two_sample_p(counts, counts) == doctest::Approx(1.0));
  CHECK(gih::test::two_sample_p(counts, shifted) < level);
  expected[9] = 0.0;
  CHECK(gih::test::chi_square_p(counts, expected) == 0.0);
}

TEST_CASE("the bits are those of Philox 4x64-10") {
  // Made with numpy.random.Philox (key = seed, purpose; counter = block, index, 0, 0). The first
  // block is also the known answer that Random123 publishes for a zero key and counter.
  Stream zero(0, static_cast<Purpose>(0), 0);
  CHECK(zero.bits() == 0x16554d9eca36314c);
  CHECK(zero.bits() == 0xdb20fe9d672d0fdc);
  CHECK(zero.bits() == 0xd7e772cee186176b);
  CHECK(zero.bits() == 0x7e68b68aec7ba23b);

  const std::array<std::uint64_t, 8> expected{
      0x0a4ce1911a0a122b, 0xaa0ce5274adbe4c7, 0x93e3c1fc5a09105f, 0x76b4c0dc1afd2f13,
      0xe8c189d352c2845c, 0xc907f2cf5679ec8e, 0x2f86ad06bed7fcc8, 0x420cfaa8ac66a4a8};
  Stream stream(0x0123456789abcdef, Purpose::validation_tokens, 0xfedcba9876543210);
  for (const std::uint64_t bits : expected) CHECK(stream.bits() == bits);
}

TEST_CASE("the numbers of the purposes never change") {
  CHECK(static_cast<int>(Purpose::train_kernel) == 1);
  CHECK(static_cast<int>(Purpose::train_tokens) == 2);
  CHECK(static_cast<int>(Purpose::validation_kernel) == 3);
  CHECK(static_cast<int>(Purpose::validation_tokens) == 4);
}

TEST_CASE("a stream depends on seed, purpose and index, and on nothing else") {
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  for (const std::uint64_t seed : {0ULL, 1ULL, 2ULL, 1ULL << 63, ~0ULL}) {
    for (const Purpose purpose : {Purpose::train_kernel, Purpose::train_tokens,
                                  Purpose::validation_kernel, Purpose::validation_tokens}) {
      for (const std::uint64_t index : {0ULL, 1ULL, 2ULL, 1ULL << 32, ~0ULL}) {
        Stream stream(seed, purpose, index);
        Stream again(seed, purpose, index);
        for (int i = 0; i < 100; ++i, ++drawn) {
          const std::uint64_t bits = stream.bits();
          seen.insert(bits);
          if (bits != again.bits()) FAIL("the same stream gave other numbers");
        }
      }
    }
  }
  // 10^4 numbers of 64 bits: a collision by chance has probability 3e-12.
  CHECK(drawn == 10000);
  CHECK(seen.size() == drawn);
}

TEST_CASE("uniform numbers lie in [0, 1) and are uniform, also across streams") {
  Stream stream(1, Purpose::train_tokens, 0);
  const auto along = sample(100000, [&] { return stream.uniform(); });
  CHECK(*std::min_element(along.begin(), along.end()) >= 0.0);
  CHECK(*std::max_element(along.begin(), along.end()) < 1.0);
  CHECK(kolmogorov_p(along, [](double u) { return u; }) >= level);
  std::uint64_t index = 0;
  const auto across =
      sample(100000, [&] { return Stream(1, Purpose::train_tokens, index++).uniform(); });
  CHECK(kolmogorov_p(across, [](double u) { return u; }) >= level);
  const auto open = sample(100000, [&] { return stream.open_uniform(); });
  CHECK(*std::min_element(open.begin(), open.end()) > 0.0);
  CHECK(*std::max_element(open.begin(), open.end()) < 1.0);
  CHECK(kolmogorov_p(open, [](double u) { return u; }) >= level);
}

TEST_CASE("pairs of neighbouring numbers and of neighbouring streams are independent") {
  constexpr std::size_t cells = 16;
  const auto pairs_p = [](auto draw) {
    std::vector<double> counts(cells * cells, 0.0);
    for (int i = 0; i < 100000; ++i) {
      const auto [u, v] = draw(static_cast<std::uint64_t>(i));
      const auto row = static_cast<std::size_t>(u * cells);
      ++counts[row * cells + static_cast<std::size_t>(v * cells)];
    }
    return gih::test::chi_square_p(counts,
                                   std::vector<double>(cells * cells, 1e5 / (cells * cells)));
  };
  Stream stream(2, Purpose::train_tokens, 0);
  CHECK(pairs_p([&](std::uint64_t) {
          const double u = stream.uniform();
          return std::pair{u, stream.uniform()};
        }) >= level);
  CHECK(pairs_p([](std::uint64_t i) {
          return std::pair{Stream(3, Purpose::train_tokens, i).uniform(),
                           Stream(3, Purpose::train_tokens, i + 1).uniform()};
        }) >= level);
  CHECK(pairs_p([](std::uint64_t i) {
          return std::pair{Stream(i, Purpose::train_tokens, 0).uniform(),
                           Stream(i + 1, Purpose::train_tokens, 0).uniform()};
        }) >= level);
  CHECK(pairs_p([](std::uint64_t i) {
          return std::pair{Stream(4, Purpose::train_tokens, i).uniform(),
                           Stream(4, Purpose::validation_tokens, i).uniform()};
        }) >= level);
}

TEST_CASE("normal numbers") {
  Stream stream(5, Purpose::train_kernel, 0);
  const auto values = sample(200000, [&] { return stream.normal(); });
  const boost::math::normal law;
  CHECK(kolmogorov_p(values, [&](double x) { return boost::math::cdf(law, x); }) >= level);
  std::array<Moment, 4> moments;
  for (const double x : values) {
    for (std::size_t k = 0; k < 4; ++k) moments[k].add(std::pow(x, k + 1));
  }
  const std::array<double, 4> exact{0.0, 1.0, 0.0, 3.0};
  for (std::size_t k = 0; k < 4; ++k) {
    CAPTURE(k);
    CHECK(moments[k].errors_from(exact[k]) <= 4.0);
  }
}

TEST_CASE("a normal number always takes two uniform ones") {
  Stream stream(6, Purpose::train_kernel, 0);
  Stream beside(6, Purpose::train_kernel, 0);
  for (int i = 0; i < 5; ++i) stream.normal();
  for (int i = 0; i < 10; ++i) beside.bits();
  CHECK(stream.bits() == beside.bits());
}

TEST_CASE("gamma numbers, also of shapes below 1") {
  for (const double shape : {0.05, 0.5, 1.0, 2.5, 40.0}) {
    CAPTURE(shape);
    Stream stream(7, Purpose::train_kernel, static_cast<std::uint64_t>(1000.0 * shape));
    const auto logs = sample(100000, [&] { return stream.log_gamma(shape); });
    const boost::math::gamma_distribution<double> law(shape);
    CHECK(kolmogorov_p(logs, [&](double x) { return boost::math::cdf(law, std::exp(x)); }) >=
          level);
    Moment first;
    Moment second;
    Moment log;
    for (const double x : logs) {
      first.add(std::exp(x));
      second.add(std::exp(2.0 * x));
      log.add(x);
    }
    CHECK(first.errors_from(shape) <= 4.0);
    CHECK(second.errors_from(shape * (shape + 1.0)) <= 4.0);
    CHECK(log.errors_from(boost::math::digamma(shape)) <= 4.0);
  }
}

TEST_CASE("log gamma of a tiny shape is finite and has the right mean") {
  Stream stream(8, Purpose::train_kernel, 0);
  Moment log;
  for (int i = 0; i < 100000; ++i) {
    const double x = stream.log_gamma(1e-3);
    if (!std::isfinite(x)) FAIL("log gamma = " << x);
    log.add(x);
  }
  CHECK(log.errors_from(boost::math::digamma(1e-3)) <= 4.0);
}

TEST_CASE("Dirichlet rows of concentration 0.001: corners, never NaN") {
  constexpr int rows = 100000;
  constexpr std::size_t d = 3;
  Stream stream(9, Purpose::train_kernel, 0);
  std::array<double, d> p{};
  std::array<double, d> corner{};
  int sharp = 0;
  double worst_sum = 0.0;
  for (int i = 0; i < rows; ++i) {
    stream.dirichlet(1e-3, p);
    for (const double entry : p) {
      if (!(entry >= 0.0 && entry <= 1.0)) FAIL("entry " << entry);
    }
    worst_sum = std::max(worst_sum, std::abs(std::accumulate(p.begin(), p.end(), 0.0) - 1.0));
    const auto largest = std::max_element(p.begin(), p.end());
    if (*largest > 0.99) {
      ++sharp;
      ++corner[static_cast<std::size_t>(largest - p.begin())];
    }
  }
  CHECK(worst_sum <= 3e-15);
  // The largest entry is at most 0.99 with probability near 6 alpha log 99 x 1/3 = 0.0092.
  CHECK(sharp >= 0.985 * rows);
  CHECK(sharp <= 0.995 * rows);
  const double third_error = std::sqrt(sharp * (1.0 / 3.0) * (2.0 / 3.0));
  for (const double count : corner) CHECK(std::abs(count - sharp / 3.0) <= 4.0 * third_error);
}

TEST_CASE("Dirichlet moments are those of the closed form") {
  for (const double alpha : {0.01, 0.1, 1.0, 30.0}) {
    for (const std::size_t d : {std::size_t{2}, std::size_t{3}, std::size_t{10}}) {
      CAPTURE(alpha);
      CAPTURE(d);
      Stream stream(10, Purpose::train_kernel, 1000 * d);
      std::vector<double> p(d);
      std::vector<double> log_p(d);
      Moment square;
      Moment product;
      Moment log;
      for (int i = 0; i < 40000; ++i) {
        stream.dirichlet(alpha, p);
        square.add(p[0] * p[0]);
        product.add(p[0] * p[d - 1]);
        stream.log_dirichlet(alpha, log_p);
        if (!std::isfinite(log_p[d - 1])) FAIL("log p = " << log_p[d - 1]);
        log.add(log_p[d - 1]);
      }
      const double A = alpha * static_cast<double>(d);
      CHECK(square.errors_from(alpha * (alpha + 1.0) / (A * (A + 1.0))) <= 4.0);
      CHECK(product.errors_from(alpha * alpha / (A * (A + 1.0))) <= 4.0);
      CHECK(log.errors_from(boost::math::digamma(alpha) - boost::math::digamma(A)) <= 4.0);
    }
  }
}

TEST_CASE("dirichlet is the exponential of log_dirichlet and sums to 1") {
  for (const double alpha : {1e-3, 0.3, 100.0}) {
    for (const std::size_t d : {std::size_t{1}, std::size_t{2}, std::size_t{1000}}) {
      CAPTURE(alpha);
      CAPTURE(d);
      std::vector<double> p(d);
      std::vector<double> log_p(d);
      Stream(11, Purpose::train_kernel, d).dirichlet(alpha, p);
      Stream(11, Purpose::train_kernel, d).log_dirichlet(alpha, log_p);
      CHECK(std::abs(std::accumulate(p.begin(), p.end(), 0.0) - 1.0) <= 3e-15);
      for (std::size_t k = 0; k < d; ++k) {
        if (std::abs(p[k] - std::exp(log_p[k])) > 1e-14 * p[k]) FAIL("entry " << k);
      }
    }
  }
}
