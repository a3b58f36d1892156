// gih sweep submit, and what gih sweep status asks Slurm.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "cli.hpp"
#include "gih/app/slurm.hpp"
#include "gih/app/sweep_folder.hpp"
#include "gih/app/text.hpp"
#include "gih/base/error.hpp"
#include "gih/io/atomic_file.hpp"
#include "progress.hpp"
#include "sweep.hpp"

namespace gih::cli {
namespace {

namespace fs = std::filesystem;

struct Ran {
  int status = 0;
  std::string text;  ///< stdout and stderr

  std::string first_line() const { return text.substr(0, text.find('\n')); }
};

Ran run_in(const fs::path& folder, const std::string& command) {
  const std::string line =
      fmt::format("cd {} && {{ {}; }} 2>&1 </dev/null", shell_word(folder.string()), command);
  FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) throw RunError(fmt::format("cannot start a shell for: {}", command));
  Ran ran;
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    ran.text.append(buffer, n);
  }
  const int ended = pclose(pipe);
  ran.status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 1;
  return ran;
}

/// The number of the job that `sbatch --parsable` says, on a line of its own.
std::string submitted(const fs::path& folder, const std::string& arguments) {
  const Ran ran = run_in(folder, "sbatch --parsable " + arguments);
  if (ran.status == 127) {
    throw InputError(
        "sbatch: not found on PATH; gih sweep submit needs Slurm, gih sweep run does not");
  }
  for (const std::string& line : split(ran.text, '\n')) {
    const std::string id = line.substr(0, line.find(';'));  // ";CLUSTER" may follow
    if (ran.status == 0 && to_integer(id)) return id;
  }
  throw RunError(fmt::format("sbatch ended with status {}: {}", ran.status, ran.first_line()));
}

fs::path jobs_path(const fs::path& folder) {
  return folder / "slurm" / "arrays";
}

std::vector<std::string> arrays_of(const fs::path& folder) {
  std::error_code ignored;
  std::vector<std::string> ids;
  if (!fs::exists(jobs_path(folder), ignored)) return ids;
  for (const std::string& line : split(read_bytes(jobs_path(folder)), '\n')) {
    if (to_integer(line)) ids.push_back(line);
  }
  return ids;
}

std::size_t whole(const Arguments& arguments, const char* name, std::size_t otherwise,
                  std::size_t most) {
  if (!arguments.has(name)) return otherwise;
  const auto value = to_integer(arguments.get(name));
  if (!value || *value < 1 || *value > most) {
    throw InputError(fmt::format("--{} {}: must be a whole number from 1 to {}", name,
                                 arguments.get(name), most));
  }
  return *value;
}

/// Lines for sbatch from options of one word.
std::vector<std::string> sbatch_options(const Arguments& arguments) {
  std::vector<std::string> lines;
  const auto safe = [](const std::string& word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return std::isalnum(c) || std::string_view("_.,:/@=+-").find(char(c)) != std::string::npos;
    });
  };
  for (const char* name : {"partition", "account", "mem"}) {
    if (!arguments.has(name)) continue;
    if (!safe(arguments.get(name))) {
      throw InputError(fmt::format("--{} {}: must be letters, digits and any of _.,:/@=+-", name,
                                   arguments.get(name)));
    }
    lines.push_back(fmt::format("--{}={}", name, arguments.get(name)));
  }
  for (const std::string& word : split(arguments.get("sbatch"), ' ')) {
    if (word.empty()) continue;
    if (!safe(word) || word.starts_with('-')) {
      throw InputError(fmt::format(
          "--sbatch {}: must be options of sbatch without their dashes, NAME or NAME=VALUE, "
          "separated by blanks",
          arguments.get("sbatch")));
    }
    lines.push_back("--" + word);
  }
  return lines;
}

SlurmJob job_of(const Arguments& arguments, const SweepWork& work) {
  SlurmJob job;
  job.program = fs::read_symlink("/proc/self/exe");
  const std::size_t points = work.grid.points.size();
  job.points = points;
  job.points_per_task = whole(arguments, "tasks-per-job", 1, points);
  job.throttle = whole(arguments, "throttle", 0, 100000);
  job.cpus = work.grid.threads;
  job.time = arguments.require("time");
  if (!slurm_seconds(job.time)) {
    throw InputError(fmt::format(
        "--time {}: must be a limit above 0 as Slurm takes it: MINUTES, HOURS:MINUTES:SECONDS or "
        "DAYS-HOURS",
        job.time));
  }
  job.options = sbatch_options(arguments);
  fs::path beside = (fs::absolute(work.folder) / "").lexically_normal().parent_path();
  beside += ".h5";
  const fs::path table =
      arguments.has("table") ? fs::absolute(arguments.get("table")) : std::move(beside);
  check_writable_target(table, arguments.has("overwrite"));
  job.table = table;
  if (arguments.has("kernels")) job.collects = {"--kernels", arguments.get("kernels")};
  if (arguments.has("finite")) job.collects.emplace_back("--finite");
  return job;
}

/// Tasks that have a point which is not finished.
std::vector<std::size_t> tasks_to_do(const std::vector<PointStatus>& status,
                                     std::size_t points_per_task) {
  std::vector<std::size_t> tasks;
  for (std::size_t i = 0; i < status.size(); ++i) {
    const std::size_t task = i / points_per_task;
    if (status[i].state == PointState::finished) continue;
    if (tasks.empty() || tasks.back() != task) tasks.push_back(task);
  }
  return tasks;
}

}  // namespace

std::string queue_line(const fs::path& folder) {
  const std::vector<std::string> ids = arrays_of(folder);
  if (ids.empty()) return "";
  std::map<std::string, int> states;
  for (const std::string& id : ids) {
    const Ran ran = run_in(folder, "squeue --noheader --array --format=%T --jobs=" + id);
    if (ran.status == 127) return "";
    if (ran.status != 0) continue;  // it ended long ago, and Slurm has forgotten it
    for (std::string state : split(ran.text, '\n')) {
      std::transform(state.begin(), state.end(), state.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (!state.empty()) ++states[state];
    }
  }
  std::string text;
  for (const auto& [state, count] : states) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, state);
  }
  return text;
}

int submit_sweep(const Arguments& arguments, const SweepWork& work) {
  SlurmJob job = job_of(arguments, work);
  if (arguments.has("dry-run")) {
    std::error_code ignored;
    const bool there = fs::exists(grid_path(work.folder), ignored);
    job.tasks = tasks_to_do(
        there ? sweep_status(work.folder, work.grid.points) : std::vector<PointStatus>(job.points),
        job.points_per_task);
    fmt::print("{}\n{}", array_script(job), collect_script(job));
    return 0;
  }
  make_sweep_folder(work.folder);
  const OutputLock lock(grid_path(work.folder), "another gih sweep works in this folder");
  const std::string queued = queue_line(work.folder);
  if (!queued.empty()) {
    throw InputError(
        fmt::format("{}: its array {} is in the queue still ({}): wait for it, or scancel it",
                    work.folder.string(), arrays_of(work.folder).back(), queued));
  }
  store_grid(work.folder, work.grid);
  const auto status = sweep_status(work.folder, work.grid.points);
  job.tasks = tasks_to_do(status, job.points_per_task);
  if (job.tasks.empty()) {
    tell(fmt::format("{}: all {} points are finished, nothing to submit\n", work.folder.string(),
                     job.points));
    return 0;
  }
  fs::create_directories(work.folder / "slurm");
  write_atomically(work.folder / "slurm" / "array.sh", array_script(job));
  write_atomically(work.folder / "slurm" / "collect.sh", collect_script(job));
  const std::string array = submitted(work.folder, "slurm/array.sh");
  std::string ids;
  for (const std::string& id : arrays_of(work.folder)) ids += id + "\n";
  write_atomically(jobs_path(work.folder), ids + array + "\n");
  const std::string after =
      submitted(work.folder, fmt::format("--dependency=afterany:{} slurm/collect.sh", array));
  if (!work.quiet) {
    tell(fmt::format("{}: array {} of {} tasks for {} points; then job {} writes {}\n",
                     work.folder.string(), array, job.tasks.size(), job.points, after,
                     job.table.string()));
  }
  return 0;
}

}  // namespace gih::cli
