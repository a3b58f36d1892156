#include "gih/memory/lag_information.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "gih/base/error.hpp"
#include "support/chain_law_cases.hpp"

using namespace gih;
using namespace gih::test;

TEST_CASE("worked example: lag information to twelve digits, and it rises at first") {
  const LagInformation found = lag_information({worked_kernel()}, 6);
  const double mutual[] = {0.015472057406, 0.032773138397, 0.043843495760,
                           0.007652392020, 0.008946740366, 0.006030387274};
  const double chi[] = {0.031887755102, 0.067971938776, 0.091074617347};
  for (std::size_t lag = 0; lag < 6; ++lag)
    CHECK(std::abs(found.mutual[lag] - mutual[lag]) < 1e-12);
  for (std::size_t lag = 0; lag < 3; ++lag)
    CHECK(std::abs(found.chi_square[lag] - chi[lag]) < 1e-12);
  CHECK(std::abs(found.lambda_2 - 0.767715645067) < 1e-12);
}

TEST_CASE("T24: pi = lambda 1 + (1 - lambda) mu has chi-square (d-1) lambda^(2 lag)") {
  for (const double lambda : {0.2, 0.7, 0.95}) {
    const double mu[] = {0.5, 0.3, 0.2};
    Kernel kernel{3, {1}, std::vector<double>(9)};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        kernel.pi[3 * i + j] = (1.0 - lambda) * mu[j] + (i == j ? lambda : 0.0);
      }
    }
    const LagInformation found = lag_information({kernel}, 12);
    for (std::size_t lag = 1; lag <= 12; ++lag) {
      const double law = 2.0 * std::pow(lambda, 2.0 * static_cast<double>(lag));
      CHECK(std::abs(found.chi_square[lag - 1] - law) < 1e-13 * std::max(1.0, law / 1e-3));
    }
  }
}

TEST_CASE("T24: the logarithm falls with twice that of the second eigenvalue") {
  int checked = 0;
  for (std::uint64_t index = 0; index < 8; ++index) {
    const Kernel kernel = law_kernel(2, {1}, index);
    const LagInformation found = lag_information({kernel}, 24);
    const double law = 2.0 * std::log(found.lambda_2);
    CHECK(std::abs(found.slope / law - 1.0) < 0.02);
    ++checked;
  }
  CHECK(checked == 8);
}

TEST_CASE("the annealed information has the plateau of two independent draws") {
  // Order 1, both rows Beta(1,1), by the midpoint rule: 0.026086.
  const auto uniform = [](int grid) {
    std::vector<Kernel> kernels;
    for (int i = 0; i < grid; ++i) {
      for (int j = 0; j < grid; ++j) {
        const double p = (i + 0.5) / grid, q = (j + 0.5) / grid;
        kernels.push_back({2, {1}, {1 - p, p, 1 - q, q}});
      }
    }
    return kernels;
  };
  CHECK(std::abs(lag_information(uniform(300), 1).plateau - 0.026086) < 1e-5);
  const std::vector<Kernel> kernels = uniform(30);
  const LagInformation found = lag_information(kernels, 60);
  CHECK(std::abs(found.mutual.back() - found.plateau) < 1e-3);
  CHECK(lag_information({kernels[7]}, 3).plateau < 1e-15);
  CHECK_THROWS_AS(lag_information(kernels, 0), InputError);
}
