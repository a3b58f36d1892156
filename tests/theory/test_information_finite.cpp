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

/// g_1 of one prompt x_1 .. x_L with target x_{L+1}, position by position (sec. E.2).
std::vector<double> finite_by_positions(const std::vector<Token>& x, const ModelSpec& model,
                                        const Matrix& w, double eps) {
  const std::size_t L = x.size() - 1;
  const auto look = [&](std::size_t l, int h) {  // l from 0; the query is l = L
    Eigen::VectorXd v = Eigen::VectorXd::Zero(model.d);
    double sum = 0.0;
    for (std::size_t i = 1; i <= std::min<std::size_t>(l, static_cast<std::size_t>(model.M)); ++i) {
      const double weight = std::exp(w(h, static_cast<Eigen::Index>(i) - 1));
      v[x[l - i]] += weight;
      sum += weight;
    }
    return l == 0 ? v : Eigen::VectorXd(v / sum);
  };
  const std::size_t first = model.mask ? static_cast<std::size_t>(model.M) : 0;
  const auto N = static_cast<double>(L - first);
  const Token q = x[L];
  double ybar = 0.0;
  for (std::size_t l = first; l < L; ++l) ybar += x[l] == q ? 1.0 / N : 0.0;
  std::vector<double> g;
  for (const Subset S : model.subsets()) {
    double total = 0.0;
    for (std::size_t l = first; l < L; ++l) {
      double K = 1.0;
      for (int h = 0; h < model.H; ++h) {
        if (S >> h & 1U) K *= look(l, h).dot(look(L, h));
      }
      total += ((x[l] == q ? 1.0 : 0.0) - ybar) / (ybar + eps) * K / N;
    }
    g.push_back(total);
  }
  return g;
}

}  // namespace

TEST_CASE("what a prompt shows tends to the information, with a bias like 1/L") {
  const Kernel kernel = sound_kernel(2, {1, 2}, 4);
  const auto all = subsets(3, 2, SubsetRule::at_most);
  const KernelInformation exact = kernel_information(window_law(kernel, 3), all);
  std::vector<double> scaled, errors;  // L x bias of {1,2}
  for (const std::size_t L : {100UL, 400UL, 1600UL}) {
    DataSpec data = one_kernel_data(kernel, 4000);
    data.L = L;
    data.initial = Initial::stationary;
    const Prompts prompts = build_prompts(data, {.M = 3}, Split::train, 2);
    const Information found = prompt_information(prompts, all);
    CHECK(found.kernels == 4000);
    const auto length = static_cast<double>(L);
    scaled.push_back(length * (found.modified[3] - exact.modified[3]));
    errors.push_back(length * found.modified_error[3]);
    CHECK(std::abs(found.modified[0]) < 1e-28);
  }
  CHECK(scaled[0] > 10.0 * errors[0]);  // there is a bias
  // The next term of the bias is smaller by another factor of L.
  CHECK(std::abs(scaled[1] - scaled[0]) < 0.25 * scaled[0] + 4.0 * errors[1]);
  CHECK(std::abs(scaled[2] - scaled[1]) < 0.0625 * scaled[0] + 4.0 * (errors[1] + errors[2]));
}

TEST_CASE("the finite-length form is its sum over positions") {
  std::mt19937_64 random(9);
  for (const bool mask : {false, true}) {
    ModelSpec model;
    model.mask = mask;
    const Matrix w = test::random_parameters(model, random).w;
    DataSpec data;
    data.L = 20;
    data.train = 50;
    data.validation = 0;
    data.prior.alpha = 0.5;
    const Prompts prompts = build_prompts(data, {.M = 3, .mask = mask}, Split::train, 1);
    const Choice found = finite_information(prompts, 50, model, w, 0.2);
    std::vector<double> naive;
    for (std::size_t i = 0; i < 50; ++i) {
      std::vector<Token> x(21);
      draw_sequence(data, sequence_kernel(data, Split::train, i), Split::train, i, x);
      const auto one = finite_by_positions(x, model, w, 0.2);
      naive.insert(naive.end(), one.begin(), one.end());
    }
    const Choice expected = choose(naive, 7);
    CHECK(std::abs(found.mean[0]) < 1e-15);  // K = 1: the sum of 1_l - ybar_q
    for (std::size_t S = 0; S < 7; ++S) {
      CHECK(std::abs(found.mean[S] - expected.mean[S]) < 1e-13);
      CHECK(std::abs(found.error[S] - expected.error[S]) < 1e-13);
    }
    CHECK(found.S_star == expected.S_star);
    CHECK(std::abs(found.gap_error - expected.gap_error) < 1e-13);
  }
}

TEST_CASE("the finite-length form is what the gradient in c sees at small a") {
  std::mt19937_64 random(3);
  ModelSpec model;
  for (const Positions positions : {Positions::last, Positions::sequential}) {
    for (const Target target : {Target::sampled, Target::conditional}) {
      DataSpec data;
      data.L = 30;
      data.train = 40;
      data.validation = 0;
      const PromptSpec spec{.M = 3, .mask = false, .target = target, .positions = positions};
      const Prompts prompts = build_prompts(data, spec, Split::train, 1);
      Parameters theta = test::random_parameters(model, random);
      theta.a = 1e-7;
      const double eps = 0.1;
      const Choice g = finite_information(prompts, 40, model, theta.w, eps);
      const auto engine = make_table_engine(model, {eps}, prompts, 1);
      const Evaluation at = engine->evaluate(theta, Blocks::all(), false);
      // d_t c_S = (2 a c_S / C_D)(g_S - f), f = sum_S p_S g_S, by (E.4) and (E.5).
      const Eigen::VectorXd p = theta.p();
      double f = 0.0;
      for (Eigen::Index S = 0; S < 7; ++S) f += p[S] * g.mean[static_cast<std::size_t>(S)];
      for (Eigen::Index S = 0; S < 7; ++S) {
        const double seen = -at.gradient.c[S] * theta.C_D() / (2.0 * theta.a * theta.c[S]);
        CHECK(std::abs(seen - (g.mean[static_cast<std::size_t>(S)] - f)) < 1e-6);
      }
    }
  }
}

TEST_CASE("at L = inf and eps = 0 the finite-length form is the weighted information") {
  DataSpec data;
  data.L.reset();
  data.train = 20;
  data.validation = 0;
  data.prior.floor = 0.01;
  const ModelSpec model;
  const Matrix w = diagonal_w(model, 3.0, 0.01);
  const Prompts prompts = build_prompts(data, {.M = 3}, Split::train, 1);
  const Choice finite = finite_information(prompts, 20, model, w, 0.0);
  const Choice weighted = prior_information(data, model, &w, 20, 1).weighted;
  for (std::size_t S = 0; S < 7; ++S) {
    CHECK(std::abs(finite.mean[S] - weighted.mean[S]) < 1e-13);
    CHECK(std::abs(finite.error[S] - weighted.error[S]) < 1e-13);
  }
}

TEST_CASE(
    "before training it is known that {3} wins at alpha = 0.01, and {1,2} with sharper heads") {
  // L = 100, eps = 0.1, no mask. An independent program, other sequences: g_1({3}) - g_1({1,2}) is
  // 0.0034 +- 0.0005 at w_{-h} = 3, 0.0041 +- 0.0010 the other way at 4 with 9000 chains each.
  DataSpec data;
  data.prior.alpha = 0.01;
  data.train = 27000;
  data.validation = 0;
  const ModelSpec model;
  const Prompts prompts = build_prompts(data, {.M = 3}, Split::train, 2);
  const Choice soft =
      finite_information(prompts, data.train, model, diagonal_w(model, 3.0, 0.01), 0.1);
  CHECK(soft.S_star == 4);  // {3}
  CHECK(soft.decided);
  CHECK(std::abs(soft.behind[3] - 0.0034) < 4.0 * std::hypot(soft.behind_error[3], 0.0005));
  const Choice sharp =
      finite_information(prompts, data.train, model, diagonal_w(model, 4.0, 0.01), 0.1);
  CHECK(sharp.S_star == 3);  // {1,2}
  CHECK(sharp.decided);
  CHECK(std::abs(sharp.behind[4] - 0.0041) < 4.0 * std::hypot(sharp.behind_error[4], 0.0010));
}
