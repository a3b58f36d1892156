// gih sweep: many configurations, listed, made, watched and collected.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "gih/app/grid.hpp"
#include "gih/app/sweep_folder.hpp"
#include "gih/app/text.hpp"
#include "gih/base/error.hpp"
#include "sweep.hpp"

namespace gih::cli {

namespace fs = std::filesystem;

Grid grid_of(const Arguments& arguments, const std::string& file,
             const std::vector<Assignment>& more) {
  std::vector<Assignment> keys, options;
  for (const Assignment& key : arguments.keys) {
    (key.place.starts_with("--") ? options : keys).push_back(key);
  }
  make_paths_absolute(keys, fs::current_path());
  make_paths_absolute(options, fs::current_path());
  const std::vector<Assignment> grid = read_grid(file);
  keys.insert(keys.end(), grid.begin(), grid.end());
  keys.insert(keys.end(), options.begin(), options.end());
  keys.insert(keys.end(), more.begin(), more.end());
  return expand(keys);
}

namespace {

using json = nlohmann::ordered_json;

std::size_t index_of(const Arguments& arguments, const Grid& grid) {
  const auto index = to_integer(arguments.require("index"));
  if (!index || *index >= grid.points.size()) {
    throw InputError(fmt::format("--index {}: must be a whole number from 0 to {}",
                                 arguments.get("index"), grid.points.size() - 1));
  }
  return *index;
}

int run_expand(const Arguments& arguments, const std::string& file) {
  const Grid grid = grid_of(arguments, file);
  if (arguments.has("index")) {
    fmt::print("{}", grid.points[index_of(arguments, grid)].config);
    return 0;
  }
  if (arguments.has("json")) {
    json points = json::array();
    for (const GridPoint& point : grid.points) {
      json keys = json::object();
      for (std::size_t k = 0; k < grid.axes.size(); ++k) keys[grid.axes[k]] = point.values[k];
      points.push_back({{"index", point.index},
                        {"name", point.name},
                        {"hash", point.hash},
                        {"keys", keys},
                        {"config", point.config}});
    }
    const json answer{{"axes", grid.axes}, {"points", points}};
    fmt::print("{}\n", answer.dump(1, ' ', false, json::error_handler_t::replace));
    return 0;
  }
  std::size_t width = 4;
  for (const GridPoint& point : grid.points) width = std::max(width, point.name.size());
  fmt::print("{:>6}  {:<{}}", "index", "name", width);
  for (const std::string& axis : grid.axes) fmt::print("  {}", axis);
  fmt::print("\n");
  for (const GridPoint& point : grid.points) {
    fmt::print("{:>6}  {:<{}}", point.index, point.name, width);
    for (std::size_t k = 0; k < grid.axes.size(); ++k) {
      fmt::print("  {:<{}}", point.values[k], grid.axes[k].size());
    }
    fmt::print("\n");
  }
  return 0;
}

SweepWork work_of(const Arguments& arguments, const Grid& grid) {
  SweepWork work{grid, arguments.require("output"), 0, arguments.has("quiet")};
  if (arguments.has("jobs")) {
    const auto jobs = to_integer(arguments.get("jobs"));
    if (!jobs || *jobs < 1 || *jobs > 1024) {
      throw InputError(
          fmt::format("--jobs {}: must be a whole number from 1 to 1024", arguments.get("jobs")));
    }
    work.jobs = static_cast<int>(*jobs);
  }
  return work;
}

int run_run(const Arguments& arguments, const std::string& file) {
  const Grid grid = grid_of(arguments, file);
  return run_sweep(work_of(arguments, grid));
}

int run_one(const Arguments& arguments, const std::string& file) {
  const Grid grid = grid_of(arguments, file);
  const std::size_t index = index_of(arguments, grid);
  return run_task(work_of(arguments, grid), index);
}

int run_submit(const Arguments& arguments, const std::string& file) {
  // The grid that the tasks read says how many threads each has.
  const Assignment cpus{"run.threads", arguments.get("cpus", "1"), "--cpus"};
  const Grid grid = grid_of(arguments, file, {cpus});
  return submit_sweep(arguments, work_of(arguments, grid));
}

int run_status(const Arguments& arguments, const std::string& folder) {
  const Grid grid = stored_grid(folder);
  const std::vector<PointStatus> all = sweep_status(folder, grid.points);
  std::size_t counts[4] = {};
  for (const PointStatus& status : all) ++counts[static_cast<int>(status.state)];
  const std::size_t others = other_runs(folder, grid.points).size();
  if (arguments.has("json")) {
    json answer{{"points", all.size()}};
    for (const PointState state :
         {PointState::finished, PointState::unfinished, PointState::failed, PointState::missing}) {
      answer[state_name(state)] = counts[static_cast<int>(state)];
    }
    answer["of_other_grids"] = others;
    answer["queue"] = queue_line(folder);
    answer["status"] = json::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
      answer["status"].push_back({{"index", i},
                                  {"name", grid.points[i].name},
                                  {"state", state_name(all[i].state)},
                                  {"reason", all[i].reason},
                                  {"run", all[i].run.string()}});
    }
    fmt::print("{}\n", answer.dump(1, ' ', false, json::error_handler_t::replace));
    return 0;
  }
  fmt::print("{}: {} points: {} finished, {} unfinished, {} failed, {} missing\n", folder,
             all.size(), counts[0], counts[1], counts[2], counts[3]);
  if (others > 0) fmt::print("{} more finished runs, of earlier grids\n", others);
  const std::string queue = queue_line(folder);
  if (!queue.empty()) fmt::print("in Slurm's queue: {}\n", queue);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].state == PointState::failed) {
      fmt::print("failed: {} {}: {}\n", i, grid.points[i].name, all[i].reason);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].state == PointState::unfinished) {
      fmt::print("unfinished: {} {}\n", i, grid.points[i].name);
    }
  }
  return 0;
}

int run_collect(const Arguments& arguments, const std::string& folder) {
  CollectWork work;
  work.folder = folder;
  work.output = arguments.require("output");
  work.finite = arguments.has("finite");
  work.overwrite = arguments.has("overwrite");
  work.quiet = arguments.has("quiet");
  if (arguments.has("kernels")) {
    const auto kernels = to_integer(arguments.get("kernels"));
    if (!kernels || *kernels == 1 || *kernels > 100000000) {
      throw InputError(fmt::format(
          "--kernels {}: must be 0, for nothing of the theory, or a whole number from 2 "
          "to 1e8",
          arguments.get("kernels")));
    }
    work.kernels = *kernels;
  }
  if (work.finite && work.kernels == 0) {
    throw InputError("--finite: needs --kernels above 0");
  }
  return collect_sweep(work);
}

struct Action {
  const char* name;
  std::vector<std::string> options;  ///< that it knows, beside keys
  bool takes_keys;
  int (*run)(const Arguments&, const std::string& what);
};

const std::vector<Action>& actions() {
  static const std::vector<Action> table{
      {"expand", {"index", "json"}, true, run_expand},
      {"run", {"output", "jobs", "quiet"}, true, run_run},
      {"task", {"output", "index", "quiet"}, true, run_one},
      {"submit",
       {"output", "time", "partition", "account", "mem", "cpus", "tasks-per-job", "throttle",
        "sbatch", "table", "kernels", "finite", "overwrite", "dry-run", "quiet"},
       true,
       run_submit},
      {"status", {"json"}, false, run_status},
      {"collect", {"output", "kernels", "finite", "overwrite", "quiet"}, false, run_collect},
  };
  return table;
}

int run_sweep_command(const Arguments& arguments) {
  const std::string& name = arguments.positional[0];
  std::vector<std::string> names;
  for (const Action& action : actions()) {
    names.emplace_back(action.name);
    if (name != action.name) continue;
    for (const auto& [option, value] : arguments.options) {
      const bool known = option == "config"
                             ? action.takes_keys
                             : std::find(action.options.begin(), action.options.end(), option) !=
                                   action.options.end();
      if (!known)
        throw InputError(fmt::format("--{} is not an option of gih sweep {}", option, name));
    }
    if (!action.takes_keys && !arguments.keys.empty()) {
      throw InputError(fmt::format("{}: gih sweep {} takes no keys: the folder has its grid",
                                   arguments.keys.front().place, name));
    }
    return action.run(arguments, arguments.positional[1]);
  }
  throw InputError(fmt::format("sweep {}: must be {}; the nearest is {}", name,
                               fmt::join(names, ", "), nearest_name(name, names)));
}

}  // namespace

const Command sweep_command{
    "sweep",
    "makes a grid of configurations: expand, run, task or submit GRID.ini; status or collect "
    "FOLDER",
    "ACTION GRID.ini|FOLDER",
    true,
    {{"output,o", "FOLDER",
      "run, task, submit: folder of the run files, made if it is not there; collect: "
      "table to write, an HDF5 file"},
     {"index", "INDEX", "task: the point to make; expand: print its configuration"},
     {"jobs", "COUNT", "run: runs side by side (default: as many as are fastest)"},
     {"time", "LIMIT", "submit: time limit of a job, as Slurm takes it: 90, 1:00:00, 2-0"},
     {"partition", "NAME", "submit: partition"},
     {"account", "NAME", "submit: account"},
     {"mem", "SIZE", "submit: memory of a job, as Slurm takes it: 4G"},
     {"cpus", "COUNT", "submit: processors of a job, and threads of its runs [1]"},
     {"tasks-per-job", "COUNT", "submit: points that a job makes one after the other [1]"},
     {"throttle", "COUNT", "submit: jobs that run at once (default: as Slurm lets them)"},
     {"sbatch", "OPTIONS", "submit: more options of sbatch, without dashes: \"qos=long nice=10\""},
     {"table", "FILE", "submit: table that the last job collects (default FOLDER.h5)"},
     {"dry-run", "", "submit: print both scripts, write and submit nothing"},
     {"kernels", "COUNT",
      "collect, submit: kernels of each law for S* and the gap [2000]; 0: nothing of the theory"},
     {"finite", "", "collect, submit: also which subset the training data should select"},
     {"overwrite", "", "collect, submit: replace the table if it exists"},
     {"json", "", "expand, status: one JSON document on stdout"},
     {"quiet,q", "", "no progress"}},
    run_sweep_command};

}  // namespace gih::cli
