// gih sweep collect: one row a point, its keys, what training ended with, what theory says of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "cli.hpp"
#include "gih/app/sweep_folder.hpp"
#include "gih/app/text.hpp"
#include "gih/app/training_run.hpp"
#include "gih/base/error.hpp"
#include "gih/io/atomic_file.hpp"
#include "gih/io/run_file.hpp"
#include "gih/io/table_file.hpp"
#include "gih/theory/conditions.hpp"
#include "information_report.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "sweep.hpp"
#include "table_maker.hpp"

namespace gih::cli {
namespace {

/// Then the weights that stage 1 of the theory finds are not the initial ones.
bool trains_w_before_c(const Schedule& schedule) {
  for (const Stage& stage : schedule) {
    if (stage.trains.c) return false;
    if (stage.trains.w) return true;
  }
  return false;
}

namespace fs = std::filesystem;

/// One row to be.
struct Source {
  std::int64_t index = -1;  ///< in the grid; -1: of an earlier grid
  std::string name, hash;
  PointState state = PointState::finished;
  std::string reason;
  fs::path run;
  std::vector<Assignment> keys;  ///< resolved
};

std::vector<Source> sources_of(const fs::path& folder, const Grid& grid) {
  std::vector<Source> sources;
  const auto all = sweep_status(folder, grid.points);
  for (const GridPoint& point : grid.points) {
    const PointStatus& at = all[point.index];
    sources.push_back({static_cast<std::int64_t>(point.index), point.name, point.hash, at.state,
                       at.reason, at.run, read_ini(point.config, point.name)});
  }
  for (const fs::path& run : other_runs(folder, grid.points)) {
    const std::string name = run.stem().string();
    sources.push_back({-1, name, name.substr(name.rfind('-') + 1), PointState::finished, "", run,
                       read_ini(read_run(run).config, run.string())});
  }
  return sources;
}

/// The leader of p, and its p.
std::pair<std::string, double> leader(const ModelSpec& model, const Parameters& theta) {
  const Eigen::VectorXd p = theta.p();
  Eigen::Index best = 0;
  const double largest = p.maxCoeff(&best);
  return {subset_code(model.subsets()[static_cast<std::size_t>(best)], model.blocks()), largest};
}

/// The last row of the first stage that trains c: what was selected.
const LogRow* selection(const Log& log, const Schedule& schedule) {
  const auto stage =
      std::find_if(schedule.begin(), schedule.end(), [](const Stage& one) { return one.trains.c; });
  if (stage == schedule.end()) return nullptr;
  const int number = static_cast<int>(stage - schedule.begin()) + 1;
  const auto row = std::find_if(log.rbegin(), log.rend(),
                                [&](const LogRow& one) { return one.stage == number; });
  return row == log.rend() ? nullptr : &*row;
}

void add_results(TableMaker& table, const RunFile& run, const Schedule& schedule) {
  const TrainState& state = run.state;
  if (const LogRow* row = selection(state.log, schedule)) {
    const auto [selected, p] = leader(run.model, row->theta);
    table.set("selected", selected);
    table.set("selected_p", p);
    table.set("selected_train_loss", row->train_loss);
  }
  const auto [selected, largest] = leader(run.model, state.theta);
  table.set("final_selected", selected);
  table.set("final_p", largest);
  table.set("train_loss", state.log.back().train_loss);
  table.set("validation_loss", state.log.back().validation_loss);
  table.set("a", state.theta.a);
  table.set("C_D", state.theta.C_D());
  const Matrix& w = state.theta.w;
  for (Eigen::Index h = 0; h < w.rows(); ++h) {
    for (Eigen::Index i = 0; i < w.cols(); ++i)
      table.set(fmt::format("w_{}_{}", h + 1, i + 1), w(h, i));
  }
  const Eigen::VectorXd p = state.theta.p();
  const auto subsets = run.model.subsets();
  for (std::size_t S = 0; S < subsets.size(); ++S) {
    const std::string code = subset_code(subsets[S], run.model.blocks());
    table.set("p_" + code, p[static_cast<Eigen::Index>(S)]);
    table.set("c_" + code, state.theta.c[static_cast<Eigen::Index>(S)]);
  }
}

/// What theory says of a configuration, as far as it is about such.
class Theory {
 public:
  explicit Theory(const CollectWork& work) : work_(work) {}

  /// False when the user interrupted it.
  bool add(TableMaker& table, const Settings& settings, const std::string& selected) {
    if (work_.kernels == 0 || settings.data.table || !departure_from_simplified(settings).empty())
      return true;
    const Information* const found = information(settings);
    if (found == nullptr) return false;
    const ModelSpec& model = settings.model;
    const std::string star = subset_code(found->subsets[found->S_star], model.H);
    table.set("S_star", star);
    table.set("I_star", found->modified[found->S_star]);
    table.set("gap", found->gap);
    table.set("gap_error", found->gap_error);
    table.set("runner_up", subset_code(found->subsets[found->runner_up], model.H));
    table.set("verdict_S_star", std::string(found->decided ? "PASS" : "UNDECIDED"));
    const Parameters theta = initial_parameters(settings);
    for (const double k : {14.0, 8.0}) {
      const Check check = gap_condition(model, theta.w, *found, k);
      if (k == 14.0) table.set("delta_w", check.tally.right());
      const std::string which = check.id == "3.6" ? "" : "_k8";
      table.set("delta_w_demanded" + which, check.tally.left());
      table.set("verdict_" + check.id, std::string(verdict_name(check.tally.verdict())));
    }
    if (!selected.empty()) {
      table.set("verdict_selects_S_star", std::string(!found->decided    ? "UNDECIDED"
                                                      : selected == star ? "PASS"
                                                                         : "FAIL"));
    }
    return !work_.finite || add_forecast(table, settings, theta, selected);
  }

 private:
  /// The means of a law of kernels do not depend on w, so that points share them.
  const Information* information(const Settings& settings) {
    Settings law;
    law.data = settings.data;
    law.file = settings.file;
    law.kernels = settings.kernels;
    law.model = settings.model;
    law.data.L.reset();  // what of the data is not the law
    law.data.validation = 0;
    const auto [at, is_new] = found_.emplace(to_ini(law), Information{});
    if (is_new) {
      check_effort(settings, work_.kernels);
      at->second =
          prior_information(settings.data, settings.model, nullptr, work_.kernels,
                            settings.thread_count(), [](std::size_t) { return !interrupted(); })
              .information;
    }
    return interrupted() ? nullptr : &at->second;
  }

  bool add_forecast(TableMaker& table, const Settings& settings, const Parameters& theta,
                    const std::string& selected) {
    // Neighbours in a grid often share their data.
    Settings data;
    data.data = settings.data;
    data.prompts = settings.prompts;
    data.file = settings.file;
    data.kernels = settings.kernels;
    data.model.M = settings.model.M;
    data.model.mask = settings.model.mask;
    if (drawn_ != to_ini(data)) {
      prompts_ = build_prompts(settings.data, settings.prompts, Split::train,
                               settings.thread_count(), [](std::size_t) { return !interrupted(); });
      drawn_ = to_ini(data);
    }
    if (interrupted()) return false;
    const Choice seen =
        finite_information(prompts_, settings.data.train, settings.model, theta.w, settings.eps());
    const ModelSpec& model = settings.model;
    const std::string code = subset_code(model.subsets()[seen.S_star], model.H);
    table.set("forecast", code);
    table.set("forecast_gap", seen.gap);
    table.set("forecast_gap_error", seen.gap_error);
    if (!selected.empty() && !trains_w_before_c(settings.schedule)) {
      const char* verdict = seen.tie           ? "UNDECIDED"
                            : selected == code ? "PASS"
                            : seen.decided     ? "FAIL"
                                               : "UNDECIDED";
      table.set("verdict_forecast", std::string(verdict));
    }
    return true;
  }

  const CollectWork& work_;
  std::map<std::string, Information> found_;
  std::string drawn_;  // the settings that prompts_ are of
  Prompts prompts_;
};

}  // namespace

int collect_sweep(const CollectWork& work) {
  const Grid grid = stored_grid(work.folder);
  check_writable_target(work.output, work.overwrite);
  watch_interrupts();
  const std::vector<Source> sources = sources_of(work.folder, grid);
  std::vector<std::vector<Assignment>> keys;
  for (const Source& source : sources) keys.push_back(source.keys);
  const auto numeric = numeric_keys(keys);
  TableMaker table;
  Theory theory(work);
  std::size_t finished = 0;
  Progress progress("collecting", "points", static_cast<double>(sources.size()), 0.0, work.quiet);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Source& source = sources[i];
    table.row();
    table.set("index", source.index);
    table.set("name", source.name);
    table.set("hash", source.hash);
    table.set("status", std::string(state_name(source.state)));
    table.set("reason", source.reason);
    table.set(source.keys, numeric);
    const Settings settings = resolve(source.keys);
    std::string selected;
    if (source.state == PointState::finished) {
      const RunFile run = read_run(source.run);
      if (!computes_same(run.config, to_ini(settings))) {
        throw InputError(fmt::format("{}: holds another configuration", source.run.string()));
      }
      add_results(table, run, settings.schedule);
      if (const LogRow* row = selection(run.state.log, settings.schedule)) {
        selected = leader(run.model, row->theta).first;
      }
      ++finished;
    }
    if (interrupted() || !theory.add(table, settings, selected)) {
      tell("gih: interrupted; nothing was written\n");
      return exit_interrupted;
    }
    progress.update(static_cast<double>(i + 1));
  }
  const OutputLock lock(work.output);
  write_table(work.output, {grid.text, table.table(), "", "", ""});
  if (!work.quiet) {
    tell(fmt::format("{}: {} points, {} of them finished\n", work.output.string(), sources.size(),
                     finished));
  }
  return 0;
}

}  // namespace gih::cli
