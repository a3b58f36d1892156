#include "gih/model/reference_engine.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "gih/base/error.hpp"
#include "support/close.hpp"
#include "support/gradient_check.hpp"
#include "support/model_cases.hpp"
#include "support/reference_cases.hpp"

using namespace gih;
using gih::test::relative_difference;

namespace {

// The cases are float64; sums of a few hundred terms in another order differ by less than 1e-13,
// and gradient steps of rate 0.5 hand such a difference on without enlarging it.
constexpr double case_tolerance = 1e-12;
constexpr double step_tolerance = 1e-11;
// The worked example is printed with 12 digits after the point.
constexpr double printed = 0.51e-12;

std::vector<double> one_hot(std::size_t k, int d) {
  std::vector<double> law(static_cast<std::size_t>(d), 0.0);
  law[k] = 1.0;
  return law;
}

/// A row is a prompt and its target; all rows weigh the same.
std::vector<ReferenceQuestion> questions_of(const std::vector<std::vector<Token>>& rows, int d) {
  std::vector<ReferenceQuestion> questions;
  for (const std::vector<Token>& row : rows) {
    questions.push_back({{row.begin(), row.end() - 1},
                         one_hot(row.back(), d),
                         1.0 / static_cast<double>(rows.size())});
  }
  return questions;
}

struct Case {
  ModelSpec model;
  Parameters theta;
  std::vector<ReferenceQuestion> questions;
  std::unique_ptr<Objective> objective;
};

Case make_case(const nlohmann::json& json) {
  Case made;
  made.theta = {test::matrix_of(json["w"]), test::vector_of(json["c"]), json["a"].get<double>()};
  made.model.d = json["vocab"].get<int>();
  made.model.M = json["window"].get<int>();
  made.model.H = static_cast<int>(made.theta.w.rows());
  made.model.D = json["degree"].get<int>();
  made.model.mask = json["mask"].get<bool>();
  made.questions =
      questions_of(json["tokens"].get<std::vector<std::vector<Token>>>(), made.model.d);
  made.objective = make_reference_engine(made.model, {json["eps"].get<double>()}, made.questions);
  return made;
}

/// The worked example of one sequence with two tokens and three heads.
struct Worked {
  static constexpr double eps = 0.1;
  ModelSpec model{.d = 2, .M = 3, .H = 3, .D = 2};
  Parameters theta;
  std::vector<Token> prompt{0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1};
  Token target = 0;

  explicit Worked(bool mask) {
    model.mask = mask;
    theta.w = Matrix::Constant(3, 3, 0.01);
    theta.w.diagonal().setConstant(1.0);
    // 0.1, 0.2, ..., 0.7 for the subsets by size: (), 1, 2, 3, 12, 13, 23.
    theta.c = Eigen::VectorXd{{0.1, 0.2, 0.3, 0.5, 0.4, 0.6, 0.7}};
    theta.a = 0.5;
  }
  std::unique_ptr<Objective> objective() const {
    return make_reference_engine(model, {eps}, {{prompt, one_hot(target, 2), 1.0}});
  }
};

void step(Parameters& theta, const Parameters& gradient, double rate) {
  theta.w -= rate * gradient.w;
  theta.c -= rate * gradient.c;
  theta.a -= rate * gradient.a;
}

}  // namespace

TEST_CASE("loss, gradients and predictions equal those of an independent autograd program") {
  const auto cases = test::read_cases("simple");
  REQUIRE(cases.size() == 3);
  for (const auto& json : cases) {
    CAPTURE(json["name"].get<std::string>());
    const Case made = make_case(json);
    const auto subsets = made.model.subsets();
    CHECK(subsets == json["subsets"].get<std::vector<Subset>>());

    const double loss = json["loss"].get<double>();
    const Evaluation found = made.objective->evaluate(made.theta, Blocks::all(), true);
    CHECK(std::abs(found.loss - loss) <= case_tolerance * loss);
    CHECK(std::abs(made.objective->loss(made.theta) - loss) <= case_tolerance * loss);
    CHECK(relative_difference(found.gradient.w, test::matrix_of(json["grad_w"])) <= case_tolerance);
    CHECK(relative_difference(found.gradient.c, test::vector_of(json["grad_c"])) <= case_tolerance);
    const double grad_a = json["grad_a"].get<double>();
    CHECK(std::abs(found.gradient.a - grad_a) <= case_tolerance * std::abs(grad_a));
    CHECK(
        relative_difference(
            test::reference_predictions(made.model, made.theta, made.questions).row(0).transpose(),
            test::vector_of(json["prediction_first"])) <= case_tolerance);
  }
}

TEST_CASE("joint gradient descent follows the independent program") {
  for (const auto& json : test::read_cases("simple")) {
    CAPTURE(json["name"].get<std::string>());
    Case made = make_case(json);
    const auto losses = json["joint_gd_losses"].get<std::vector<double>>();
    REQUIRE(losses.size() == 5);
    for (const double loss : losses) {
      const Evaluation found = made.objective->evaluate(made.theta, Blocks::all(), true);
      CHECK(std::abs(found.loss - loss) <= step_tolerance * loss);
      step(made.theta, found.gradient, json["lr"].get<double>());
    }
    CHECK(relative_difference(made.theta.w, test::matrix_of(json["w_after"])) <= step_tolerance);
    CHECK(relative_difference(made.theta.c, test::vector_of(json["c_after"])) <= step_tolerance);
    const double a_after = json["a_after"].get<double>();
    CHECK(std::abs(made.theta.a - a_after) <= step_tolerance * std::abs(a_after));
  }
}

TEST_CASE("worked example, masked") {
  const Worked worked(true);
  const Evaluation found = worked.objective()->evaluate(worked.theta, Blocks::all(), true);
  CHECK(std::abs(found.loss - 0.597436077815) <= printed);
  const Matrix w{{-0.007728632530, 0.006863850953, 0.000864781576},
                 {-0.002067918822, 0.005388558445, -0.003320639623},
                 {-0.004208772950, 0.002922301684, 0.001286471266}};
  CHECK((found.gradient.w - w).cwiseAbs().maxCoeff() <= printed);
  const Eigen::VectorXd c{{0.001585564102, -0.005164795477, 0.006739535499, -0.000076750464,
                           0.001761830396, -0.014214281939, 0.009592506104}};
  CHECK((found.gradient.c - c).cwiseAbs().maxCoeff() <= printed);
  CHECK(std::abs(found.gradient.a - -0.022197897429) <= printed);

  const ReferenceTrace trace = reference_trace(worked.model, worked.theta, worked.prompt);
  const Eigen::VectorXd s{{0.313740535759, 0.347696026165, 0.427924858012, 0.202174410771,
                           0.295735135062, 0.258782781370, 0.313740535759, 0.483464052292,
                           0.347696026165}};
  REQUIRE(trace.s.size() == 12);
  CHECK(trace.s.head(3).array().isNaN().all());
  CHECK((trace.sigma.head(3).array() == 0.0).all());
  CHECK((trace.s.tail(9) - s).cwiseAbs().maxCoeff() <= printed);
  CHECK(std::abs(trace.sigma.sum() - 1.0) <= 1e-15);
  CHECK(std::abs(trace.y(0) - 0.450220551827) <= printed);
  CHECK(std::abs(trace.y(1) - 0.549779448173) <= printed);
}

TEST_CASE("worked example, unmasked: the first position has no lag, the next ones fewer") {
  const Worked worked(false);
  const Evaluation found = worked.objective()->evaluate(worked.theta, Blocks::all(), true);
  CHECK(std::abs(found.loss - 0.660875538121) <= printed);
  CHECK(std::abs(found.gradient.a - -0.001757079419) <= printed);
  CHECK(found.gradient.all_finite());
  const ReferenceTrace trace = reference_trace(worked.model, worked.theta, worked.prompt);
  REQUIRE(trace.s.size() == 12);
  CHECK(std::abs(trace.y(0) - 0.416399009488) <= printed);
  CHECK(std::abs(trace.s(0) - 0.007142857143) <= printed);
  CHECK(std::abs(trace.s(0) - worked.theta.p()(0)) <= 1e-16);  // p of the empty set
  CHECK(std::abs(trace.s(1) - 0.150794959559) <= printed);
  CHECK(std::abs(trace.s(2) - 0.351412041579) <= printed);
}

TEST_CASE("a head attends by position, to the lags that exist and to itself where it may") {
  const std::vector<Token> prompt{1, 0, 1, 1};
  ModelSpec model{.d = 2, .M = 2, .H = 2, .D = 1};
  Parameters theta = zero_parameters(model);
  theta.c.setOnes();
  theta.w << std::log(3.0), 0.0, 0.0, std::log(4.0);
  std::vector<Matrix> heads = reference_head_attention(model, theta, prompt);
  REQUIRE(heads.size() == 2);
  const Matrix first{{0.0, 0.0}, {1.0, 0.0}, {0.75, 0.25}, {0.75, 0.25}, {0.75, 0.25}};
  const Matrix second{{0.0, 0.0}, {1.0, 0.0}, {0.2, 0.8}, {0.2, 0.8}, {0.2, 0.8}};
  CHECK((heads[0] - first).cwiseAbs().maxCoeff() <= 1e-15);
  CHECK((heads[1] - second).cwiseAbs().maxCoeff() <= 1e-15);

  model.self_score = std::log(4.0);
  heads = reference_head_attention(model, theta, prompt);
  const Matrix with_self{{0.0, 0.0, 1.0},
                         {3.0 / 7, 0.0, 4.0 / 7},
                         {0.375, 0.125, 0.5},
                         {0.375, 0.125, 0.5},
                         {0.375, 0.125, 0.5}};
  CHECK((heads[0] - with_self).cwiseAbs().maxCoeff() <= 1e-15);

  // Content counts in the full variant, but for the query: x^T W_Q W_K^T x' = log 3 between 1
  // and 1.
  model = {.d = 2, .M = 2, .H = 1, .D = 1, .variant = Variant::full};
  theta = zero_parameters(model);
  theta.c.setOnes();
  theta.W_Q(1, 0) = 1.0;
  theta.W_K(1, 0) = std::log(3.0);
  const Matrix by_content{{0.0, 0.0}, {1.0, 0.0}, {0.25, 0.75}, {0.75, 0.25}, {0.5, 0.5}};
  CHECK((reference_head_attention(model, theta, prompt)[0] - by_content).cwiseAbs().maxCoeff() <=
        1e-15);
}

namespace {

/// Sizes that differ from each other, both subset rules, with and without mask.
const std::vector<ModelSpec> shapes{
    {.d = 3, .M = 3, .H = 3, .D = 2},
    {.d = 3, .M = 3, .H = 3, .D = 2, .mask = true},
    {.d = 2, .M = 4, .H = 2, .D = 2},
    {.d = 4, .M = 2, .H = 4, .D = 3, .rule = SubsetRule::exactly},
    {.d = 5, .M = 1, .H = 1, .D = 1, .mask = true},
    {.d = 3, .M = 5, .H = 3, .D = 3, .rule = SubsetRule::exactly, .mask = true},
};

struct Random {
  ModelSpec model;
  Parameters theta;
  std::vector<ReferenceQuestion> questions;
  std::unique_ptr<Objective> objective;
};

/// One of `shapes` with random parameters and questions; every second one has soft targets.
Random random_case(std::size_t shape) {
  std::mt19937_64 random(100 + shape);
  Random made;
  made.model = shapes[shape];
  made.theta = test::random_parameters(made.model, random);
  made.questions = test::random_questions(made.model, 5, 11, shape % 2 == 1, random);
  made.objective = make_reference_engine(made.model, {0.1}, made.questions);
  return made;
}

}  // namespace

TEST_CASE("gradient equals the six-point difference of the loss") {
  for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
    CAPTURE(shape);
    const Random made = random_case(shape);
    const test::GradientCheck result = test::check_gradient(*made.objective, made.theta);
    CHECK(result.checked == made.theta.w.size() + made.theta.c.size() + 1);
    CAPTURE(result.where);
    CHECK(result.worst <= test::stencil_tolerance);
  }
}

TEST_CASE("identities that hold exactly: rows of grad w sum to 0, c . grad_c = 0, scale of c") {
  for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
    CAPTURE(shape);
    Random made = random_case(shape);
    const Evaluation found = made.objective->evaluate(made.theta, Blocks::all(), true);
    CHECK(found.gradient.w.rowwise().sum().cwiseAbs().maxCoeff() <= 1e-15);
    CHECK(std::abs(made.theta.c.dot(found.gradient.c)) <= 1e-15);
    const Matrix y = test::reference_predictions(made.model, made.theta, made.questions);
    for (const double scale : {1e-3, -1.0, 7.0}) {
      Parameters scaled = made.theta;
      scaled.c *= scale;
      const Evaluation again = made.objective->evaluate(scaled, Blocks::all(), true);
      CHECK(std::abs(again.loss - found.loss) <= 1e-14 * found.loss);
      CHECK(relative_difference(test::reference_predictions(made.model, scaled, made.questions),
                                y) <= 1e-14);
      // The gradient is then homogeneous of degree -1.
      CHECK((scale * again.gradient.c - found.gradient.c).cwiseAbs().maxCoeff() <= 1e-15);
    }
  }
}

TEST_CASE("a block that is not asked for is 0, the others do not change") {
  const Random made = random_case(0);
  const Evaluation all = made.objective->evaluate(made.theta, Blocks::all(), true);
  for (int chosen = 0; chosen < 8; ++chosen) {
    CAPTURE(chosen);
    const Blocks blocks{.c = (chosen & 1) != 0, .w = (chosen & 2) != 0, .a = (chosen & 4) != 0};
    const Evaluation some = made.objective->evaluate(made.theta, blocks, false);
    CHECK(std::isnan(some.loss));
    const Matrix w = blocks.w ? all.gradient.w : Matrix::Zero(3, 3);
    const Eigen::VectorXd c = blocks.c ? all.gradient.c : Eigen::VectorXd::Zero(7);
    REQUIRE(some.gradient.w.rows() == 3);
    REQUIRE(some.gradient.w.cols() == 3);
    REQUIRE(some.gradient.c.size() == 7);
    CHECK(some.gradient.w == w);
    CHECK(some.gradient.c == c);
    CHECK(some.gradient.a == (blocks.a ? all.gradient.a : 0.0));
  }
}

TEST_CASE("a prompt of one token: no lag at the key, no NaN in value or gradient") {
  const ModelSpec model{.d = 2, .M = 3, .H = 3, .D = 2};
  std::mt19937_64 random(5);
  const Parameters theta = test::random_parameters(model, random);
  const auto objective = make_reference_engine(model, {0.1}, {{{1}, {0.25, 0.75}, 1.0}});
  const Evaluation found = objective->evaluate(theta, Blocks::all(), true);
  // The only key gets all attention, whatever the parameters.
  const double loss = -0.25 * std::log(0.1) - 0.75 * std::log(1.1);
  CHECK(found.loss == doctest::Approx(loss).epsilon(1e-15));
  CHECK((found.gradient.w.array() == 0.0).all());
  CHECK((found.gradient.c.array() == 0.0).all());
  CHECK(found.gradient.a == 0.0);
  CHECK(reference_trace(model, theta, std::vector<Token>{1}).y == Eigen::Vector2d(0.0, 1.0));
}

TEST_CASE("eps = 0: tokens of target probability 0 do not enter the loss") {
  const ModelSpec model{.d = 3, .M = 2, .H = 2, .D = 2};
  std::mt19937_64 random(6);
  const Parameters theta = test::random_parameters(model, random);
  // Token 2 never occurs, so y_2 = 0; it has no target mass either.
  const std::vector<Token> prompt{0, 1, 1, 0, 1};
  const auto objective = make_reference_engine(model, {0.0}, {{prompt, {0.5, 0.5, 0.0}, 1.0}});
  const Evaluation found = objective->evaluate(theta, Blocks::all(), true);
  CHECK(std::isfinite(found.loss));
  CHECK(found.gradient.all_finite());
  const Eigen::VectorXd y = reference_trace(model, theta, prompt).y;
  CHECK(found.loss == doctest::Approx(-0.5 * std::log(y(0) * y(1))).epsilon(1e-14));
  const auto impossible = make_reference_engine(model, {0.0}, {{prompt, {0.0, 0.0, 1.0}, 1.0}});
  CHECK(std::isinf(impossible->loss(theta)));
}

TEST_CASE("large logits: the softmax stays finite") {
  const ModelSpec model{.d = 2, .M = 2, .H = 2, .D = 2};
  Parameters theta{Matrix{{2000.0, -2000.0}, {-2000.0, 2000.0}}, Eigen::VectorXd::Ones(4), 5000.0};
  const std::vector<Token> prompt{0, 1, 0, 1, 0, 1, 0, 1};
  const auto objective = make_reference_engine(model, {0.1}, {{prompt, {1.0, 0.0}, 1.0}});
  const Evaluation found = objective->evaluate(theta, Blocks::all(), true);
  // Both heads look at one lag, so only positions with the query's window remain: a 0 follows.
  CHECK(found.loss == doctest::Approx(-std::log(1.1)).epsilon(1e-15));
  CHECK(found.gradient.all_finite());
}

TEST_CASE("questions weigh as they are told") {
  const ModelSpec model{.d = 3, .M = 2, .H = 2, .D = 1};
  std::mt19937_64 random(8);
  const Parameters theta = test::random_parameters(model, random);
  auto questions = test::random_questions(model, 2, 6, true, random);
  const double first =
      make_reference_engine(model, {0.1}, {{questions[0].prompt, questions[0].target, 1.0}})
          ->loss(theta);
  const double second =
      make_reference_engine(model, {0.1}, {{questions[1].prompt, questions[1].target, 1.0}})
          ->loss(theta);
  questions[0].weight = 0.2;
  questions[1].weight = 0.8;
  const auto both = make_reference_engine(model, {0.1}, questions);
  CHECK(both->loss(theta) == doctest::Approx(0.2 * first + 0.8 * second).epsilon(1e-15));
}

TEST_CASE("what cannot be computed is refused with value and range") {
  const ModelSpec model{.d = 2, .M = 2, .H = 2, .D = 1, .mask = true};
  const std::vector<double> law{1.0, 0.0};
  CHECK_THROWS_WITH_AS(
      make_reference_engine(model, {}, {{{0, 1}, law, 1.0}}),
      "prompt of 2 tokens: must have 3 or more, so that the second attention has a "
      "position to see",
      InputError);
  CHECK_THROWS_WITH_AS(make_reference_engine(model, {}, {{{0, 1, 2}, law, 1.0}}),
                       "token 2: must be 0 to 1", InputError);
  CHECK_THROWS_WITH_AS(make_reference_engine(model, {}, {{{0, 1, 1}, {1.0}, 1.0}}),
                       "target law has 1 entries: must be the vocabulary size 2", InputError);
  const auto objective = make_reference_engine(model, {}, {{{0, 1, 1}, law, 1.0}});
  const Parameters wrong{Matrix::Zero(1, 2), Eigen::VectorXd::Ones(3), 1.0};
  CHECK_THROWS_AS(objective->loss(wrong), InputError);
  const Parameters no_c{Matrix::Zero(2, 2), Eigen::VectorXd::Zero(3), 1.0};
  CHECK_THROWS_AS(objective->evaluate(no_c, Blocks::all(), true), InputError);
}
