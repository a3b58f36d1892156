// The full variant (B.2) and the conventions of the authors' code: both engines against values made
// by an independent program, against each other, and against the six-point stencil.
#include <doctest/doctest.h>

#include <random>

#include "gih/base/error.hpp"
#include "gih/model/table_engine.hpp"
#include "support/close.hpp"
#include "support/gradient_check.hpp"
#include "support/literal_questions.hpp"
#include "support/model_cases.hpp"
#include "support/reference_cases.hpp"

namespace {

using namespace gih;
using test::relative_difference;

constexpr double tolerance = 1e-12;
constexpr double step_tolerance = 1e-11;

/// H matrices of d x d one after the other.
Matrix heads_of(const nlohmann::json& json) {
  const auto H = static_cast<Eigen::Index>(json.size());
  const Matrix first = test::matrix_of(json[0]);
  Matrix all(H * first.rows(), first.cols());
  for (Eigen::Index h = 0; h < H; ++h) {
    all.middleRows(h * first.rows(), first.rows()) =
        test::matrix_of(json[static_cast<std::size_t>(h)]);
  }
  return all;
}

/// The parameters of a case under the names WQ.., or with a prefix or an ending to them.
Parameters parameters_of(const nlohmann::json& json, const std::string& before,
                         const std::string& after) {
  const auto name = [&](const char* block) { return before + block + after; };
  Parameters theta{test::matrix_of(json[name("w")]), test::vector_of(json[name("c")]),
                   json[name("a")]};
  theta.W_Q = heads_of(json[name("WQ")]);
  theta.W_K = heads_of(json[name("WK")]);
  theta.W_V = heads_of(json[name("WV")]);
  return theta;
}

void check_close(const Parameters& found, const Parameters& wanted, double allowed) {
  CHECK(relative_difference(found.c, wanted.c) <= allowed);
  CHECK(relative_difference(found.w, wanted.w) <= allowed);
  CHECK(std::abs(found.a - wanted.a) <= allowed * std::abs(wanted.a));
  for (const WordMatrix& matrix : word_matrices) {
    CAPTURE(matrix.name);
    const Matrix& one = found.*matrix.member;
    const Matrix& other = wanted.*matrix.member;
    REQUIRE(one.size() == other.size());
    if (one.size() == 0) continue;
    CHECK(relative_difference(one, other) <= allowed);
  }
}

/// A model and what it is called in a failure.
struct Convention {
  const char* name;
  ModelSpec model;
};

std::vector<Convention> conventions() {
  const ModelSpec plain;
  std::vector<Convention> all;
  const auto with = [&](const char* name, ModelSpec model, auto change) {
    change(model);
    all.push_back({name, model});
  };
  ModelSpec full = plain;
  full.variant = Variant::full;
  with("full", full, [](ModelSpec&) {});
  with("full, heads alone", full, [](ModelSpec& m) { m.residual_in_kernel = false; });
  with("full, masked, exactly D", full, [](ModelSpec& m) {
    m.mask = true;
    m.rule = SubsetRule::exactly;
  });
  with("full, sqrt(C_D)", full, [](ModelSpec& m) { m.feature_norm = FeatureNorm::sqrt_C_D; });
  with("full, more lags than heads", full, [](ModelSpec& m) {
    m.d = 4;
    m.M = 4;
    m.H = 2;
  });
  with("released full", full, [](ModelSpec& m) {
    m.residual_in_kernel = false;
    m.head_norm = HeadNorm::layer;
    m.head_window = HeadWindow::shifted;
    m.feature_norm = FeatureNorm::sqrt_C_D;
    m.self_score = 1e-6;
    m.rectify = true;
  });
  with("full, layer norm, self", full, [](ModelSpec& m) {
    m.head_norm = HeadNorm::layer;
    m.self_score = 0.7;
  });
  with("unit heads", plain, [](ModelSpec& m) { m.head_norm = HeadNorm::l2; });
  with("released simplified", plain, [](ModelSpec& m) {
    m.head_norm = HeadNorm::l2;
    m.head_window = HeadWindow::shifted;
  });
  with("shifted, d = 5, masked", plain, [](ModelSpec& m) {
    m.d = 5;
    m.M = 2;
    m.head_window = HeadWindow::shifted;
    m.mask = true;
  });
  with("l2 features", plain, [](ModelSpec& m) { m.feature_norm = FeatureNorm::l2; });
  with("layer norm, rectified", plain, [](ModelSpec& m) {
    m.head_norm = HeadNorm::layer;
    m.rectify = true;
  });
  with("self-attention", plain, [](ModelSpec& m) { m.self_score = 0.5; });
  with("one lag", plain, [](ModelSpec& m) {
    m.M = 1;
    m.H = 1;
    m.D = 1;
    m.d = 2;
    m.variant = Variant::full;
  });
  return all;
}

}  // namespace

TEST_CASE("the full cases: loss, gradients and gradient steps of both engines") {
  const auto cases = test::read_cases("full");
  REQUIRE(!cases.empty());
  for (const auto& json : cases) {
    const std::string name = json["name"];
    CAPTURE(name);
    const auto rows = json["tokens"].get<std::vector<std::vector<Token>>>();
    const DataSpec data = test::token_data(rows, json["vocab"]);
    Parameters theta = parameters_of(json, "", "");
    const ModelSpec model{.d = data.d,
                          .M = json["window"],
                          .H = static_cast<int>(theta.w.rows()),
                          .D = json["degree"],
                          .variant = Variant::full};
    check_parameters(model, theta);
    const PromptSpec spec{.M = model.M};
    const auto table =
        make_table_engine(model, {json["eps"]}, build_prompts(data, spec, Split::train, 1), 1);
    const auto reference =
        make_reference_engine(model, {json["eps"]}, test::literal_questions(data, spec));
    const Parameters wanted = parameters_of(json, "grad_", "");
    const Parameters start = theta;
    for (Objective* engine : {table.get(), reference.get()}) {
      const Evaluation first = engine->evaluate(start, Blocks::all(), true);
      CHECK(std::abs(first.loss - json["loss"].get<double>()) <= tolerance * first.loss);
      check_close(first.gradient, wanted, tolerance);
      theta = start;
      const double rate = json["lr"];
      for (const double loss : json["joint_gd_losses"].get<std::vector<double>>()) {
        const Evaluation at = engine->evaluate(theta, Blocks::all(), true);
        CHECK(std::abs(at.loss - loss) <= step_tolerance * loss);
        add(theta, -rate, at.gradient, Blocks::all());
      }
      check_close(theta, parameters_of(json, "", "_after"), step_tolerance);
    }
  }
}

TEST_CASE("the engines agree on every convention, target, loss and thread count") {
  std::mt19937_64 random(7);
  for (const auto& convention : conventions()) {
    const std::string name = convention.name;
    const ModelSpec& model = convention.model;
    for (int setting = 0; setting < 6; ++setting) {
      INFO("convention: ", name);
      CAPTURE(setting);
      PromptSpec spec{.M = model.reach(), .mask = model.mask};
      if (setting & 1) spec.target = Target::conditional;
      if (setting == 2 || setting == 3) spec.positions = Positions::sequential;
      LossSpec loss{0.1};
      if (setting >= 3) loss.kind = LossKind::softmax_cross_entropy;
      DataSpec data;
      data.d = model.d;
      data.parents = {1};
      data.L = static_cast<std::size_t>(model.reach()) + 8;
      data.prior.alpha = 0.5;
      data.train = 12;
      data.seed = static_cast<std::uint64_t>(setting);
      const Parameters theta = test::random_parameters(model, random);
      const Prompts prompts = build_prompts(data, spec, Split::train, 2);
      const auto questions = test::literal_questions(data, spec);
      const auto table = make_table_engine(model, loss, prompts, 2);
      const auto reference = make_reference_engine(model, loss, questions);
      const Evaluation found = table->evaluate(theta, Blocks::all(), true);
      const Evaluation wanted = reference->evaluate(theta, Blocks::all(), true);
      CHECK(std::abs(found.loss - wanted.loss) <= tolerance * wanted.loss);
      // A block that has no effect has a gradient of 0 up to rounding: differences are held
      // against the largest derivative of all.
      double largest =
          std::max(wanted.gradient.c.cwiseAbs().maxCoeff(), std::abs(wanted.gradient.a));
      largest = std::max(largest, wanted.gradient.w.cwiseAbs().maxCoeff());
      CHECK((found.gradient.c - wanted.gradient.c).cwiseAbs().maxCoeff() <= tolerance * largest);
      CHECK((found.gradient.w - wanted.gradient.w).cwiseAbs().maxCoeff() <= tolerance * largest);
      CHECK(std::abs(found.gradient.a - wanted.gradient.a) <= tolerance * largest);
      for (const WordMatrix& matrix : word_matrices) {
        const Matrix& one = found.gradient.*matrix.member;
        const Matrix& other = wanted.gradient.*matrix.member;
        REQUIRE(one.size() == other.size());
        if (one.size() > 0) {
          CHECK((one - other).cwiseAbs().maxCoeff() <= tolerance * largest);
        }
      }
      CHECK(relative_difference(predictions(model, theta, prompts),
                                test::reference_predictions(model, theta, questions)) <= tolerance);
      // Only what was asked for, with the same bits, and again after other parameters.
      const auto one = make_table_engine(model, loss, prompts, 1);
      const Evaluation some = one->evaluate(theta, {.c = true}, false);
      CHECK(some.gradient.c == found.gradient.c);
      CHECK(some.gradient.w.isZero(0.0));
      CHECK(some.gradient.W_V.isZero(0.0));
      one->evaluate(test::random_parameters(model, random), Blocks::all(), true);
      const Evaluation again = one->evaluate(theta, Blocks::all(), true);
      CHECK(again.loss == found.loss);
      CHECK(again.gradient.w == found.gradient.w);
      CHECK(again.gradient.W_K == found.gradient.W_K);
    }
  }
}

TEST_CASE("the gradient of every convention is that of the six-point stencil") {
  std::mt19937_64 random(23);
  for (const auto& convention : conventions()) {
    const std::string name = convention.name;
    const ModelSpec& model = convention.model;
    if (model.rectify) continue;  // has corners; the engines agree there
    INFO("convention: ", name);
    DataSpec data;
    data.d = model.d;
    data.parents = {1};
    data.L = static_cast<std::size_t>(model.reach()) + 8;
    data.prior.alpha = 0.5;
    data.train = 6;
    const auto engine = make_table_engine(
        model, {0.1},
        build_prompts(data, {.M = model.reach(), .mask = model.mask}, Split::train, 1), 1);
    const auto stencil = test::check_gradient(
        *engine, test::random_parameters(model, random),
        model.head_norm == HeadNorm::layer ? test::sharp_stencil_step : test::stencil_step);
    CAPTURE(stencil.where);
    CHECK(stencil.checked > 2);
    CHECK(stencil.worst <= test::stencil_tolerance);
  }
}

TEST_CASE("a uniform shift of all scores and a scale of c change nothing") {
  std::mt19937_64 random(3);
  ModelSpec model;
  model.variant = Variant::full;
  DataSpec data;
  data.d = model.d;
  data.L = 20;
  data.train = 10;
  const auto engine = make_table_engine(model, {0.1}, build_prompts(data, {}, Split::train, 1), 1);
  Parameters theta = test::random_parameters(model, random);
  const double loss = engine->loss(theta);
  theta.w.array() += 3.0;
  theta.c *= 7.0;
  CHECK(engine->loss(theta) == doctest::Approx(loss).epsilon(1e-13));
  // l2 normalisation: with W_V of every head scaled, subsets of one size alone keep their share.
  model.rule = SubsetRule::exactly;
  model.residual_in_kernel = false;
  const auto exactly = make_table_engine(model, {0.1}, build_prompts(data, {}, Split::train, 1), 1);
  theta = test::random_parameters(model, random);
  const double before = exactly->loss(theta);
  theta.W_V *= 0.25;
  CHECK(exactly->loss(theta) == doctest::Approx(before).epsilon(1e-13));
}

TEST_CASE("shapes that do not fit the model are named") {
  ModelSpec model;
  Parameters theta = zero_parameters(model);
  theta.c.setOnes();
  check_parameters(model, theta);
  model.variant = Variant::full;
  model.residual_in_kernel = false;
  CHECK_THROWS_WITH_AS(check_parameters(model, theta), "W_Q is 0 x 0: must be 9 x 3 in this model",
                       InputError);
  model.residual_in_kernel = true;
  CHECK_THROWS_WITH_AS(check_parameters(model, theta),
                       "c has 7 entries: must be 11, one for each subset of 4 blocks", InputError);
  model.head_window = HeadWindow::shifted;
  CHECK(model.lag(2, 0) == 3);
  CHECK(model.reach() == 5);
  model.M = 30;
  CHECK_THROWS_AS(check_model(model), InputError);
}
