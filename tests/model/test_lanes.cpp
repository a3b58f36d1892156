// Eight doubles as one number.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "../../sim/model/lanes.hpp"
#include "gih/base/random.hpp"

namespace gih {

namespace {

/// Distance of y from the exact value, in units of its last place.
double units_off(double y, long double exact) {
  const auto rounded = static_cast<double>(exact);
  const double unit = std::nextafter(std::abs(rounded), 1e300) - std::abs(rounded);
  return static_cast<double>(std::abs(y - exact)) / unit;
}

}  // namespace

TEST_CASE("the logarithm of eight numbers is that of each") {
  Stream random(1, Purpose::claims, 0);
  double worst = 0.0;
  for (int i = 0; i < 20000; ++i) {
    const double spread = i % 3 == 0 ? 1e-3 : i % 3 == 1 ? 3.0 : 700.0;
    Lanes x{};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      x.set(lane, std::exp(spread * (2.0 * random.uniform() - 1.0)));
    }
    const Lanes y = log(x);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      worst = std::max(worst, units_off(y[lane], std::log(static_cast<long double>(x[lane]))));
    }
  }
  CHECK(worst <= 2.0);
  CHECK(worst > 0.0);
}

TEST_CASE("the exponential of eight numbers is that of each") {
  Stream random(1, Purpose::claims, 1);
  double worst = 0.0;
  for (int i = 0; i < 20000; ++i) {
    const double spread = i % 3 == 0 ? 1e-3 : i % 3 == 1 ? 3.0 : 700.0;
    Lanes x{};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      x.set(lane, spread * (2.0 * random.uniform() - 1.0));
    }
    const Lanes y = exp(x);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      worst = std::max(worst, units_off(y[lane], std::exp(static_cast<long double>(x[lane]))));
    }
  }
  CHECK(worst <= 2.0);
  CHECK(worst > 0.0);
  CHECK(exp(Lanes::all(0.0))[5] == 1.0);
}

TEST_CASE("an exponential that is no normal number is that of the standard library") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double special : {-infinity, -800.0, -740.0, -701.0, 701.0, 800.0, infinity}) {
    for (std::size_t place = 0; place < lanes; ++place) {
      Lanes x = Lanes::all(1.0);
      x.set(place, special);
      const Lanes y = exp(x);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        if (lane == place) {
          CHECK(y[lane] == std::exp(special));
        } else {
          CHECK(std::abs(y[lane] - std::exp(1.0)) <= 1e-15);
        }
      }
    }
  }
  CHECK(std::isnan(exp(Lanes::all(std::nan("")))[3]));
}

TEST_CASE("arrays of any length are summed and exponentiated whole, and nothing beyond them") {
  for (std::size_t n = 0; n < 30; ++n) {
    CAPTURE(n);
    std::vector<double> x(n + 1), y(n + 1);
    for (std::size_t i = 0; i <= n; ++i) {
      x[i] = static_cast<double>(i + 1);
      y[i] = static_cast<double>(2 * i + 1);
    }
    double wanted = 0.0;
    for (std::size_t i = 0; i < n; ++i) wanted += x[i] * y[i];
    CHECK(dot(std::span(x).first(n), std::span(y).first(n)) == wanted);  // whole numbers
    exp_each(std::span(x).first(n));
    for (std::size_t i = 0; i < n; ++i) CHECK(units_off(x[i], std::exp(i + 1.0L)) <= 2.0);
    CHECK(x[n] == static_cast<double>(n + 1));
  }
}

TEST_CASE("a logarithm without a normal number is that of the standard library") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double special : {0.0, 1e-310, infinity}) {
    for (std::size_t place = 0; place < lanes; ++place) {
      Lanes x = Lanes::all(2.0);
      x.set(place, special);
      const Lanes y = log(x);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        if (lane == place) {
          CHECK(y[lane] == std::log(special));
        } else {
          CHECK(std::abs(y[lane] - std::log(2.0)) <= 1e-15);
        }
      }
    }
  }
  CHECK(std::isnan(log(Lanes::all(-1.0))[3]));
}

}  // namespace gih
