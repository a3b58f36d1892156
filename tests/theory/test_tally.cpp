#include "gih/theory/tally.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using gih::Tally;
using gih::Verdict;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class... Numbers>
Verdict of_equal(Numbers... numbers) {
  Tally tally;
  tally.equal(numbers...);
  return tally.verdict();
}

template <class... Numbers>
Verdict of_at_most(Numbers... numbers) {
  Tally tally;
  tally.at_most(numbers...);
  return tally.verdict();
}

}  // namespace

TEST_CASE("nothing checked is a failure, unless a reason was given") {
  Tally tally;
  CHECK(tally.checked() == 0);
  CHECK(tally.slack() == 0.0);
  CHECK(tally.verdict() == Verdict::fail);
  tally.skip("no prompts");
  CHECK(tally.verdict() == Verdict::skipped);
  CHECK(tally.why() == "no prompts");
  tally.at_most(1.0, 2.0);
  CHECK(tally.verdict() == Verdict::pass);
  tally.at_most(2.0, 1.0);
  tally.skip("too late");
  CHECK(tally.verdict() == Verdict::fail);
}

TEST_CASE("exact comparisons allow rounding and no more") {
  CHECK(of_equal(1.0, 1.0 + 0.9e-10) == Verdict::pass);
  CHECK(of_equal(1.0, 1.0 + 1.1e-10) == Verdict::fail);
  CHECK(of_equal(1e6, 1e6 + 0.9e-4) == Verdict::pass);
  CHECK(of_equal(1e6, 1e6 + 1.1e-4) == Verdict::fail);
  CHECK(of_equal(0.0, 1.1e-10) == Verdict::fail);
  CHECK(of_at_most(1.0, 2.0) == Verdict::pass);
  CHECK(of_at_most(1.0, 1.0 - 0.9e-10) == Verdict::pass);
  CHECK(of_at_most(1.0, 1.0 - 1.1e-10) == Verdict::fail);
  CHECK(of_at_most(-1.0, -2.0) == Verdict::fail);
}

TEST_CASE("no comparison with infinity passes by its size") {
  CHECK(of_equal(1.0, infinity) == Verdict::fail);
  CHECK(of_equal(infinity, 1.0) == Verdict::fail);
  CHECK(of_equal(-infinity, infinity) == Verdict::fail);
  CHECK(of_at_most(infinity, 1.0) == Verdict::fail);
  CHECK(of_at_most(infinity, -infinity) == Verdict::fail);
  CHECK(of_at_most(1.0, infinity) == Verdict::pass);
  CHECK(of_at_most(-infinity, 1.0) == Verdict::pass);
  CHECK(of_at_most(infinity, infinity) == Verdict::pass);
  CHECK(of_at_most(infinity, 1.0, 0.1) == Verdict::fail);
  CHECK(of_equal(infinity, 1.0, 0.1) == Verdict::fail);
}

TEST_CASE("what is not a number fails, whatever came before and after") {
  CHECK(of_equal(not_a_number, 1.0) == Verdict::fail);
  CHECK(of_equal(1.0, not_a_number) == Verdict::fail);
  CHECK(of_at_most(not_a_number, 1.0) == Verdict::fail);
  CHECK(of_at_most(1.0, not_a_number) == Verdict::fail);
  CHECK(of_equal(not_a_number, 1.0, 0.1) == Verdict::fail);
  CHECK(of_equal(2.0, 1.0, not_a_number) == Verdict::fail);
  CHECK(of_at_most(not_a_number, 1.0, 0.1) == Verdict::fail);
  CHECK(of_at_most(0.0, 1.0, not_a_number) == Verdict::fail);
  Tally tally;
  tally.at_most(0.0, 1.0);
  tally.at_most(not_a_number, 1.0);
  tally.at_most(0.0, 1.0);
  CHECK(tally.verdict() == Verdict::fail);
  CHECK(std::isnan(tally.slack()));
  CHECK(std::isnan(tally.left()));
}

TEST_CASE("sampled comparisons need to be clear of their standard error") {
  CHECK(of_at_most(0.0, 3.1, 1.0) == Verdict::pass);
  CHECK(of_at_most(0.0, 2.9, 1.0) == Verdict::undecided);
  CHECK(of_at_most(0.0, -2.9, 1.0) == Verdict::undecided);
  CHECK(of_at_most(0.0, -3.1, 1.0) == Verdict::fail);
  CHECK(of_at_most(1.0, 1.0, 0.0) == Verdict::pass);
  CHECK(of_equal(0.0, 3.9, 1.0) == Verdict::pass);
  CHECK(of_equal(0.0, 4.1, 1.0) == Verdict::fail);
}

TEST_CASE("the worst verdict and the least slack stay") {
  Tally tally;
  tally.at_most(0.0, 5.0, 1.0);
  CHECK(tally.verdict() == Verdict::pass);
  tally.at_most(0.0, 1.0, 1.0);
  CHECK(tally.verdict() == Verdict::undecided);
  tally.at_most(3.0, 10.0);
  CHECK(tally.verdict() == Verdict::undecided);
  CHECK(tally.slack() == 1.0);
  tally.require(false);
  CHECK(tally.verdict() == Verdict::fail);
  CHECK(tally.slack() == -1.0);
  tally.require(true);
  tally.at_most(0.0, 1.0, 1.0);
  CHECK(tally.verdict() == Verdict::fail);
  CHECK(tally.checked() == 6);
}

TEST_CASE("the ratio is that of the sharpest inequality") {
  Tally tally;
  tally.equal(7.0, 7.0);
  CHECK(tally.ratio() == 0.0);
  CHECK_FALSE(std::signbit(tally.slack()));
  tally.at_most(1.0, 4.0);
  tally.at_most(3.0, 4.0);
  tally.at_most(2.0, 4.0);
  tally.at_most(1.0, infinity);
  tally.at_most(-2.0, -1.0);
  CHECK(tally.ratio() == 0.75);
}

TEST_CASE("names of the verdicts") {
  CHECK(gih::verdict_name(Verdict::pass) == "PASS");
  CHECK(gih::verdict_name(Verdict::fail) == "FAIL");
  CHECK(gih::verdict_name(Verdict::undecided) == "UNDECIDED");
  CHECK(gih::verdict_name(Verdict::skipped) == "SKIPPED");
}
