#include "gih/data/prior.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "gih/base/error.hpp"
#include "gih/data/chain.hpp"
#include "support/chain_cases.hpp"
#include "support/statistics.hpp"

using namespace gih;

namespace {

Kernel draw(const PriorSpec& prior, int d, const std::vector<int>& parents, std::size_t index) {
  return draw_kernel(prior, d, parents, Stream(77, Purpose::train_kernel, index), index);
}

double row_sum_error(const Kernel& kernel) {
  double worst = 0.0;
  for (std::size_t r = 0; r < kernel.rows(); ++r) {
    const auto row = kernel.row(r);
    worst = std::max(worst, std::abs(std::accumulate(row.begin(), row.end(), 0.0) - 1.0));
  }
  return worst;
}

/// Every entry of every row has the marginal law Beta(alpha, (d - 1) alpha) of a Dirichlet row, and
/// two entries of a row their product moment.
void check_dirichlet_rows(const std::string& name, double alpha, int d,
                          const std::vector<int>& parents) {
  const PriorSpec prior{.name = name, .alpha = alpha};
  const std::size_t rows = kernel_rows(d, parents.size());
  const auto width = static_cast<std::size_t>(d);
  std::vector<std::vector<double>> entries(rows * width);
  std::vector<test::Moment> squares(rows * width);
  std::vector<test::Moment> products(rows);
  constexpr std::size_t draws = 4000;
  for (std::size_t i = 0; i < draws; ++i) {
    const Kernel kernel = draw(prior, d, parents, i);
    for (std::size_t e = 0; e < kernel.pi.size(); ++e) {
      entries[e].push_back(kernel.pi[e]);
      squares[e].add(kernel.pi[e] * kernel.pi[e]);
    }
    for (std::size_t r = 0; r < rows; ++r) products[r].add(kernel.row(r)[0] * kernel.row(r)[1]);
  }
  const double A = alpha * d;
  const boost::math::beta_distribution<double> marginal(alpha, A - alpha);
  double smallest = 1.0;
  double largest = 0.0;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    smallest = std::min(smallest, test::kolmogorov_p(entries[e], [&](double p) {
                          return boost::math::cdf(marginal, std::min(p, 1.0));
                        }));
    largest = std::max(largest, squares[e].errors_from(alpha * (alpha + 1.0) / (A * (A + 1.0))));
  }
  for (const test::Moment& product : products) {
    largest = std::max(largest, product.errors_from(alpha * alpha / (A * (A + 1.0))));
  }
  CHECK(smallest >= test::level);
  // At most 36 moments at a time: one beyond 5 standard errors has probability 2e-5.
  CHECK(largest <= 5.0);
}

}  // namespace

TEST_CASE("the table names each prior once, with a meaning") {
  std::vector<std::string> names;
  for (const PriorRow& row : prior_table()) {
    names.emplace_back(row.name);
    CHECK(std::string(row.meaning).size() > 10);
  }
  CHECK(names == std::vector<std::string>{"dirichlet", "uniform-stationary", "file"});
}

TEST_CASE("dirichlet: rows are Dirichlet(alpha)") {
  check_dirichlet_rows("dirichlet", 0.5, 3, {1, 2});
  check_dirichlet_rows("dirichlet", 1.0, 2, {2});
}

TEST_CASE("uniform-stationary: rows are Dirichlet(alpha) one by one") {
  check_dirichlet_rows("uniform-stationary", 0.5, 3, {1, 2});
  check_dirichlet_rows("uniform-stationary", 1.0, 3, {1});
}

TEST_CASE("uniform-stationary: the long-run law of the windows is uniform") {
  for (const auto& parents :
       {std::vector<int>{1}, std::vector<int>{1, 2}, std::vector<int>{1, 3}, std::vector<int>{2}}) {
    for (const int d : {2, 3, 5}) {
      for (const double alpha : {0.1, 1.0}) {
        CAPTURE(parents.back());
        CAPTURE(d);
        CAPTURE(alpha);
        const PriorSpec prior{.name = "uniform-stationary", .alpha = alpha};
        double worst = 0.0;
        for (std::size_t index = 0; index < 20; ++index) {
          const Kernel kernel = draw(prior, d, parents, index);
          CHECK_NOTHROW(check_kernel(kernel, "drawn"));
          const WindowChain chain(kernel);
          const double uniform = 1.0 / static_cast<double>(chain.states());
          std::vector<double> start(chain.states(), uniform);
          if (chain.classes().recurrent_count == 1) {  // then from any start
            std::fill(start.begin(), start.end(), 0.0);
            start[0] = 1.0;
          }
          for (const double p : chain.long_run_law(start)) {
            worst = std::max(worst, std::abs(p - uniform));
          }
        }
        CHECK(worst <= 1e-14);
      }
    }
  }
}

TEST_CASE("the prior dirichlet does not have uniform windows: the check above can fail") {
  const WindowChain chain(draw({}, 3, {1, 2}, 0));
  double worst = 0.0;
  for (const double p : chain.long_run_law()) worst = std::max(worst, std::abs(p - 1.0 / 9.0));
  CHECK(worst > 0.01);
}

TEST_CASE("uniform-stationary: no next token is preferred") {
  const PriorSpec prior{.name = "uniform-stationary", .alpha = 1.0};
  std::vector<double> where_largest(9, 0.0);
  for (std::size_t i = 0; i < 9000; ++i) {
    const Kernel kernel = draw(prior, 3, {1}, i);
    const auto largest = std::max_element(kernel.pi.begin(), kernel.pi.end());
    ++where_largest[static_cast<std::size_t>(largest - kernel.pi.begin())];
  }
  // The largest entry occurs in each row; the first one found is in row 0, in any column.
  const std::vector<double> row(where_largest.begin(), where_largest.begin() + 3);
  CHECK(test::chi_square_p(row, {3000, 3000, 3000}) >= test::level);
}

TEST_CASE("floor: gamma + (1 - d gamma) pi, for every prior") {
  for (const char* name : {"dirichlet", "uniform-stationary", "file"}) {
    CAPTURE(name);
    PriorSpec prior{.name = name, .alpha = 0.01};
    prior.kernels = {test::random_kernel(3, {1, 2}, 0.01, 0)};
    const Kernel bare = draw(prior, 3, {1, 2}, 4);
    prior.floor = 0.05;
    const Kernel raised = draw(prior, 3, {1, 2}, 4);
    double worst = 0.0;
    for (std::size_t e = 0; e < bare.pi.size(); ++e) {
      worst = std::max(worst, std::abs(raised.pi[e] - (0.05 + 0.85 * bare.pi[e])));
    }
    CHECK(worst <= 1e-16);
    CHECK(*std::min_element(raised.pi.begin(), raised.pi.end()) >= 0.05);
    CHECK(row_sum_error(raised) <= 1e-15);
  }
}

TEST_CASE("file: sequences take the kernels in turn") {
  PriorSpec prior{.name = "file"};
  for (std::uint64_t i = 0; i < 3; ++i) {
    prior.kernels.push_back(test::random_kernel(2, {1}, 1.0, i));
  }
  for (std::size_t index = 0; index < 7; ++index) {
    CHECK(draw(prior, 2, {1}, index).pi == prior.kernels[index % 3].pi);
  }
}

TEST_CASE("a kernel depends on its stream alone") {
  const Kernel kernel = draw({}, 3, {1, 2}, 5);
  CHECK(draw({}, 3, {1, 2}, 5).pi == kernel.pi);
  CHECK(draw({}, 3, {1, 2}, 6).pi != kernel.pi);
}

TEST_CASE("concentrations down to 0.001 give kernels") {
  for (const char* name : {"dirichlet", "uniform-stationary"}) {
    double worst = 0.0;
    for (std::size_t i = 0; i < 2000; ++i) {
      const Kernel kernel = draw({.name = name, .alpha = 1e-3}, 3, {1, 2}, i);
      CHECK_NOTHROW(check_kernel(kernel, "drawn"));
      worst = std::max(worst, row_sum_error(kernel));
    }
    CHECK(worst <= 3e-15);
  }
}

TEST_CASE("what is out of range is refused with value and range") {
  const auto refused = [](PriorSpec prior, const char* message) {
    CHECK_THROWS_WITH_AS(check_prior(prior, 4, {1}), message, InputError);
  };
  CHECK_NOTHROW(check_prior({}, 4, {1}));
  refused({.alpha = 0.0}, "Dirichlet concentration alpha = 0: must be 0.001 or more");
  refused({.alpha = std::numeric_limits<double>::quiet_NaN()},
          "Dirichlet concentration alpha = nan: must be 0.001 or more");
  refused({.alpha = std::numeric_limits<double>::infinity()},
          "Dirichlet concentration alpha = inf: must be 0.001 or more");
  refused({.floor = -0.1}, "floor = -0.1: must be 0 or more and below 1/d = 0.25");
  refused({.floor = 0.25}, "floor = 0.25: must be 0 or more and below 1/d = 0.25");
  refused({.name = "file"}, "prior \"file\" needs at least one kernel");
  refused({.name = "file", .kernels = {test::random_kernel(3, {1, 2}, 1.0, 0)}},
          "the kernel file has vocabulary 3 and parents 1,2, the configuration 4 and 1");
  refused({.name = "dirichlett"},
          "prior \"dirichlett\" is unknown: must be one of dirichlet, uniform-stationary, file");
}
