#include "gih/theory/mixing.hpp"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "gih/data/chain.hpp"
#include "support/chain_cases.hpp"

using namespace gih;

namespace {

/// P with a column for each window and a row for the next (1.1), entry by entry.
Eigen::MatrixXd window_matrix(const Kernel& kernel) {
  const int r = kernel.largest_lag();
  const WindowCodes codes(kernel.d, r);
  const auto n = static_cast<Eigen::Index>(codes.count(r));
  Eigen::MatrixXd P = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index Z = 0; Z < n; ++Z) {
    const auto lags = codes.decode(codes.first(r) + static_cast<WindowCode>(Z));
    for (Eigen::Index next = 0; next < n; ++next) {
      const auto later = codes.decode(codes.first(r) + static_cast<WindowCode>(next));
      if (!std::equal(later.begin() + 1, later.end(), lags.begin())) continue;
      P(next, Z) = kernel.row(kernel.parent_code(lags))[later[0]];
    }
  }
  return P;
}

DataSpec floored(double alpha, double floor) {
  DataSpec data;
  data.prior.alpha = alpha;
  data.prior.floor = floor;
  return data;
}

}  // namespace

TEST_CASE("the worked example to the digits that an independent program gave") {
  const Mixing found = mixing(test::worked_kernel(), true);
  CHECK(found.gamma == 0.1);
  const double root = std::sqrt(51.0);
  REQUIRE(found.eigenvalues.size() == 4);
  CHECK(std::abs(found.eigenvalues[0] - 1.0) < 1e-12);
  CHECK(std::abs(found.eigenvalues[1] - (1.0 + root) / 10.0) < 1e-12);
  CHECK(std::abs(found.eigenvalues[2] - (1.0 - root) / 10.0) < 1e-12);
  CHECK(std::abs(found.eigenvalues[3] - 0.5) < 1e-12);
  CHECK(std::abs(found.lambda - 0.814142842854) < 1e-12);
  const std::vector<double> rho{1.0, 1.0, 0.672015325446, 0.602547462651, 0.450679486901};
  for (std::size_t i = 0; i < rho.size(); ++i) CHECK(std::abs(found.rho[i] - rho[i]) < 1e-12);
  CHECK(std::abs(found.Lambda - 5.755613837239) < 1e-11);
  const std::vector<double> mu{8.0 / 15.0, 2.0 / 15.0, 2.0 / 15.0, 1.0 / 5.0};
  for (std::size_t Z = 0; Z < 4; ++Z) CHECK(std::abs(found.stationary[Z] - mu[Z]) < 1e-15);
  CHECK(found.recurrent_classes == 1);
  CHECK(found.periods == std::vector<int>{1});
  CHECK(found.holds());
}

TEST_CASE("rho_i is the norm of K^i - R by its definition, and 1 for i below r_n") {
  int checked = 0;
  for (const auto& parents : std::vector<std::vector<int>>{{1}, {1, 2}, {1, 3}, {2}}) {
    for (std::uint64_t index = 0; index < 4; ++index) {
      const Kernel kernel =
          test::random_kernel(2 + static_cast<int>(index % 2), parents, 1.0, index);
      const Mixing found = mixing(kernel, true);
      const Eigen::MatrixXd P = window_matrix(kernel);
      const Eigen::VectorXd mu = Eigen::VectorXd::Map(found.stationary.data(), P.rows());
      CHECK((P * mu - mu).cwiseAbs().maxCoeff() < 1e-14);
      CHECK((P.colwise().sum().array() - 1.0).abs().maxCoeff() < 1e-14);
      const Eigen::VectorXd root = mu.cwiseSqrt();
      const Eigen::MatrixXd K = root.cwiseInverse().asDiagonal() * P * root.asDiagonal();
      const Eigen::MatrixXd R = root * root.transpose();
      Eigen::MatrixXd K_i = Eigen::MatrixXd::Identity(P.rows(), P.rows());
      Eigen::MatrixXd power = K_i;  // (K - R)^i
      double Lambda = 0.0;
      for (std::size_t i = 0; i < found.rho.size(); ++i) {
        if (i > 0) CHECK((K_i - R - power).cwiseAbs().maxCoeff() < 1e-12);  // (F.12)
        const double norm = Eigen::JacobiSVD<Eigen::MatrixXd>(K_i - R).singularValues()(0);
        CHECK(std::abs(found.rho[i] - norm) < 1e-12);
        if (i < static_cast<std::size_t>(kernel.largest_lag())) {
          CHECK(std::abs(found.rho[i] - 1.0) < 1e-12);
        }
        Lambda += found.rho[i];
        K_i = K_i * K;
        power = power * (K - R);
        ++checked;
      }
      CHECK(found.rho.back() < 1e-17);
      CHECK(std::abs(found.Lambda - Lambda) < 1e-12 * Lambda);
      // |lambda_2| is the rate at which rho_i falls in the end.
      const std::size_t late = found.rho.size() - 1;
      const double rate = std::pow(found.rho[late] / found.rho[late / 2],
                                   1.0 / static_cast<double>(late - late / 2));
      CHECK(std::abs(rate - found.lambda) < 0.12);
    }
  }
  CHECK(checked > 300);
}

TEST_CASE("where the assumption is broken, classes and periods say how") {
  constexpr double never = std::numeric_limits<double>::infinity();
  const Mixing identity = mixing(test::first_order({{1, 0}, {0, 1}}), true);
  CHECK_FALSE(identity.holds());
  CHECK(identity.recurrent_classes == 2);
  CHECK(std::abs(identity.lambda - 1.0) < 1e-12);
  CHECK(identity.rho.empty());
  CHECK(identity.Lambda == never);
  CHECK(std::abs(identity.stationary[0] - 0.5) < 1e-15);  // where a uniform start stays

  const Mixing flip = mixing(test::first_order({{0, 1}, {1, 0}}), true);
  CHECK_FALSE(flip.holds());
  CHECK(flip.recurrent_classes == 1);
  CHECK(flip.periods == std::vector<int>{2});
  CHECK(flip.Lambda == never);  // rho_i = 1 for ever
  CHECK(std::abs(flip.stationary[0] - 0.5) < 1e-15);

  const Mixing blocks = mixing(
      test::first_order({{0.2, 0.8, 0, 0}, {0.6, 0.4, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 0}}), true);
  CHECK_FALSE(blocks.holds());
  CHECK(blocks.recurrent_classes == 2);
  CHECK(std::is_permutation(blocks.periods.begin(), blocks.periods.end(),
                            std::vector<int>{1, 2}.begin()));

  // Primitive, but an entry is 0: gamma > 0 fails, the norms exist.
  const Mixing sparse = mixing(test::first_order({{0.5, 0.5}, {1, 0}}), true);
  CHECK_FALSE(sparse.holds());
  CHECK(sparse.gamma == 0.0);
  CHECK(std::abs(sparse.Lambda - 2.0) < 0.5);
  CHECK(std::isfinite(sparse.Lambda));

  // A transient state has no long-run mass, so K does not exist.
  const Mixing transient = mixing(test::first_order({{1, 0}, {0.5, 0.5}}), true);
  CHECK(transient.recurrent_classes == 1);
  CHECK(transient.rho.empty());
  CHECK(transient.Lambda == never);
}

TEST_CASE("a chain that hardly mixes has more terms than are summed") {
  const double slow = 1e-6;
  const Mixing found = mixing(test::first_order({{1.0 - slow, slow}, {slow, 1.0 - slow}}), true);
  CHECK(found.holds());
  CHECK(found.rho.size() == Mixing::most_terms(2));
  CHECK(found.Lambda == std::numeric_limits<double>::infinity());
  CHECK(Mixing::most_terms(9) == 100000);
  CHECK(Mixing::most_terms(4096) == 1);
}

TEST_CASE("a chain whose eigenvalues take more iterations than Eigen allows by default") {
  const Kernel kernel = sequence_kernel(floored(0.01, 1e-9), Split::train, 19634);
  CHECK(std::abs(mixing(kernel, false).lambda - 0.99999999775) < 1e-11);
}

TEST_CASE("the eigenvalues of a large chain are left out, the rest is there") {
  const Kernel kernel = test::random_kernel(2, {11}, 1.0, 3);
  const Mixing found = mixing(kernel, false);
  CHECK(found.stationary.size() == 2048);
  CHECK(std::isnan(found.lambda));
  CHECK(found.eigenvalues.empty());
  CHECK(found.recurrent_classes >= 1);
}

TEST_CASE("a prior's diagnostics are those of its kernels, whatever the number of threads") {
  DataSpec data = floored(0.01, 0.0);
  const std::size_t count = 301;
  const PriorMixing all = prior_mixing(data, count, 1);
  std::vector<double> lambdas;
  double gamma = 1.0, breaking = 0.0, slow = 0.0;
  int classes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Mixing one = mixing(sequence_kernel(data, Split::train, i), false);
    lambdas.push_back(one.lambda);
    gamma = std::min(gamma, one.gamma);
    breaking += one.holds() ? 0.0 : 1.0;
    slow += one.lambda > 0.99 ? 1.0 : 0.0;
    classes = std::max(classes, one.recurrent_classes);
  }
  std::sort(lambdas.begin(), lambdas.end());
  CHECK(all.lambda == lambdas.back());
  CHECK(all.lambda_median == lambdas[count / 2]);
  CHECK(all.gamma == gamma);
  CHECK(all.share_breaking == breaking / static_cast<double>(count));
  CHECK(all.share_lambda_above_099 == slow / static_cast<double>(count));
  CHECK(all.recurrent_classes == classes);
  const PriorMixing again = prior_mixing(data, count, 3);
  CHECK(again.lambda == all.lambda);
  CHECK(again.lambda_median == all.lambda_median);
  CHECK(again.gamma == all.gamma);
  CHECK(again.share_breaking == all.share_breaking);

  const PriorMixing sound = prior_mixing(floored(0.3, 0.05), 50, 2);
  CHECK(sound.share_breaking == 0.0);
  CHECK(sound.gamma >= 0.05);
  CHECK(sound.recurrent_classes == 1);
  CHECK(sound.lambda < 1.0);
}

TEST_CASE("the published settings: chains that hardly mix") {
  // Medians and shares found by an independent program from 4000 other kernels.
  const PriorMixing tiny = prior_mixing(floored(0.01, 1e-9), 4000, 2);
  CHECK(tiny.lambda_median > 0.9995);
  const double share_error = std::sqrt(2.0 * 0.82 * 0.18 / 4000.0);
  CHECK(std::abs(tiny.share_lambda_above_099 - 0.82) < 4.0 * share_error + 0.005);  // two digits
  const PriorMixing small = prior_mixing(floored(0.1, 1e-9), 4000, 2);
  CHECK(std::abs(small.lambda_median - 0.951) < 0.01);
  const double small_error = std::sqrt(2.0 * 0.27 * 0.73 / 4000.0);
  CHECK(std::abs(small.share_lambda_above_099 - 0.27) < 4.0 * small_error + 0.005);
}
