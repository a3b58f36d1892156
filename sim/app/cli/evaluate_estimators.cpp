#include "evaluate_estimators.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "gih/app/text.hpp"
#include "gih/base/error.hpp"
#include "gih/base/parallel.hpp"
#include "gih/io/stored.hpp"
#include "gih/theory/estimators.hpp"

namespace gih::cli {
namespace {

using nlohmann::json;

std::vector<int> parents_option(const std::string& text, int M) {
  std::vector<int> parents;
  for (const std::string& piece : split(text, ',')) {
    const auto lag = to_integer(piece);
    const int previous = parents.empty() ? 0 : parents.back();
    if (!lag || *lag > static_cast<std::uint64_t>(M) || static_cast<int>(*lag) <= previous) {
      throw InputError(fmt::format(
          "--parents {}: must be lags from 1 to the window {} that ascend, separated by commas",
          text, M));
    }
    parents.push_back(static_cast<int>(*lag));
  }
  return parents;
}

double number_option(const Arguments& arguments, const char* name) {
  const auto number = to_number(arguments.get(name));
  if (!number) {
    throw InputError(fmt::format("--{} {}: must be a number", name, arguments.get(name)));
  }
  return *number;
}

/// What a data file says of itself, then what the options say. `trouble` is why its configuration
/// could not be used.
EstimatorSpec known(const Arguments& arguments, const DataSpec& data,
                    const ParameterFile& parameters, std::string& trouble) {
  const std::string path = arguments.require("data");
  EstimatorSpec spec;
  spec.S = gih_subset(arguments, parameters);
  spec.parents = data.table->parents;
  if (is_hdf5(path)) {
    try {
      const DataSpec drawn = resolve(read_ini(read_stored(path).config, path)).data;
      spec.prior = drawn.prior;
      spec.initial = drawn.initial;
    } catch (const InputError& error) {
      // For example a kernel file that is no longer there: the tokens can be used all the same.
      trouble = error.what();
    }
  }
  if (arguments.has("parents")) {
    spec.parents = parents_option(arguments.get("parents"), parameters.model.reach());
  }
  if (arguments.has("alpha")) {
    const double floor = spec.prior ? spec.prior->floor : 0.0;
    spec.prior = PriorSpec{"dirichlet", number_option(arguments, "alpha"), floor, {}};
  }
  if (arguments.has("floor")) {
    if (!spec.prior) throw InputError("--floor: needs --alpha, the prior of the kernels");
    spec.prior->floor = number_option(arguments, "floor");
  }
  if (arguments.has("alpha") || arguments.has("floor")) {
    check_prior(*spec.prior, data.d, spec.parents.empty() ? std::vector<int>{1} : spec.parents);
  }
  return spec;
}

/// The rows that --only names, all without it.
std::vector<const EstimatorRow*> wanted(const Arguments& arguments) {
  std::vector<const EstimatorRow*> rows;
  if (!arguments.has("only")) {
    for (const EstimatorRow& row : estimator_table()) rows.push_back(&row);
    return rows;
  }
  for (const std::string& name : split(arguments.get("only"), ',')) {
    const auto& table = estimator_table();
    const auto row = std::ranges::find_if(table, [&](const auto& one) { return name == one.name; });
    if (row == table.end()) {
      std::vector<std::string> names;
      for (const EstimatorRow& one : table) names.emplace_back(one.name);
      throw InputError(fmt::format("--only {}: {} is not one of {}", arguments.get("only"), name,
                                   fmt::join(names, ", ")));
    }
    rows.push_back(&*row);
  }
  return rows;
}

/// The predictor that --against names, which must have an answer.
const Compared& reference(const Arguments& arguments, const std::vector<Compared>& compared) {
  const std::string name = arguments.get("against", compared.front().name);
  std::vector<std::string> names;
  for (const Compared& one : compared) {
    if (one.name == name && one.refused.empty()) return one;
    if (one.name == name) throw InputError(fmt::format("--against {}: {}", name, one.refused));
    names.push_back(one.name);
  }
  throw InputError(fmt::format("--against {}: must be one of {}", name, fmt::join(names, ", ")));
}

/// JSON has no infinity and no NaN: null.
json to_json(const Measured& measured) {
  return {{"mean", measured.mean},
          {"error", measured.error},
          {"count", measured.count},
          {"infinite", measured.infinite}};
}

json to_json(const std::vector<std::optional<Measured>>& measures) {
  json object = json::object();
  for (std::size_t i = 0; i < measures.size(); ++i) {
    if (measures[i]) object[measure_table()[i].name] = to_json(*measures[i]);
  }
  return object;
}

std::string to_cell(const std::optional<Measured>& measured) {
  if (!measured) return "-";
  if (measured->infinite > 0) {
    const double share =
        static_cast<double>(measured->infinite) / static_cast<double>(measured->count);
    return fmt::format("inf ({:.3g} %)", 100.0 * share);
  }
  if (std::isnan(measured->error)) return fmt::format("{:.6f}", measured->mean);
  return fmt::format("{:.6f} +- {:.6f}", measured->mean, measured->error);
}

}  // namespace

Subset gih_subset(const Arguments& arguments, const ParameterFile& parameters) {
  const ModelSpec& model = parameters.model;
  if (!arguments.has("subset")) {
    Eigen::Index largest = 0;
    parameters.theta.p().maxCoeff(&largest);
    return model.heads_of(model.subsets()[static_cast<std::size_t>(largest)]);
  }
  const std::string code = arguments.get("subset");
  Subset S = 0;
  for (std::size_t i = 0; i < code.size() && i < 31; ++i) S |= Subset{code[i] == '1'} << i;
  if (code.size() != static_cast<std::size_t>(model.reach()) ||
      code.find_first_not_of("01") != std::string::npos) {
    throw InputError(fmt::format(
        "--subset {}: must be {} characters 0 or 1, one a lag, as \"110\" for lags 1 and 2 of 3",
        code, model.reach()));
  }
  return S;
}

json to_json(const Matrix& m) {
  json rows = json::array();
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    rows.push_back(std::vector<double>(m.row(r).begin(), m.row(r).end()));
  }
  return rows;
}

std::vector<Option> estimator_options() {
  return {{"subset", "CODE", "lags of the GIH, as 110; default: the subset of largest p_S"},
          {"parents", "LAGS", "parent lags for Bayes, as 1,2; default: those of the data file"},
          {"alpha", "X", "Dirichlet concentration for Bayes; default: that of the data file"},
          {"floor", "X", "floor of the kernels for Bayes; default: that of the data file, else 0"},
          {"only", "NAMES", "these estimators alone, as gih,bayes; default: all"},
          {"against", "NAME", "the predictor that all are compared with; default: model"}};
}

Comparison compare_estimators(const Arguments& arguments, const DataSpec& data,
                              const ParameterFile& parameters, const Matrix& y) {
  std::string trouble;
  EstimatorSpec spec = known(arguments, data, parameters, trouble);
  const int threads = available_threads();
  // Estimators see every position, whatever the model's mask; the questions are the same.
  const Prompts prompts =
      build_prompts(data, {parameters.model.reach(), false, Target::sampled, Positions::last},
                    Split::train, threads);
  Comparison result;
  result.gih_subset = subset_code(spec.S, parameters.model.reach());
  result.compared.push_back({"model", y, {}, {}, {}, {}});
  if (data.table->parents.empty() || data.table->parents.back() <= parameters.model.reach()) {
    spec.conditional = true_conditional(data, Split::train, prompts);
  } else if (!data.table->conditional.empty()) {
    // The parents reach beyond the window, but the laws of x_{L+1} are stored.
    spec.conditional = Matrix::Map(data.table->conditional.data(), y.rows(), parameters.model.d);
  }
  for (const EstimatorRow* row : wanted(arguments)) {
    Compared one{row->name, {}, {}, {}, {}, {}};
    try {
      one.y = estimate(*row, spec, prompts, threads);
    } catch (const InputError& error) {
      one.refused = error.what();
      if (!spec.prior && !trouble.empty()) one.refused += fmt::format(" ({})", trouble);
    }
    result.compared.push_back(std::move(one));
  }
  const Compared& other = reference(arguments, result.compared);
  result.reference = other.name;
  const auto values = [&](const MeasureRow& row, const Matrix& of) {
    return measure(row, of, prompts, spec.conditional, parameters.eps, data.train);
  };
  for (Compared& one : result.compared) {
    if (!one.refused.empty()) continue;
    for (const MeasureRow& row : measure_table()) {
      const bool possible = !row.needs_truth || spec.conditional.rows() > 0;
      one.measures.push_back(possible ? std::optional(summary(values(row, one.y))) : std::nullopt);
      one.differences.push_back(
          possible ? std::optional(difference(values(row, other.y), values(row, one.y)))
                   : std::nullopt);
    }
    one.distance = summary(distance(other.y, one.y, prompts, data.train));
  }
  return result;
}

void add_json(const Comparison& comparison, bool only_summary, json& answer) {
  answer["gih_subset"] = comparison.gih_subset;
  answer["against"] = comparison.reference;
  for (const char* key : {"refused", "measures", "differences", "distances"}) {
    answer[key] = json::object();
  }
  if (!only_summary) answer["estimators"] = json::object();
  for (const Compared& one : comparison.compared) {
    if (!one.refused.empty()) {
      answer["refused"][one.name] = one.refused;
      continue;
    }
    answer["measures"][one.name] = to_json(one.measures);
    // The model's predictions stand beside the estimators.
    if (!only_summary && one.name != "model") answer["estimators"][one.name] = to_json(one.y);
    if (one.name == comparison.reference) continue;
    answer["differences"][one.name] = to_json(one.differences);
    answer["distances"][one.name] = to_json(*one.distance);
  }
}

void print(const Comparison& comparison) {
  fmt::print("{:<15}", "");
  for (const MeasureRow& row : measure_table()) fmt::print(" {:>22}", row.name);
  fmt::print("\n");
  for (const Compared& one : comparison.compared) {
    const std::string name =
        one.name == "gih" ? fmt::format("gih {}", comparison.gih_subset) : one.name;
    fmt::print("{:<15}", name);
    for (const auto& measured : one.measures) fmt::print(" {:>22}", to_cell(measured));
    fmt::print("{}\n", one.refused.empty() ? "" : " not computed: " + one.refused);
  }
}

}  // namespace gih::cli
