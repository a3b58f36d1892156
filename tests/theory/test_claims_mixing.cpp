#include <doctest/doctest.h>

#include <cmath>

#include "../../sim/theory/claim_cases.hpp"
#include "../../sim/theory/mixing_bounds.hpp"
#include "gih/theory/claims.hpp"

using namespace gih;

TEST_CASE("claims on mixing come out as expected") {
  for (const ClaimResult& result :
       check_claims({"F.12", "F.12.printed", "F.12.zero", "F.12.zero.printed", "F.13",
                     "F.13.printed", "F.14", "F.15", "E.6", "F.16.last", "F.16.last.printed",
                     "F.16.average", "F.16.average.lambda", "F.17", "F.18", "F.19"},
                    1)) {
    CAPTURE(result.id);
    CHECK(result.tally.checked() > 0);
    CHECK(result.counter == Verdict::fail);
    CHECK(result.as_expected);
  }
}

TEST_CASE("bounds that are met with equality have ratio 1") {
  for (const ClaimResult& result : check_claims({"F.12", "F.13", "F.14", "F.15", "F.16.last"}, 1)) {
    CAPTURE(result.id);
    CHECK(result.tally.ratio() == doctest::Approx(1.0).epsilon(1e-6));
  }
}

// Two tokens that repeat with probability 3/4: lambda_2 = 1/2, reversible, so rho_i = 2^-i and
// Lambda = 2; from one token D_chi2(mu_0 || mu) = 1.
TEST_CASE("right sides of F.16 to F.18 on a chain known in closed form") {
  const Kernel kernel = repeating_chain(0.75);
  const MixingBounds near(kernel, point_mass(2, 0), 1, 5);
  CHECK(near.D_0 == doctest::Approx(1.0).epsilon(1e-14));
  CHECK(near.mixing.Lambda == doctest::Approx(2.0).epsilon(1e-14));
  CHECK(near.last() == doctest::Approx(1.0 / 32.0).epsilon(1e-14));
  CHECK(near.average() == doctest::Approx(0.25).epsilon(1e-14));
  CHECK(near.joint(0) == doctest::Approx(0.75).epsilon(1e-14));
  CHECK(near.joint(1) == doctest::Approx(0.75).epsilon(1e-14));
  CHECK(near.empirical(window_law(kernel, 1), 0) ==
        doctest::Approx(0.25 + std::sqrt(8.0)).epsilon(1e-14));
  // The pair (1, 0) is the rarest, 1/8.
  CHECK(near.empirical(window_law(kernel, 1), 0b1) ==
        doctest::Approx((7.0 + 4.0 * std::sqrt(32.0)) / 4.0).epsilon(1e-14));

  const MixingBounds wide(kernel, point_mass(2, 0), 3, 7);
  CHECK(wide.joint(2) == doctest::Approx((3.0 + 2.0) / 4.0).epsilon(1e-14));
  CHECK(wide.empirical(window_law(kernel, 3), 0) ==
        doctest::Approx((5.0 + 4.0 * std::sqrt(8.0)) / 4.0).epsilon(1e-14));
}

TEST_CASE("the number of outcomes that matter is d^min(|S|+1, r_n)") {
  const World& world = worlds().front();  // two tokens, lags 1 and 2
  const MixingBounds bounds(world.kernels.front(), world.start, 3, 8);
  const double root = std::sqrt(bounds.D_0), one = std::sqrt(bounds.D_0 + 1.0);
  const double Lambda = bounds.mixing.Lambda;
  CHECK(bounds.joint(0) ==
        doctest::Approx((Lambda * (one * std::sqrt(2.0) + root) / 2.0 + 1.0) / 5.0).epsilon(1e-14));
  for (const int size : {1, 2, 3}) {
    CHECK(bounds.joint(size) ==
          doctest::Approx((Lambda * (one * 2.0 + root) / 2.0 + 1.0) / 5.0).epsilon(1e-14));
  }
}
