#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "../../sim/theory/kernel_families.hpp"
#include "gih/data/chain.hpp"
#include "gih/theory/information.hpp"
#include "support/claim_rows.hpp"

using namespace gih;

namespace {

double modified(const Kernel& kernel, int M, Subset S) {
  return modified_information(window_law(kernel, M).marginal(S), kernel.d);
}

constexpr double rounding = 1e-14;

}  // namespace

TEST_CASE("the claims about the information come out as expected") {
  test::check_rows(
      {"3.1", "g_3", "chi2", "sandwich", "DPI", "3.5", "E.10", "3.6", "3.6.stage1", "3.6.printed"});
  for (const char* id : {"sandwich", "DPI", "3.5", "E.10", "3.6", "3.6.stage1"}) {
    CAPTURE(id);
    const double ratio = test::row(id).tally.ratio();
    CHECK(ratio > 0.99);
    CHECK(ratio < 1.0 + 1e-9);
  }
}

TEST_CASE("the claims about the parents come out as expected") {
  test::check_rows(
      {"superset", "n=1", "C.6", "C.6.printed", "fixed n", "fixed n.printed", "Cor D<=n"});
  for (const char* id : {"superset", "n=1", "fixed n", "Cor D<=n"}) {
    CAPTURE(id);
    const double ratio = test::row(id).tally.ratio();
    CHECK(ratio > 0.9);
    CHECK(ratio < 1.0 + 1e-9);
  }
}

TEST_CASE("the stored kernels have the numbers that stand beside them") {
  const Kernel repeating = repeating_kernel();
  CHECK(std::abs(modified(repeating, 2, 3) - 5.0 / 64.0) <= rounding);
  CHECK(std::abs(standard_information(window_law(repeating, 2).marginal(3), 2) / 4.0 -
                 4.0 / 64.0) <= rounding);

  const Kernel alternating = alternating_kernel();
  CHECK(std::abs(modified(alternating, 4, 0b0011) - 0.125) <= rounding);
  CHECK(std::abs(modified(alternating, 4, 0b1010) - 73701.0 / 400000.0) <= rounding);

  const Kernel parity = parity_kernel();
  CHECK(std::abs(modified(parity, 2, 0b01)) <= rounding);
  CHECK(std::abs(modified(parity, 2, 0b10)) <= rounding);
  CHECK(std::abs(modified(parity, 2, 0b11) - 0.16) <= rounding);

  const Kernel uneven = uneven_kernel();
  CHECK(std::abs(modified(uneven, 3, 0b101) - 0.19898127277462) <= 1e-12);
  CHECK(std::abs(modified(uneven, 3, 0b011) - 0.22228303060529) <= 1e-12);
}

TEST_CASE("families keep the vocabulary, the parents and what they promise") {
  for (const Kernel& kernel : kernel_family("uniform-stationary", 3, {1, 3}, 16)) {
    check_kernel(kernel, "family");
    const auto law = WindowChain(kernel).long_run_law();
    for (const double mass : law) CHECK(std::abs(mass - 1.0 / 27.0) <= rounding);
  }
  const World& world = worlds()[5];
  const auto kernels = general_kernels(world, 40);
  CHECK(kernels.size() > world.kernels.size() + 30);
  for (const Kernel& kernel : kernels) {
    check_kernel(kernel, "family");
    CHECK(kernel.parents == world.kernels.front().parents);
    CHECK(*std::min_element(kernel.pi.begin(), kernel.pi.end()) >= 1e-3);
  }
}

TEST_CASE("spans and parents as bits") {
  CHECK(span_of(0) == 0);
  CHECK(span_of(0b100) == 0);
  CHECK(span_of(0b1010) == 2);
  CHECK(parents_of(alternating_kernel()) == 0b11);
  CHECK(parents_of(uneven_kernel()) == 0b101);
}
