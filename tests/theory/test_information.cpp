#include "gih/theory/information.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "gih/base/error.hpp"
#include "gih/model/table_engine.hpp"
#include "support/chain_cases.hpp"
#include "support/information_cases.hpp"
#include "support/model_cases.hpp"

using namespace gih;
using namespace gih::test;

namespace {

/// E_X[ (sum_k mu(k | X_{-S})^2 / mu(k) - 1) mu(X_{-S}) ], term by term over whole windows (3.1).
double information_by_definition(const WindowLaw& law, Subset S) {
  const WindowCodes codes(law.d, law.M);
  const auto restricted = [&](std::size_t Z) {
    auto lags = codes.decode(codes.first(law.M) + Z);
    for (std::size_t i = 0; i < lags.size(); ++i) {
      if (!(S >> i & 1U)) lags[i] = 0;
    }
    return lags;
  };
  std::map<std::vector<Token>, double> of_E;
  std::map<std::pair<std::vector<Token>, int>, double> of_both;
  std::vector<double> mu(static_cast<std::size_t>(law.d), 0.0);
  for (std::size_t Z = 0; Z < law.windows(); ++Z) {
    for (int z = 0; z < law.d; ++z) {
      of_E[restricted(Z)] += law.at(Z, z);
      of_both[{restricted(Z), z}] += law.at(Z, z);
      mu[static_cast<std::size_t>(z)] += law.at(Z, z);
    }
  }
  double mean = 0.0;
  for (std::size_t Z = 0; Z < law.windows(); ++Z) {
    const double mass = of_E[restricted(Z)];
    double squares = -1.0;
    for (int k = 0; k < law.d; ++k) {
      const double conditional = of_both[{restricted(Z), k}] / mass;
      squares += conditional * conditional / mu[static_cast<std::size_t>(k)];
    }
    for (int z = 0; z < law.d; ++z) mean += law.at(Z, z) * squares * mass;
  }
  return mean;
}

/// Mean over pairs of independent windows with their tokens (sec. E.2), as it is written.
double weighted_by_pairs(const WindowLaw& law, const ModelSpec& model, const Matrix& w, Subset S) {
  const WindowCodes codes(law.d, law.M);
  const std::vector<double> mu = law.of_tokens();
  const auto look = [&](std::size_t Z, int h) {
    Eigen::VectorXd v = Eigen::VectorXd::Zero(law.d);
    const auto lags = codes.decode(codes.first(law.M) + Z);
    double sum = 0.0;
    for (int i = 0; i < law.M; ++i) sum += std::exp(w(h, i));
    for (int i = 0; i < law.M; ++i) v[lags[static_cast<std::size_t>(i)]] += std::exp(w(h, i)) / sum;
    return v;
  };
  double mean = 0.0;
  for (std::size_t X = 0; X < law.windows(); ++X) {
    for (std::size_t Z = 0; Z < law.windows(); ++Z) {
      double K = 1.0;
      for (int h = 0; h < model.H; ++h) {
        if (S >> h & 1U) K *= look(X, h).dot(look(Z, h));
      }
      for (int x = 0; x < law.d; ++x) {
        for (int z = 0; z < law.d; ++z) {
          const double excess = (x == z ? 1.0 / mu[static_cast<std::size_t>(x)] : 0.0) - 1.0;
          mean += law.at(X, x) * law.at(Z, z) * excess * K;
        }
      }
    }
  }
  return mean;
}

}  // namespace

TEST_CASE("the worked example to 12 digits") {
  const WindowLaw law = window_law(test::worked_kernel(), 3);
  // In bit-mask order: (), 1, 2, 12, 3, 13, 23, 123.
  const KernelInformation found = kernel_information(law, subsets(3, 3, SubsetRule::at_most));
  const std::vector<double> modified{0.0,
                                     16.0 / 225.0,
                                     841.0 / 5625.0,
                                     43.0 / 375.0,
                                     6241.0 / 140625.0,
                                     551.0 / 9375.0,
                                     943.0 / 9375.0,
                                     0.087146666667};
  const std::vector<double> standard{0.0,      0.16,           0.3364, 0.37,
                                     0.099856, 0.170664451827, 0.3448, 0.37};
  for (std::size_t S = 0; S < 8; ++S) {
    CHECK(std::abs(found.modified[S] - modified[S]) < 1e-12);
    CHECK(std::abs(found.standard[S] - standard[S]) < 1e-12);
  }
  ModelSpec model;
  model.d = 2;
  const std::vector<double> g3 = weighted_information(law, model, diagonal_w(model, 3.0, 0.01));
  const std::vector<double> expected{
      0.0,           0.072679281885, 0.139234834879, 0.109397152561, 0.048959175681, 0.061845803879,
      0.097036484590};
  REQUIRE(g3.size() == expected.size());
  for (std::size_t S = 0; S < g3.size(); ++S) CHECK(std::abs(g3[S] - expected[S]) < 1e-12);

  const DataSpec data = one_kernel_data(test::worked_kernel(), 1);
  const Information information = prior_information(data, 3, model.subsets(), 1, 1);
  CHECK(information.S_star == 2);
  CHECK(information.runner_up == 3);
  CHECK(std::abs(information.gap - 196.0 / 5625.0) < 1e-12);
  CHECK(information.gap_error == 0.0);
  CHECK(information.decided);
  CHECK_FALSE(information.tie);
}

TEST_CASE("information by its definition, its bounds, and what parents explain") {
  int checked = 0;
  for (const auto& [d, parents, M] : std::vector<std::tuple<int, std::vector<int>, int>>{
           {2, {1}, 3}, {2, {2}, 3}, {3, {1, 2}, 3}, {3, {1, 3}, 4}, {2, {1, 4}, 5}}) {
    for (std::uint64_t index = 0; index < 3; ++index) {
      const Kernel kernel = sound_kernel(d, parents, index);
      const WindowLaw law = window_law(kernel, M);
      const auto all = subsets(M, M, SubsetRule::at_most);
      const KernelInformation found = kernel_information(law, all);
      Subset pa = 0;
      for (const int r : parents) pa |= Subset{1} << (r - 1);
      CHECK(std::abs(found.modified[0]) < 1e-30);
      CHECK(std::abs(found.standard[0]) < 1e-30);
      for (std::size_t S = 0; S < all.size(); ++S) {
        CHECK(std::abs(found.modified[S] - information_by_definition(law, all[S])) < 1e-13);
        // min mu(E) I(S) <= I~(S) <= max mu(E) I(S).
        const std::vector<double> marginal = law.marginal(all[S]);
        double least = 1.0, most = 0.0;
        for (std::size_t E = 0; E < marginal.size(); E += static_cast<std::size_t>(d)) {
          double mass = 0.0;
          for (std::size_t k = 0; k < static_cast<std::size_t>(d); ++k) mass += marginal[E + k];
          least = std::min(least, mass);
          most = std::max(most, mass);
        }
        CHECK(found.modified[S] >= least * found.standard[S] - 1e-14);
        CHECK(found.modified[S] <= most * found.standard[S] + 1e-14);
        CHECK(found.standard[S] <= found.standard[pa] + 1e-13);  // data processing
        if (all[S] != pa && (all[S] & pa) == pa) CHECK(found.modified[S] < found.modified[pa]);
        if (parents.size() == 1) CHECK(found.modified[S] <= found.modified[pa]);  // S* = pa
        ++checked;
      }
    }
  }
  CHECK(checked >= 3 * (8 + 8 + 8 + 16 + 32));
}

TEST_CASE("weighted information is the mean over pairs, and I~ where heads look at one lag") {
  std::mt19937_64 random(5);
  int checked = 0;
  for (const auto& [d, M, H, D, parents] :
       std::vector<std::tuple<int, int, int, int, std::vector<int>>>{
           {2, 3, 3, 3, {1, 2}}, {3, 3, 2, 2, {2}}, {2, 4, 4, 2, {1, 3}}, {4, 2, 2, 2, {1}}}) {
    ModelSpec model;
    model.d = d;
    model.M = M;
    model.H = H;
    model.D = D;
    const WindowLaw law = window_law(test::random_kernel(d, parents, 0.3, 11), M);
    const Matrix w = test::random_parameters(model, random).w;
    const std::vector<double> g = weighted_information(law, model, w);
    const auto all = model.subsets();
    REQUIRE(g.size() == all.size());
    const std::vector<double> sharp =
        weighted_information(law, model, diagonal_w(model, 60.0, 0.0));
    const KernelInformation exact = kernel_information(law, all);
    for (std::size_t S = 0; S < all.size(); ++S) {
      CHECK(std::abs(g[S] - weighted_by_pairs(law, model, w, all[S])) < 1e-12);
      CHECK(std::abs(sharp[S] - exact.modified[S]) < 1e-14);
      ++checked;
    }
  }
  CHECK(checked > 25);
  ModelSpec exactly;
  exactly.rule = SubsetRule::exactly;
  const WindowLaw law = window_law(test::random_kernel(3, {1, 2}, 0.3, 2), 3);
  CHECK(weighted_information(law, exactly, diagonal_w(exactly, 1.0, 0.0)).size() == 3);
}

TEST_CASE("the lead and its error are those of paired differences") {
  // Subsets 1 and 2 move together: their own errors are large, that of their difference is small.
  const std::vector<double> values{0.0, 1.0, 1.2, 0.0, 3.0, 3.1, 0.0, 5.0, 5.3, 0.0, 7.0, 7.2};
  const Choice choice = choose(values, 3);
  CHECK(choice.mean == std::vector<double>{0.0, 4.0, (1.2 + 3.1 + 5.3 + 7.2) / 4.0});
  CHECK(std::abs(choice.error[1] - std::sqrt((9.0 + 1.0 + 1.0 + 9.0) / 3.0 / 4.0)) < 1e-15);
  CHECK(choice.S_star == 2);
  CHECK(choice.runner_up == 1);
  // Differences 0.2, 0.1, 0.3, 0.2: mean 0.2, variance 0.02 / 3.
  CHECK(std::abs(choice.gap - 0.2) < 1e-15);
  CHECK(std::abs(choice.gap_error - std::sqrt(0.02 / 3.0 / 4.0)) < 1e-15);
  CHECK(choice.decided);  // 0.2 is 4.9 errors; against subset 0: 4.2 with error 1.3
  CHECK(choice.behind[2] == 0.0);
  CHECK(choice.behind[1] == choice.gap);
  CHECK(std::abs(choice.behind[0] - 4.2) < 1e-14);

  // Ahead by 2.6 errors: not decided.
  const Choice near = choose({1.0, 0.9, 1.2, 1.0, 1.1, 1.05}, 2);
  CHECK(near.gap > 2.5 * near.gap_error);
  CHECK_FALSE(near.decided);
  // Not decided either where that is a subset which does not come nearest.
  const Choice noisy = choose({1.0, 0.9, -5.0, 1.2, 1.1, 2.0, 1.1, 1.0, -3.0}, 3);
  CHECK(noisy.S_star == 0);
  CHECK(noisy.runner_up == 1);
  CHECK(noisy.gap > 3.0 * noisy.gap_error);
  CHECK_FALSE(noisy.decided);
  CHECK_FALSE(noisy.tie);
}

TEST_CASE("equal subsets are a tie, one is an exact answer") {
  const Choice tie = choose({0.5, 0.7, 0.7, 0.2, 0.9, 0.9}, 3);
  CHECK(tie.S_star == 1);
  CHECK(tie.runner_up == 2);
  CHECK(tie.gap == 0.0);
  CHECK(tie.tie);
  CHECK_FALSE(tie.decided);

  // Equal in the mean, not in every sample: undecided, no tie.
  const Choice undecided = choose({0.5, 0.7, 0.7, 0.5}, 2);
  CHECK_FALSE(undecided.tie);
  CHECK_FALSE(undecided.decided);
  CHECK(undecided.gap_error > 0.1);

  const Choice alone = choose({0.5, 0.7}, 1);
  CHECK(alone.decided);
  CHECK(alone.S_star == alone.runner_up);

  // Independent tokens: nothing is known of z, whatever rounding leaves.
  for (const int d : {2, 3, 5}) {
    const auto entries = static_cast<std::size_t>(d * d * d);
    const Kernel uniform{d, {1, 2}, std::vector<double>(entries, 1.0 / d)};
    const Information found =
        prior_information(one_kernel_data(uniform, 1), 3, subsets(3, 2, SubsetRule::at_most), 1, 1);
    CHECK(found.S_star == 0);
    CHECK(found.gap == 0.0);
    CHECK(found.tie);
    CHECK_FALSE(found.decided);
  }
}

TEST_CASE("the same bytes for any number of threads, and whoever listens") {
  DataSpec data;
  const ModelSpec model;
  const Matrix w = diagonal_w(model, 3.0, 0.01);
  const auto one = prior_information(data, model, &w, 101, 1);
  std::size_t heard = 0;
  const auto many = prior_information(data, model, &w, 101, 3, [&](std::size_t done) {
    heard = done;
    return true;
  });
  CHECK(heard == 101);
  CHECK(one.information.modified == many.information.modified);
  CHECK(one.information.modified_error == many.information.modified_error);
  CHECK(one.information.standard == many.information.standard);
  CHECK(one.information.behind == many.information.behind);
  CHECK(one.information.gap_error == many.information.gap_error);
  CHECK(one.weighted.mean == many.weighted.mean);
  const Information plain = prior_information(data, model.M, model.subsets(), 101, 2);
  CHECK(plain.modified == one.information.modified);
  CHECK(plain.kernels == 101);
  const auto stopped =
      prior_information(data, model, &w, 1000, 1, [](std::size_t) { return false; });
  CHECK(stopped.information.modified.empty());
}

TEST_CASE("the values at the published settings") {
  // From 4000 other kernels of an independent program; order (), 1, 2, 12, 3, 13, 23.
  struct Published {
    double alpha;
    std::vector<double> modified;
    double gap;
    std::size_t runner_up;
  };
  for (const Published& row :
       {Published{0.01, {0.0, 0.1945, 0.2535, 0.2825, 0.2596, 0.2473, 0.2782}, 0.0043, 6},
        Published{0.1, {0.0, 0.1468, 0.1649, 0.1987, 0.1471, 0.1591, 0.1677}, 0.0310, 6}}) {
    DataSpec data;
    data.prior.alpha = row.alpha;
    data.prior.floor = 1e-9;
    const Information found =
        prior_information(data, 3, subsets(3, 2, SubsetRule::at_most), 4000, 2);
    for (std::size_t S = 1; S < 7; ++S) {
      CHECK(std::abs(found.modified[S] - row.modified[S]) <
            4.0 * std::sqrt(2.0) * found.modified_error[S] + 5e-5);
    }
    CHECK(found.S_star == 3);
    CHECK(found.runner_up == row.runner_up);
    CHECK(found.decided);
    CHECK(std::abs(found.gap - row.gap) < 4.0 * std::sqrt(2.0) * found.gap_error + 5e-5);
  }
}

TEST_CASE("what cannot be measured is refused") {
  DataSpec data;
  CHECK_THROWS_AS(prior_information(data, 16, subsets(16, 1, SubsetRule::at_most), 2, 1),
                  InputError);
  CHECK_THROWS_AS(prior_information(data, 1, subsets(1, 1, SubsetRule::at_most), 2, 1), InputError);
  auto table = std::make_shared<TokenTable>();
  data.table = table;  // tokens without kernels
  CHECK_THROWS_AS(prior_information(data, 3, subsets(3, 2, SubsetRule::at_most), 1, 1), InputError);
}
