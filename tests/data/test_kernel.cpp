#include "gih/data/kernel.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "gih/base/error.hpp"
#include "support/chain_cases.hpp"

using namespace gih;

TEST_CASE("rows: the nearest parent is the most significant digit") {
  const Kernel kernel = test::worked_kernel();
  CHECK(kernel.rows() == 4);
  CHECK(kernel.largest_lag() == 2);
  // Lags nearest first: lag 1 = 0, lag 2 = 1.
  const std::array<Token, 2> lags{0, 1};
  CHECK(kernel.parent_code(lags) == 1);
  CHECK(kernel.row(kernel.parent_code(lags))[1] == 0.6);
}

TEST_CASE("parents with gaps are found in a longer window") {
  const Kernel kernel = test::random_kernel(3, {2, 4}, 1.0, 1);
  const std::array<Token, 5> lags{0, 1, 0, 2, 0};
  CHECK(kernel.parent_code(lags) == 1 * 3 + 2);
}

TEST_CASE("sizes are checked before anything is allocated") {
  CHECK(kernel_rows(3, 2) == 9);
  CHECK(kernel_rows(2, 30) == std::size_t{1} << 30);
  CHECK_THROWS_WITH_AS(kernel_rows(2, 31),
                       "vocabulary d = 2 with 31 parents: the kernel's d^n x d entries must be at "
                       "most 2^31",
                       InputError);
  CHECK_THROWS_AS(kernel_rows(65536, 1), InputError);
  CHECK_THROWS_AS(kernel_rows(10, 1000), InputError);
}

TEST_CASE("a kernel that is no kernel is refused, and the source is named") {
  const Kernel good = test::worked_kernel();
  CHECK_NOTHROW(check_kernel(good, "k.json"));
  const auto refused = [&](auto change, const char* message) {
    Kernel kernel = good;
    change(kernel);
    CHECK_THROWS_WITH_AS(check_kernel(kernel, "k.json"), message, InputError);
  };
  refused([](Kernel& k) { k.d = 1; }, "k.json: vocabulary 1: must be 2 to 65536");
  refused([](Kernel& k) { k.parents = {}; }, "k.json: a kernel needs at least one parent lag");
  refused(
      [](Kernel& k) {
        k.parents = {2, 1};
      },
      "k.json: parents 2,1: lags must ascend from 1 or more");
  refused(
      [](Kernel& k) {
        k.parents = {1, 1};
      },
      "k.json: parents 1,1: lags must ascend from 1 or more");
  refused(
      [](Kernel& k) {
        k.parents = {0, 1};
      },
      "k.json: parents 0,1: lags must ascend from 1 or more");
  refused([](Kernel& k) { k.pi.pop_back(); }, "k.json: kernel has 7 entries, 8 are needed");
  refused([](Kernel& k) { k.pi[2] = -0.1; }, "k.json: kernel row 1: entry -0.1 must be 0 to 1");
  refused([](Kernel& k) { k.pi[7] = std::numeric_limits<double>::quiet_NaN(); },
          "k.json: kernel row 3: entry nan must be 0 to 1");
  refused([](Kernel& k) { k.pi[0] += 2e-9; },
          "k.json: kernel row 0 sums to 1.000000002: must be 1 within 1e-9");
  Kernel nearly = good;
  nearly.pi[0] += 0.5e-9;
  CHECK_NOTHROW(check_kernel(nearly, "k.json"));
}
