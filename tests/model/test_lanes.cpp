// Eight doubles as one number.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../../sim/model/lanes.hpp"
#include "gih/base/random.hpp"

namespace gih {

TEST_CASE("the logarithm of eight numbers is that of each") {
  Stream random(1, Purpose::claims, 0);
  double worst = 0.0;  // in units of the last place
  for (int i = 0; i < 20000; ++i) {
    const double spread = i % 3 == 0 ? 1e-3 : i % 3 == 1 ? 3.0 : 700.0;
    Lanes x{};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      x.set(lane, std::exp(spread * (2.0 * random.uniform() - 1.0)));
    }
    const Lanes y = log(x);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const long double exact = std::log(static_cast<long double>(x[lane]));
      const double unit =
          std::abs(std::nextafter(static_cast<double>(exact), 1e9) - static_cast<double>(exact));
      worst = std::max(worst, std::abs(static_cast<double>(y[lane] - exact)) / unit);
    }
  }
  CHECK(worst <= 2.0);
  CHECK(worst > 0.0);
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
