#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <filesystem>

#include "cli.hpp"
#include "gih/base/error.hpp"
#include "gih/io/data_file.hpp"
#include "gih/io/run_file.hpp"
#include "gih/io/stored.hpp"
#include "gih/io/table_file.hpp"

namespace gih::cli {
namespace {

using nlohmann::json;

json run_json(const std::string& path, const RunFile& run) {
  const Parameters& theta = run.state.theta;
  const Eigen::VectorXd p = theta.p();
  json subsets = json::array();
  for (const Subset S : run.model.subsets()) subsets.push_back(subset_code(S, run.model.blocks()));
  json w = json::array();
  for (Eigen::Index h = 0; h < theta.w.rows(); ++h) {
    w.push_back(std::vector<double>(theta.w.row(h).begin(), theta.w.row(h).end()));
  }
  json answer{{"file", path},
              {"format", "gih-run"},
              {"complete", run.complete},
              {"created", run.created},
              {"gih_version", run.gih_version},
              {"git_commit", run.git_commit},
              {"compiler", run.compiler},
              {"config", run.config},
              {"rows", run.state.log.size()},
              {"subsets", subsets},
              {"stage", run.state.stage},
              {"step", run.state.step},
              {"p", std::vector<double>(p.begin(), p.end())},
              {"c", std::vector<double>(theta.c.begin(), theta.c.end())},
              {"w", w},
              {"a", theta.a},
              {"C_D", theta.C_D()}};
  if (!run.state.log.empty()) {
    answer["train_loss"] = run.state.log.back().train_loss;
    answer["validation_loss"] = run.state.log.back().validation_loss;
  }
  return answer;
}

void print_run(const std::string& path, const RunFile& run) {
  const TrainState& state = run.state;
  fmt::print("{}: run file, {}\n", path,
             run.complete ? "finished"
                          : fmt::format("unfinished: stage {}, step {}", state.stage, state.step));
  fmt::print("written {} by gih {} (commit {}, {})\n", run.created, run.gih_version, run.git_commit,
             run.compiler);
  for (std::size_t i = 0; i < state.log.size(); ++i) {
    const LogRow& row = state.log[i];
    const bool last = i + 1 == state.log.size() || state.log[i + 1].stage != row.stage;
    if (!last) continue;
    fmt::print(
        "stage {}: to step {}, train loss {:.6f}, validation loss {:.6f}, a {:.6g}, C_D {:.6g}\n",
        row.stage, row.step, row.train_loss, row.validation_loss, row.theta.a, row.theta.C_D());
  }
  const Eigen::VectorXd p = state.theta.p();
  const auto subsets = run.model.subsets();
  fmt::print("p_S:");
  for (std::size_t S = 0; S < subsets.size(); ++S) {
    fmt::print("  {} {:.6f}", subset_code(subsets[S], run.model.blocks()),
               p[static_cast<Eigen::Index>(S)]);
  }
  fmt::print("\nw, a row for each head, lags -1, -2, ...:\n");
  for (Eigen::Index h = 0; h < state.theta.w.rows(); ++h) {
    for (const double value : state.theta.w.row(h)) fmt::print("  {:9.5f}", value);
    fmt::print("\n");
  }
  fmt::print("\n{}", run.config);
}

void print_data(const std::string& path, const TokenTable& table) {
  fmt::print("{}: data file, {} sequences of {} + 1 tokens, vocabulary {}{}{}\n", path, table.rows,
             table.columns - 1, table.d, table.kernels.empty() ? "" : ", with kernels",
             table.conditional.empty() ? "" : ", with conditional laws");
  std::vector<std::size_t> counts(static_cast<std::size_t>(table.d));
  for (const Token token : table.tokens) ++counts[token];
  fmt::print("share of each token:");
  for (const std::size_t count : counts) {
    fmt::print(" {:.4f}", static_cast<double>(count) / static_cast<double>(table.tokens.size()));
  }
  fmt::print("\nfirst sequence:");
  const auto first = table.row(0);
  for (std::size_t l = 0; l < std::min<std::size_t>(first.size(), 60); ++l)
    fmt::print(" {}", first[l]);
  fmt::print("{}\n", first.size() > 60 ? " ..." : "");
}

std::string text_of(const TableCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  return fmt::format("{:.6g}", std::get<double>(cell));
}

void print_table(const std::string& path, const TableFile& file) {
  const Table& table = file.table;
  fmt::print("{}: table of a grid, {} rows, {} fields\n", path, table.rows.size(),
             table.fields.size());
  fmt::print("written {} by gih {} (commit {})\n\n{}\n", file.created, file.gih_version,
             file.git_commit, file.config);
  // A field with one value says so once; the others are columns.
  std::vector<std::size_t> columns;
  for (std::size_t k = 0; k < table.fields.size(); ++k) {
    const std::string first = table.rows.empty() ? "" : text_of(table.rows.front()[k]);
    const bool differs = std::any_of(table.rows.begin(), table.rows.end(),
                                     [&](const auto& row) { return text_of(row[k]) != first; });
    if (differs) {
      columns.push_back(k);
    } else {
      fmt::print("{} = {}\n", table.fields[k].name, first);
    }
  }
  fmt::print("\n");
  for (const std::size_t k : columns) fmt::print("{}\t", table.fields[k].name);
  fmt::print("\n");
  for (const auto& row : table.rows) {
    for (const std::size_t k : columns) fmt::print("{}\t", text_of(row[k]));
    fmt::print("\n");
  }
}

json table_json(const std::string& path, const TableFile& file) {
  json rows = json::array();
  for (const auto& row : file.table.rows) {
    json cells = json::object();
    for (std::size_t k = 0; k < row.size(); ++k) {
      std::visit([&](const auto& value) { cells[file.table.fields[k].name] = value; }, row[k]);
    }
    rows.push_back(cells);
  }
  return {{"file", path},
          {"format", "gih-sweep"},
          {"created", file.created},
          {"gih_version", file.gih_version},
          {"git_commit", file.git_commit},
          {"config", file.config},
          {"points", rows}};
}

int run_show(const Arguments& arguments) {
  std::string path = arguments.positional.front();
  // The name of a run that is still going on means its unfinished file.
  std::error_code ignored;  // what is wrong with a name is said where the file is opened
  if (!std::filesystem::exists(path, ignored) &&
      std::filesystem::exists(part_path(path), ignored)) {
    path = part_path(path);
  }
  const bool as_json = arguments.has("json");
  if (is_hdf5(path) && read_stored(path).format == "gih-run") {
    const RunFile run = read_run(path);
    if (as_json) {
      fmt::print("{}\n", run_json(path, run).dump(1, ' ', false, json::error_handler_t::replace));
    } else {
      print_run(path, run);
    }
    return 0;
  }
  if (is_hdf5(path) && read_stored(path).format == "gih-sweep") {
    const TableFile file = read_table(path);
    if (as_json) {
      fmt::print("{}\n",
                 table_json(path, file).dump(1, ' ', false, json::error_handler_t::replace));
    } else {
      print_table(path, file);
    }
    return 0;
  }
  const TokenTable table = read_tokens(path);
  if (as_json) {
    const json answer{{"file", path},
                      {"format", "gih-data"},
                      {"rows", table.rows},
                      {"columns", table.columns},
                      {"vocab", table.d},
                      {"kernels", !table.kernels.empty()},
                      {"conditional", !table.conditional.empty()}};
    fmt::print("{}\n", answer.dump(1, ' ', false, json::error_handler_t::replace));
  } else {
    print_data(path, table);
  }
  return 0;
}

}  // namespace

const Command show_command{"show",
                           "prints what a run file, data file or table of a grid holds",
                           "FILE",
                           false,
                           {{"json", "", "one JSON document on stdout"}},
                           run_show};

}  // namespace gih::cli
