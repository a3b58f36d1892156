#include "gih/training/schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gih;

using Steps = std::vector<std::size_t>;

TEST_CASE("log steps of short stages and of a fixed distance are written out") {
  struct {
    std::size_t epochs, every;
    Steps expected;
  } const cases[] = {
      {0, 0, {0}},          {0, 5, {0}},       {1, 0, {0, 1}},       {1, 1, {0, 1}},
      {1, 5, {0, 1}},       {2, 0, {0, 1, 2}}, {3, 1, {0, 1, 2, 3}}, {10, 3, {0, 3, 6, 9, 10}},
      {9, 3, {0, 3, 6, 9}}, {5, 100, {0, 5}},  {6, 5, {0, 5, 6}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.epochs);
    CAPTURE(c.every);
    CHECK(log_steps(c.epochs, c.every) == c.expected);
  }
}

TEST_CASE("automatic log steps ascend from first to last in at most 2000 rows, dense early") {
  for (const std::size_t epochs :
       {2UL, 3UL, 100UL, 1999UL, 2000UL, 2001UL, 5000UL, 50000UL, 1000000UL, 1000000000000UL}) {
    CAPTURE(epochs);
    const Steps steps = log_steps(epochs, 0);
    CHECK(steps.front() == 0);
    CHECK(steps.back() == epochs);
    CHECK(steps.size() <= 2000);
    CHECK(std::adjacent_find(steps.begin(), steps.end(), std::greater_equal<>{}) == steps.end());
    // The first steps are all there, and a long stage uses much of what it may.
    for (std::size_t k = 0; k <= std::min<std::size_t>(epochs, 20); ++k) CHECK(steps[k] == k);
    if (epochs >= 2000) CHECK(steps.size() > 500);
  }
}
