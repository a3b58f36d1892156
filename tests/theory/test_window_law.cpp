#include "gih/theory/window_law.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "gih/base/error.hpp"
#include "gih/base/window.hpp"
#include "support/chain_cases.hpp"

using namespace gih;

namespace {

std::string refusal(int d, int M) {
  try {
    check_law_size(d, M);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

double sum(const std::vector<double>& values) {
  double total = 0.0;
  for (const double value : values) total += value;
  return total;
}

}  // namespace

TEST_CASE("the law of the worked example is that of its fractions") {
  const WindowLaw law = window_law(test::worked_kernel(), 3);
  REQUIRE(law.windows() == 8);
  // Of two tokens, written (lag 2, lag 1).
  const std::vector<double> pairs{8.0 / 15.0, 2.0 / 15.0, 2.0 / 15.0, 1.0 / 5.0};
  const std::vector<double> windows = law.of_windows();
  for (std::size_t Z = 0; Z < 4; ++Z) {
    CHECK(std::abs(windows[Z] + windows[Z + 4] - pairs[Z]) < 1e-15);  // the oldest lag summed out
  }
  const std::vector<double> tokens = law.of_tokens();
  CHECK(std::abs(tokens[0] - 2.0 / 3.0) < 1e-15);
  CHECK(std::abs(tokens[1] - 1.0 / 3.0) < 1e-15);
  // mu(0 0 1 | then 1) = mu(lag 3 = 0, lag 2 = 0) pi(1 | 0, 0) pi(1 | lag 1 = 1, lag 2 = 0).
  CHECK(std::abs(law.at(0b001, 1) - 8.0 / 15.0 * 0.1 * 0.3) < 1e-15);
}

TEST_CASE("the law is stationary and obeys the kernel, gaps between parents or not") {
  int checked = 0;
  for (const auto& [d, parents, M] : std::vector<std::tuple<int, std::vector<int>, int>>{
           {2, {1}, 1}, {3, {1, 2}, 2}, {3, {1, 3}, 4}, {2, {2, 5}, 6}, {4, {3}, 3}}) {
    for (std::uint64_t index = 0; index < 3; ++index) {
      const Kernel kernel = test::random_kernel(d, parents, 0.3, index);
      const WindowLaw law = window_law(kernel, M);
      CHECK(std::abs(sum(law.joint) - 1.0) < 1e-13);
      // A step later the window, its oldest token dropped, has the same law.
      const std::vector<double> before = law.of_windows();
      std::vector<double> after(before.size(), 0.0);
      const WindowCodes codes(d, M);
      for (std::size_t Z = 0; Z < before.size(); ++Z) {
        const auto lags = codes.decode(codes.first(M) + Z);
        const auto row = kernel.row(kernel.parent_code(lags));
        for (int z = 0; z < d; ++z) {
          CHECK(std::abs(law.at(Z, z) - before[Z] * row[static_cast<std::size_t>(z)]) < 1e-15);
          after[(Z * static_cast<std::size_t>(d) + static_cast<std::size_t>(z)) % after.size()] +=
              law.at(Z, z);
          ++checked;
        }
      }
      for (std::size_t Z = 0; Z < before.size(); ++Z) CHECK(std::abs(after[Z] - before[Z]) < 1e-14);
    }
  }
  CHECK(checked > 500);
}

TEST_CASE("a marginal sums over all lags outside the subset") {
  const int d = 3, M = 4;
  const WindowLaw law = window_law(test::random_kernel(d, {1, 3}, 0.5, 7), M);
  const WindowCodes codes(d, M);
  for (Subset S = 0; S < 16; ++S) {
    std::map<std::pair<std::vector<Token>, int>, double> naive;
    for (std::size_t Z = 0; Z < law.windows(); ++Z) {
      const auto lags = codes.decode(codes.first(M) + Z);
      std::vector<Token> of_S;
      for (std::size_t i = 0; i < lags.size(); ++i) {
        if (S >> i & 1U) of_S.push_back(lags[i]);
      }
      for (int z = 0; z < d; ++z) naive[{of_S, z}] += law.at(Z, z);
    }
    const std::vector<double> marginal = law.marginal(S);
    REQUIRE(marginal.size() == naive.size());
    for (const auto& [value, mass] : naive) {
      std::size_t E = 0, place = 1;
      for (const Token token : value.first) {
        E += token * place;
        place *= static_cast<std::size_t>(d);
      }
      const std::size_t at =
          E * static_cast<std::size_t>(d) + static_cast<std::size_t>(value.second);
      CHECK(std::abs(marginal[at] - mass) < 1e-15);
    }
  }
}

TEST_CASE("several recurrent classes: the mixture that a uniform start ends in") {
  // Tokens 0 and 1 stay among themselves, and so does 2; 3 leads to either.
  const Kernel kernel =
      test::first_order({{0.5, 0.5, 0, 0}, {1, 0, 0, 0}, {0, 0, 1, 0}, {0.25, 0, 0.75, 0}});
  const std::vector<double> tokens = window_law(kernel, 2).of_tokens();
  const double first = 0.5 + 0.25 * 0.25, second = 0.25 + 0.25 * 0.75;
  CHECK(std::abs(tokens[0] - first * 2.0 / 3.0) < 1e-15);
  CHECK(std::abs(tokens[1] - first / 3.0) < 1e-15);
  CHECK(std::abs(tokens[2] - second) < 1e-15);
  CHECK(tokens[3] == 0.0);
}

TEST_CASE("a window that is too long or too short is refused with what is feasible") {
  CHECK(refusal(2, 25).empty());
  CHECK(refusal(2, 26).find("M must be at most 25") != std::string::npos);
  CHECK(refusal(10, 6).empty());
  CHECK(refusal(10, 7).find("M must be at most 6") != std::string::npos);
  CHECK(refusal(65536, 1).find("no window is feasible") != std::string::npos);
  CHECK_THROWS_WITH_AS(window_law(test::worked_kernel(), 1),
                       "window M = 1: must be at least the largest parent lag 2", InputError);
  CHECK_THROWS_AS(window_law(test::worked_kernel(), 26), InputError);
}
