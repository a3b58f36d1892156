// gih memory: compressed memories, measured, trained, and their loss split, at every point of a
// grid.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli.hpp"
#include "gih/app/memory_point.hpp"
#include "gih/app/text.hpp"
#include "gih/base/error.hpp"
#include "gih/io/atomic_file.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "sweep.hpp"
#include "table_maker.hpp"

namespace gih::cli {
namespace {

constexpr std::size_t default_kernels = 8;
constexpr std::size_t most_curve_rows = 500;  // of a point

/// What is shown on the screen; the table has everything.
constexpr const char* shown[] = {"kl_unc", "kl_gih", "kl_bayes", "kl_pi", "mass_compressed"};

struct Work {
  Grid grid;
  TableMaker table{};
  std::map<std::string, bool> numeric{};
  bool quiet = false;
  std::size_t kernels = default_kernels;
};

/// Configurations leave out optional keys that have their defaults; a table has them.
std::vector<Assignment> keys_of(const GridPoint& point, const Settings& settings) {
  std::vector<Assignment> keys = read_ini(point.config, point.name);
  for (const KeyRow& row : key_table()) {
    const bool is_there = std::any_of(keys.begin(), keys.end(),
                                      [&](const Assignment& key) { return key.key == row.name; });
    if (row.optional && !is_there)
      keys.push_back({row.name, row.get(settings, nullptr), point.name});
  }
  return keys;
}

/// One point of the grid at work.
struct Job {
  const GridPoint& point;
  const Settings settings;
  MemoryPoint memory;

  std::string values() const { return fmt::format("{}", fmt::join(point.values, " ")); }
};

void start_row(Work& work, const Job& job) {
  const GridPoint& point = job.point;
  work.table.row();
  work.table.set("index", static_cast<std::int64_t>(point.index));
  work.table.set("name", point.name);
  work.table.set("status", std::string("finished"));
  work.table.set(keys_of(point, job.settings), work.numeric);
}

bool train(const Work& work, Job& job, MemoryCurve& curve) {
  if (!job.memory.is_trained()) return true;
  const auto steps = static_cast<double>(job.settings.memory.training.steps);
  Progress progress(fmt::format("training {}", job.values()), "steps", steps, 0.0, work.quiet);
  curve = job.memory.train([&](std::size_t done) {
    progress.update(static_cast<double>(done));
    return !interrupted();
  });
  return !interrupted();
}

/// Rounding makes a KL of nothing -1e-17, which would be printed as -0.0000.
double unsigned_zero(double value) {
  return std::abs(value) < 5e-5 ? 0.0 : value;
}

bool run_point(Work& work, Job& job) {
  MemoryCurve curve;
  if (!train(work, job, curve)) return false;
  std::vector<Measure> found;
  {
    const auto count = static_cast<double>(job.settings.data.validation);
    Progress progress(job.values(), "sequences", count, 0.0, work.quiet);
    found = job.memory.evaluate([&](std::size_t done) {
      progress.update(static_cast<double>(done));
      return !interrupted();
    });
  }
  if (interrupted()) return false;
  start_row(work, job);
  work.table.set("trained_loss",
                 curve.loss.empty() ? std::nan("") : static_cast<double>(curve.loss.back()));
  for (const Measure& measure : found) {
    work.table.set(measure.name, measure.mean);
    work.table.set(measure.name + "_error", measure.error);
    work.table.set(measure.name + "_count", static_cast<std::int64_t>(measure.count));
  }
  if (job.point.index == 0) {
    for (const std::string& axis : work.grid.axes) fmt::print("{}  ", axis);
    for (const char* name : shown) fmt::print("{:>18}", name);
    fmt::print("\n");
  }
  for (std::size_t k = 0; k < work.grid.axes.size(); ++k) {
    fmt::print("{:<{}}  ", job.point.values[k], work.grid.axes[k].size());
  }
  for (const char* name : shown) {
    const auto at = std::find_if(found.begin(), found.end(),
                                 [&](const Measure& measure) { return measure.name == name; });
    const bool is_known = at != found.end() && at->count > 0;
    fmt::print("{:>18}", is_known
                             ? fmt::format("{:.4f} +- {:.4f}", unsigned_zero(at->mean), at->error)
                             : "-");
  }
  fmt::print("\n");
  return true;
}

bool train_point(Work& work, Job& job) {
  if (!job.memory.is_trained()) {
    throw InputError(
        fmt::format("{}: nothing is trained: set memory.train and a compressor with weights, or of "
                    "snaptra memory.snap-queries = trained",
                    job.point.name));
  }
  MemoryCurve curve;
  if (!train(work, job, curve)) return false;
  const std::size_t every = (curve.loss.size() + most_curve_rows - 1) / most_curve_rows;
  for (std::size_t step = 0; step < curve.loss.size(); step += every) {
    // The mean of the steps that the row stands for: one batch is noisy.
    const auto mean = [&](const std::vector<double>& of) {
      const std::size_t end = std::min(step + every, of.size());
      double sum = 0.0;
      for (std::size_t i = step; i < end; ++i) sum += of[i];
      return end > step ? sum / static_cast<double>(end - step) : std::nan("");
    };
    start_row(work, job);
    work.table.set("step", static_cast<std::int64_t>(step));
    work.table.set("loss", mean(curve.loss));
    work.table.set("log_Z_loss", mean(curve.log_Z_loss));
    work.table.set("gradient_norm", mean(curve.gradient_norm));
    work.table.set("transformer_loss", mean(curve.transformer_loss));
  }
  fmt::print("{}  loss {:.6f} -> {:.6f}\n", job.values(), curve.loss.front(), curve.loss.back());
  return true;
}

bool split_point(Work& work, Job& job) {
  const LossSplit split = job.memory.split(work.kernels);
  start_row(work, job);
  work.table.set("total", split.total);
  work.table.set("total_error", split.total_error);
  work.table.set("information", split.information);
  work.table.set("information_error", split.information_error);
  work.table.set("reading", split.reading);
  work.table.set("reading_error", split.reading_error);
  fmt::print("{}  total {:.4f} +- {:.4f}  information {:.4f} +- {:.4f}  reading {:.4f} +- {:.4f}\n",
             job.values(), split.total, split.total_error, split.information,
             split.information_error, split.reading, split.reading_error);
  return !interrupted();
}

struct Action {
  const char* name;
  bool (*point)(Work&, Job&);
};
constexpr Action actions[] = {{"run", run_point}, {"train", train_point}, {"split", split_point}};

/// The first `count` actions are those of the command.
int run_actions(const Arguments& arguments, const char* command, std::size_t count,
                const std::vector<Assignment>& more) {
  const std::string& name = arguments.positional[0];
  const auto action =
      std::find_if(actions, actions + count, [&](const Action& one) { return name == one.name; });
  if (action == actions + count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.emplace_back(actions[i].name);
    throw InputError(fmt::format("{} {}: must be one of {}; the nearest is {}", command, name,
                                 fmt::join(names, ", "), nearest_name(name, names)));
  }
  Work work{grid_of(arguments, arguments.positional[1], more)};
  work.quiet = arguments.has("quiet");
  if (arguments.has("kernels")) {
    const auto kernels = to_integer(arguments.get("kernels"));
    if (name != "split" || !kernels || *kernels < 1 || *kernels > 10000) {
      throw InputError(
          fmt::format("--kernels = {}: must be a whole number from 1 to 10000, and goes with split",
                      arguments.get("kernels")));
    }
    work.kernels = *kernels;
  }
  const std::filesystem::path output = arguments.get("output");
  if (!output.empty()) check_writable_target(output, arguments.has("overwrite"));
  // Whatever cannot be made is said before the first point.
  std::vector<std::vector<Assignment>> keys;
  for (const GridPoint& point : work.grid.points) {
    const Settings settings = resolve(point.keys);
    if (action->point != train_point && settings.data.validation < 2) {
      throw InputError(
          fmt::format("data.validation = {}: must be at least 2, the sequences that are measured",
                      settings.data.validation));
    }
    check_memory(settings, MemoryPoint(settings).bytes());
    keys.push_back(keys_of(point, settings));
  }
  work.numeric = numeric_keys(keys);
  watch_interrupts();
  for (const GridPoint& point : work.grid.points) {
    const Settings settings = resolve(point.keys);
    Job job{point, settings, MemoryPoint(settings)};
    if (!action->point(work, job)) {
      tell("gih: interrupted; nothing was written\n");
      return exit_interrupted;
    }
  }
  if (output.empty()) return 0;
  const OutputLock lock(output);
  write_table(output, {work.grid.text, work.table.table(), "", "", ""});
  return 0;
}

int run_memory(const Arguments& arguments) {
  return run_actions(arguments, "memory", 3, {});
}

int run_snaptra(const Arguments& arguments) {
  return run_actions(arguments, "snaptra", 2, {{"memory.system", "snaptra", "gih snaptra"}});
}

const Option output{"output,o", "FILE",
                    "table to write, an HDF5 file: a row a point (train: a step)"};
const Option overwrite{"overwrite", "", "replace the table if it exists"};
const Option quiet{"quiet,q", "", "no progress"};

}  // namespace

const Command memory_command{
    "memory",
    "compresses the past of the second layer: run measures it, train trains the compressor, split "
    "tells what of the loss is lost information",
    "ACTION GRID.ini",
    true,
    {output, {"kernels", "COUNT", "split: kernels of the mixture [8]"}, overwrite, quiet},
    run_memory};

const Command snaptra_command{
    "snaptra",
    "sums segments of the past up by snapshots: run measures them, train trains their queries",
    "ACTION GRID.ini",
    true,
    {output, overwrite, quiet},
    run_snaptra};

}  // namespace gih::cli
