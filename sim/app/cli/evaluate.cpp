#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "evaluate_attention.hpp"
#include "evaluate_estimators.hpp"
#include "gih/app/text.hpp"
#include "gih/base/error.hpp"
#include "gih/io/data_file.hpp"
#include "gih/io/run_file.hpp"
#include "gih/io/stored.hpp"
#include "gih/model/reference_engine.hpp"
#include "gih/model/table_engine.hpp"

namespace gih::cli {
namespace {

using nlohmann::json;

struct Case {
  DataSpec data;
  PromptSpec prompts;
  ParameterFile parameters;
};

/// "auto", as the key loss.epsilon has it, or a number.
double epsilon_option(const std::string& text, std::size_t L) {
  if (text == "auto") return 1.0 / std::sqrt(L);
  const auto eps = to_number(text);
  if (!eps || !(*eps >= 0.0 && *eps <= 1.0)) {
    throw InputError(
        fmt::format("--epsilon {}: must be auto, for L^(-1/2), or a number from 0 to 1", text));
  }
  return *eps;
}

Case load(const Arguments& arguments) {
  Case loaded;
  const std::string data_path = arguments.require("data");
  const std::string parameter_path = arguments.require("parameters");
  auto table = std::make_shared<TokenTable>(read_tokens(data_path));
  loaded.data.d = table->d;
  loaded.data.L = table->columns - 1;
  loaded.data.parents = {1};  // not used: the tokens are given
  loaded.data.train = table->rows;
  loaded.data.validation = 0;
  loaded.data.table = table;
  if (is_hdf5(parameter_path)) {
    const RunFile run = read_run(parameter_path);
    // The files that the run's data came from may be gone; nothing of them is needed here.
    std::vector<Assignment> keys = read_ini(run.config, parameter_path);
    std::erase_if(keys, [](const Assignment& key) {
      return key.key == "data.file" || key.key == "data.kernels" || key.key == "data.prior";
    });
    const Settings settings = resolve(keys);
    if (settings.data.d != table->d) {
      throw InputError(fmt::format("{}: vocabulary {}: must be {}, as in {}", data_path, table->d,
                                   settings.data.d, parameter_path));
    }
    loaded.parameters = {settings.model, settings.epsilon.value_or(1.0 / std::sqrt(*loaded.data.L)),
                         run.state.theta, settings.loss_kind};
  } else {
    loaded.parameters = read_parameters_json(parameter_path);
  }
  loaded.parameters.model.d = table->d;
  loaded.prompts.M = loaded.parameters.model.reach();
  loaded.prompts.mask = loaded.parameters.model.mask;
  if (*loaded.data.L <= static_cast<std::size_t>(loaded.prompts.M)) {
    throw InputError(fmt::format("{}: sequences of length {}: must be above the window {}",
                                 data_path, *loaded.data.L, loaded.prompts.M));
  }
  check_parameters(loaded.parameters.model, loaded.parameters.theta);
  if (arguments.has("epsilon")) {
    loaded.parameters.eps = epsilon_option(arguments.get("epsilon"), *loaded.data.L);
  }
  return loaded;
}

/// The matrices of the heads, H x rows x columns.
json heads_json(const Matrix& W, Eigen::Index H) {
  json heads = json::array();
  const Eigen::Index rows = W.rows() / H;
  for (Eigen::Index h = 0; h < H; ++h) heads.push_back(to_json(W.middleRows(h * rows, rows)));
  return heads;
}

std::unique_ptr<Objective> reference(const Case& loaded) {
  std::vector<ReferenceQuestion> questions;
  const auto& table = *loaded.data.table;
  for (std::size_t i = 0; i < table.rows; ++i) {
    const auto row = table.row(i);
    std::vector<double> target(static_cast<std::size_t>(table.d), 0.0);
    target[row.back()] = 1.0;
    questions.push_back(
        {{row.begin(), row.end() - 1}, target, 1.0 / static_cast<double>(table.rows)});
  }
  return make_reference_engine(loaded.parameters.model, loaded.parameters.loss(),
                               std::move(questions));
}

std::string engine_name(const Arguments& arguments) {
  const bool attention = arguments.has("attention");
  const std::string name = arguments.get("engine", attention ? "reference" : "table");
  if (name != "table" && name != "reference") {
    throw InputError(fmt::format("--engine {}: must be table or reference", name));
  }
  if (attention && name == "table") {
    throw InputError(
        "--engine table: must be reference with --attention, since the table engine knows "
        "patterns and no positions");
  }
  return name;
}

int run_evaluate(const Arguments& arguments) {
  const std::string name = engine_name(arguments);
  const Case loaded = load(arguments);
  const ModelSpec& model = loaded.parameters.model;
  const LossSpec loss = loaded.parameters.loss();
  const Parameters& theta = loaded.parameters.theta;
  const bool with_gradient = arguments.has("gradient");
  const Prompts prompts = build_prompts(loaded.data, loaded.prompts, Split::train, 1);
  const auto engine =
      name == "reference" ? reference(loaded) : make_table_engine(model, loss, prompts, 1);
  const Evaluation at = engine->evaluate(theta, with_gradient ? Blocks::all() : Blocks{}, true);
  if (!std::isfinite(at.loss)) {
    throw RunError(fmt::format("the loss is {}: a target has probability 0 and eps = 0", at.loss));
  }
  Matrix y(static_cast<Eigen::Index>(loaded.data.train), model.d);
  if (name == "reference") {
    for (Eigen::Index i = 0; i < y.rows(); ++i) {
      const auto row = loaded.data.table->row(static_cast<std::size_t>(i));
      y.row(i) = reference_trace(model, theta, row.first(row.size() - 1)).y.transpose();
    }
  } else {
    y = predictions(model, theta, prompts);
  }
  const Comparison comparison = compare_estimators(arguments, loaded.data, loaded.parameters, y);
  if (arguments.has("json")) {
    const bool only_summary = arguments.has("summary");
    json answer{{"engine", name}, {"loss", at.loss}};
    if (!only_summary) answer["predictions"] = to_json(y);
    if (with_gradient) {
      answer["gradient"] = {{"w", to_json(at.gradient.w)},
                            {"c", std::vector<double>(at.gradient.c.begin(), at.gradient.c.end())},
                            {"a", at.gradient.a}};
      for (const WordMatrix& matrix : word_matrices) {
        const Matrix& W = at.gradient.*matrix.member;
        if (W.size() > 0) answer["gradient"][matrix.name] = heads_json(W, model.H);
      }
    }
    add_json(comparison, only_summary, answer);
    if (arguments.has("attention")) {
      answer["attention"] =
          attention_json(loaded.data, loaded.parameters, gih_subset(arguments, loaded.parameters));
    }
    fmt::print("{}\n", answer.dump(1));
    return 0;
  }
  fmt::print(
      "loss {:.17g} (mean over {} prompts, {}, {} engine)\n", at.loss, loaded.data.train,
      loss.kind == LossKind::cross_entropy ? fmt::format("eps {:.6g}", loss.eps) : "y as logits",
      name);
  if (with_gradient) {
    const auto subsets = model.subsets();
    for (std::size_t S = 0; S < subsets.size(); ++S) {
      fmt::print("dL/dc_{}  {: .17g}\n", subset_code(subsets[S], model.blocks()),
                 at.gradient.c[static_cast<Eigen::Index>(S)]);
    }
    for (int h = 0; h < model.H; ++h) {
      for (int i = 0; i < model.M; ++i) {
        fmt::print("dL/dw^({})_-{}  {: .17g}\n", h + 1, model.lag(h, i), at.gradient.w(h, i));
      }
    }
    fmt::print("dL/da  {: .17g}\n", at.gradient.a);
    for (const WordMatrix& matrix : word_matrices) {
      const Matrix& W = at.gradient.*matrix.member;
      const Eigen::Index rows = W.rows() / model.H;  // of a head
      for (Eigen::Index i = 0; i < W.rows(); ++i) {
        fmt::print("dL/d{}^({}) row {} ", matrix.name, i / rows + 1, i % rows + 1);
        for (const double value : W.row(i)) fmt::print(" {: .17g}", value);
        fmt::print("\n");
      }
    }
  }
  const Eigen::Index shown = arguments.has("summary") ? 0 : std::min<Eigen::Index>(y.rows(), 10);
  for (Eigen::Index i = 0; i < shown; ++i) {
    fmt::print("y of prompt {} ", i + 1);
    for (const double value : y.row(i)) fmt::print(" {:.6f}", value);
    fmt::print("\n");
  }
  if (shown > 0 && shown < y.rows()) fmt::print("... {} more with --json\n", y.rows() - shown);
  print(comparison);
  if (arguments.has("attention")) {
    print_attention(loaded.data, loaded.parameters, gih_subset(arguments, loaded.parameters),
                    static_cast<std::size_t>(shown));
  }
  return 0;
}

std::vector<Option> options() {
  std::vector<Option> all{
      {"data", "FILE", "data file or JSON tokens"},
      {"parameters", "FILE", "run file (its last parameters) or JSON parameters"},
      {"gradient", "", "the gradient with respect to the parameters too"},
      {"attention", "", "where both layers and the GIH attend on each prompt; engine reference"},
      {"engine", "NAME", "table (fast, default) or reference (position by position)"},
      {"epsilon", "X", "eps of the loss, or auto for L^(-1/2); default: that of the parameters"},
      {"summary", "", "no predictions of single prompts"},
      {"json", "", "one JSON document on stdout"}};
  for (const Option& option : estimator_options()) all.push_back(option);
  return all;
}

}  // namespace

const Command evaluate_command{
    "evaluate", "prints loss, gradient and predictions of given parameters on given data",
    "",         false,
    options(),  run_evaluate};

}  // namespace gih::cli
