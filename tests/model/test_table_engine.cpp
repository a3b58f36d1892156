// The table engine against the reference engine, the independent cases, and the six-point stencil.
#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "gih/model/table_engine.hpp"
#include "support/close.hpp"
#include "support/gradient_check.hpp"
#include "support/literal_questions.hpp"
#include "support/model_cases.hpp"
#include "support/reference_cases.hpp"

namespace {

using namespace gih;
using test::literal_questions;
using test::relative_difference;

constexpr double tolerance = 1e-12;
constexpr double step_tolerance = 1e-11;

void check_agreement(const Evaluation& found, const Evaluation& wanted, double allowed) {
  CHECK(std::abs(found.loss - wanted.loss) <= allowed * std::abs(wanted.loss));
  CHECK(relative_difference(found.gradient.c, wanted.gradient.c) <= allowed);
  CHECK(relative_difference(found.gradient.w, wanted.gradient.w) <= allowed);
  CHECK(std::abs(found.gradient.a - wanted.gradient.a) <= allowed * std::abs(wanted.gradient.a));
}

struct Shape {
  int d, M, H, D;
  SubsetRule rule;
  std::vector<int> parents;
};

const std::vector<Shape> shapes{
    {2, 1, 1, 1, SubsetRule::at_most, {1}},    {3, 3, 3, 2, SubsetRule::at_most, {1, 2}},
    {2, 4, 4, 3, SubsetRule::at_most, {1, 3}}, {3, 3, 2, 2, SubsetRule::exactly, {1, 2}},
    {5, 2, 2, 1, SubsetRule::exactly, {2}},    {10, 5, 5, 2, SubsetRule::at_most, {1, 2}},
    {40, 2, 2, 2, SubsetRule::at_most, {1}},   {4, 3, 3, 3, SubsetRule::at_most, {3}},
};

}  // namespace

TEST_CASE("loss, gradient, prediction and gradient steps of the independent cases") {
  const auto cases = test::read_cases("simple");
  REQUIRE(cases.size() >= 3);
  for (const auto& json : cases) {
    CAPTURE(json["name"].get<std::string>());
    const DataSpec data =
        test::token_data(json["tokens"].get<std::vector<std::vector<Token>>>(), json["vocab"]);
    Parameters theta{test::matrix_of(json["w"]), test::vector_of(json["c"]), json["a"]};
    const ModelSpec model{.d = data.d,
                          .M = json["window"],
                          .H = static_cast<int>(theta.w.rows()),
                          .D = json["degree"],
                          .mask = json["mask"]};
    const Prompts prompts =
        build_prompts(data, {.M = model.M, .mask = model.mask}, Split::train, 1);
    const auto engine = make_table_engine(model, {json["eps"]}, prompts, 1);
    const Evaluation wanted{
        json["loss"],
        {test::matrix_of(json["grad_w"]), test::vector_of(json["grad_c"]), json["grad_a"]}};
    check_agreement(engine->evaluate(theta, Blocks::all(), true), wanted, tolerance);
    const Eigen::VectorXd first = test::vector_of(json["prediction_first"]);
    CHECK(relative_difference(predictions(model, theta, prompts).row(0).transpose(), first) <=
          tolerance);
    const double rate = json["lr"];
    for (const double loss : json["joint_gd_losses"].get<std::vector<double>>()) {
      const Evaluation at = engine->evaluate(theta, Blocks::all(), true);
      CHECK(std::abs(at.loss - loss) <= step_tolerance * loss);
      theta.w -= rate * at.gradient.w;
      theta.c -= rate * at.gradient.c;
      theta.a -= rate * at.gradient.a;
    }
    CHECK(relative_difference(theta.w, test::matrix_of(json["w_after"])) <= step_tolerance);
    CHECK(relative_difference(theta.c, test::vector_of(json["c_after"])) <= step_tolerance);
    CHECK(std::abs(theta.a - json["a_after"].get<double>()) <= step_tolerance);
  }
}

TEST_CASE("the engines agree on a grid of sizes, masks, targets and loss positions") {
  int compared = 0;
  std::mt19937_64 random(11);
  for (const Shape& shape : shapes) {
    for (int setting = 0; setting < 8; ++setting) {
      PromptSpec spec{.M = shape.M, .mask = (setting & 1) != 0};
      if (setting & 2) spec.target = Target::conditional;
      if (setting & 4) spec.positions = Positions::sequential;
      CAPTURE(shape.d);
      CAPTURE(shape.M);
      CAPTURE(setting);
      DataSpec data;
      data.d = shape.d;
      data.parents = shape.parents;
      data.L = static_cast<std::size_t>(shape.M) + 9;
      data.prior.alpha = 0.5;
      data.train = 25;
      data.seed = static_cast<std::uint64_t>(setting);
      const ModelSpec model{.d = shape.d,
                            .M = shape.M,
                            .H = shape.H,
                            .D = shape.D,
                            .rule = shape.rule,
                            .mask = spec.mask};
      const Parameters theta = test::random_parameters(model, random);
      const Prompts prompts = build_prompts(data, spec, Split::train, 2);
      const auto questions = literal_questions(data, spec);
      const auto table = make_table_engine(model, {0.1}, prompts, 2);
      const auto reference = make_reference_engine(model, {0.1}, questions);
      const Evaluation found = table->evaluate(theta, Blocks::all(), true);
      const Evaluation wanted = reference->evaluate(theta, Blocks::all(), true);
      // One subset alone has p = 1 whatever c is: its gradient is 0 up to rounding.
      if (model.subsets().size() == 1) {
        CHECK(found.gradient.c.cwiseAbs().maxCoeff() <= 1e-15);
        CHECK(std::abs(found.loss - wanted.loss) <= tolerance * wanted.loss);
        CHECK(relative_difference(found.gradient.w, wanted.gradient.w) <= tolerance);
      } else if (shape.M == 1) {
        // One lag: w has no effect, its gradient is 0 up to rounding.
        CHECK(found.gradient.w.cwiseAbs().maxCoeff() <= 1e-15);
        CHECK(std::abs(found.loss - wanted.loss) <= tolerance * wanted.loss);
        CHECK(relative_difference(found.gradient.c, wanted.gradient.c) <= tolerance);
      } else {
        check_agreement(found, wanted, tolerance);
      }
      const Matrix y = test::reference_predictions(model, theta, questions);
      CHECK(relative_difference(predictions(model, theta, prompts), y) <= tolerance);
      const test::GradientCheck stencil = test::check_gradient(*table, theta);
      CAPTURE(stencil.where);
      CHECK(stencil.worst <= test::stencil_tolerance);
      ++compared;
    }
  }
  CHECK(compared == 8 * static_cast<int>(shapes.size()));
}

TEST_CASE("the population limit is what long sequences tend to, and equals a direct sum") {
  DataSpec data;
  data.prior.alpha = 1.0;
  data.train = 4;
  data.L.reset();
  const PromptSpec spec;
  const Prompts prompts = build_prompts(data, spec, Split::train, 1);
  std::mt19937_64 random(3);
  const Parameters theta = test::random_parameters({}, random);
  const auto engine = make_table_engine({}, {0.0}, prompts, 1);
  // y(k | q) = sum_Z mu(Z, k) e^(a s(Z, q)) / sum_Z mu(Z) e^(a s(Z, q)), scores by the reference: a
  // prompt Z, then one token, then q has the key Z at position M + 1.
  const WindowCodes codes(3, 3);
  double loss = 0.0;
  for (const Question& question : prompts.questions) {
    Eigen::Vector3d y = Eigen::Vector3d::Zero();
    for (const Cell& cell : prompts.cells_of(question.prompt)) {
      std::vector<Token> x;
      const auto window = codes.decode(cell.window);
      const auto query = codes.decode(question.query);
      x.insert(x.end(), window.rbegin(), window.rend());
      x.push_back(cell.next);
      x.insert(x.end(), query.rbegin(), query.rend());
      y[cell.next] += cell.weight * std::exp(theta.a * reference_trace({}, theta, x).s[3]);
    }
    y /= y.sum();
    const auto law = prompts.target_law(question);
    for (std::size_t k = 0; k < 3; ++k) {
      loss -= question.weight * law[k] * std::log(y[static_cast<Eigen::Index>(k)]);
    }
  }
  CHECK(engine->loss(theta) == doctest::Approx(loss).epsilon(1e-13));
  CHECK(test::check_gradient(*engine, theta).worst <= test::stencil_tolerance);

  // Sequences of the same kernels: the share of each cell tends to its probability. These kernels
  // mix within tens of tokens, so 400,000 of them leave a standard error near 0.002.
  data.L = 400000;
  const Prompts finite = build_prompts(data, spec, Split::train, 1);
  int compared = 0;
  for (std::size_t i = 0; i < data.train; ++i) {
    for (const Cell& cell : finite.cells_of(i)) {
      if (codes.length(cell.window) < 3) continue;
      double probability = 0.0;
      for (const Cell& limit : prompts.cells_of(i)) {
        if (limit.window == cell.window && limit.next == cell.next) probability = limit.weight;
      }
      CHECK(std::abs(cell.weight / 400000.0 - probability) < 0.01);
      ++compared;
    }
  }
  CHECK(compared > 200);
}

TEST_CASE("the same bits for any number of threads") {
  DataSpec data;
  data.train = 3000;
  std::mt19937_64 random(4);
  const Parameters theta = test::random_parameters({}, random);
  for (const bool inf : {false, true}) {
    if (inf) {
      data.L.reset();
      data.train = 300;
      data.prior.floor = 0.001;
    }
    const Evaluation one = make_table_engine({}, {0.1}, build_prompts(data, {}, Split::train, 1), 1)
                               ->evaluate(theta, Blocks::all(), true);
    for (const int threads : {2, 3, 8}) {
      const Evaluation many =
          make_table_engine({}, {0.1}, build_prompts(data, {}, Split::train, threads), threads)
              ->evaluate(theta, Blocks::all(), true);
      CHECK(many.loss == one.loss);
      CHECK(many.gradient.c == one.gradient.c);
      CHECK(many.gradient.w == one.gradient.w);
      CHECK(many.gradient.a == one.gradient.a);
    }
  }
}

TEST_CASE("large a, of either sign: each question takes its own maximum, and nothing underflows") {
  std::mt19937_64 random(5);
  DataSpec data;
  data.train = 40;
  data.L = 30;
  const PromptSpec spec;
  const Prompts prompts = build_prompts(data, spec, Split::train, 1);
  const auto table = make_table_engine({}, {0.1}, prompts, 1);
  const auto reference = make_reference_engine({}, {0.1}, literal_questions(data, spec));
  for (const double a : {500.0, 700.0, 5000.0, -5000.0}) {
    CAPTURE(a);
    Parameters theta = test::random_parameters({}, random);
    theta.a = a;
    const Evaluation found = table->evaluate(theta, Blocks::all(), true);
    const Evaluation wanted = reference->evaluate(theta, Blocks::all(), true);
    // The logits themselves carry a rounding error of |a| times the precision.
    const double allowed = tolerance * std::max(1.0, std::abs(a) / 100.0);
    CHECK(std::abs(found.loss - wanted.loss) <= allowed * wanted.loss);
    // A saturated softmax has a gradient near 0, which is |a| times a difference of numbers near 1.
    const double size = wanted.gradient.w.cwiseAbs().maxCoeff();
    const double rounding = 1e-15 * std::abs(a);
    CHECK((found.gradient.w - wanted.gradient.w).cwiseAbs().maxCoeff() <=
          allowed * size + rounding);
    CHECK(found.gradient.all_finite());
  }
}

TEST_CASE("eps = 0 and a target that the prompt does not hold: an infinite loss, not a number") {
  auto table = std::make_shared<TokenTable>();
  *table = {2, 1, 6, {0, 0, 0, 0, 0, 1}, {}, {}};
  DataSpec data;
  data.d = 2;
  data.parents = {1};
  data.L = 5;
  data.train = 1;
  data.validation = 0;
  data.table = table;
  ModelSpec model;
  model.d = 2;
  const auto engine = make_table_engine(model, {0.0}, build_prompts(data, {}, Split::train, 1), 1);
  std::mt19937_64 random(6);
  CHECK(std::isinf(engine->loss(test::random_parameters(model, random))));
}
