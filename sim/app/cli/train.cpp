#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "cli.hpp"
#include "gih/base/error.hpp"
#include "gih/io/atomic_file.hpp"
#include "gih/io/run_file.hpp"
#include "gih/model/table_engine.hpp"
#include "gih/training/trainer.hpp"
#include "interrupt.hpp"
#include "progress.hpp"

namespace gih::cli {
namespace {

namespace fs = std::filesystem;

/// run.* keys say how a run is carried out, not what it computes: they may change on resuming.
std::string without_run_keys(const std::string& config) {
  const std::size_t at = config.find("\n[run]\n");
  return config.substr(0, at);
}

/// InputError when the keys that were given change what the run computes.
void check_same_run(const std::string& config, const std::string& name, const Arguments& arguments,
                    const fs::path& output) {
  if (arguments.keys.empty()) return;
  std::vector<Assignment> keys = read_ini(config, name);
  keys.insert(keys.end(), arguments.keys.begin(), arguments.keys.end());
  if (without_run_keys(to_ini(resolve(keys))) != without_run_keys(config)) {
    throw InputError(fmt::format(
        "--resume {}: the run there has another configuration; leave out all keys but run.*",
        output.string()));
  }
}

struct Plan {
  fs::path output;
  Settings settings;
  RunFile file;  ///< configuration and state to start from
};

Plan fresh(const Arguments& arguments, const fs::path& output) {
  Plan plan;
  plan.output = output;
  plan.settings = resolve(arguments.keys);
  plan.file.config = to_ini(plan.settings);
  plan.file.model = plan.settings.model;
  plan.file.state = initial_state(initial_parameters(plan.settings));
  return plan;
}

Plan resumed(const Arguments& arguments, const fs::path& output) {
  // Member by member: gcc 12 destroys what is built twice when an aggregate's initializer throws.
  Plan plan;
  plan.output = output;
  plan.file = read_run(part_path(output));
  std::vector<Assignment> keys = read_ini(plan.file.config, part_path(output));
  for (const Assignment& key : arguments.keys) {
    if (key.key.starts_with("run.")) keys.push_back(key);
  }
  plan.settings = resolve(keys);
  check_same_run(plan.file.config, part_path(output), arguments, output);
  plan.file.config = to_ini(plan.settings);
  return plan;
}

/// Saves the unfinished run now and then, watches for interrupts, shows progress.
class Watch {
 public:
  Watch(Plan& plan, bool quiet) : plan_(plan), quiet_(quiet), saved_(Clock::now()) {}

  bool drawing(const char* what, std::size_t total, std::size_t done) {
    if (!progress_ || drawn_ != what)
      start(drawn_ = what, "sequences", static_cast<double>(total), 0.0);
    progress_->update(static_cast<double>(done));
    return !interrupted();
  }

  bool step(const TrainState& state) {
    if (state.stage != stage_) {
      stage_ = state.stage;
      const Stage& stage = plan_.settings.schedule[static_cast<std::size_t>(stage_ - 1)];
      is_flow_ = stage.method == "flow";
      start(fmt::format("stage {}/{}", stage_, plan_.settings.schedule.size()),
            is_flow_ ? "time" : "epochs", is_flow_ ? stage.time : static_cast<double>(stage.epochs),
            done_of(state));
    }
    if (interrupted()) {
      save(state);
      return false;
    }
    if (std::chrono::duration<double>(Clock::now() - saved_).count() >= plan_.settings.checkpoint)
      save(state);
    if (progress_->due()) {
      progress_->update(
          static_cast<double>(state.step),
          fmt::format("loss {:.6f}", state.log.empty() ? 0.0 : state.log.back().train_loss));
    }
    return true;
  }

  void save(const TrainState& state) {
    plan_.file.state = state;
    write_run(part_path(plan_.output), plan_.file);
    saved_ = Clock::now();
  }

  void finish() { progress_.reset(); }

 private:
  using Clock = std::chrono::steady_clock;

  double done_of(const TrainState& state) const {
    return is_flow_ ? state.time : static_cast<double>(state.step);
  }

  void start(const std::string& label, const char* unit, double total, double done) {
    progress_.reset();
    progress_ = std::make_unique<Progress>(label, unit, total, done, quiet_);
  }

  Plan& plan_;
  bool quiet_;
  int stage_ = 0;
  bool is_flow_ = false;
  std::string drawn_;
  Clock::time_point saved_;
  std::unique_ptr<Progress> progress_;
};

int stop(const fs::path& output) {
  tell(fmt::format("gih: interrupted; go on with: gih train --resume {}\n", output.string()));
  return exit_interrupted;
}

std::string summary(const Plan& plan) {
  const TrainState& state = plan.file.state;
  const auto subsets = plan.settings.model.subsets();
  const Eigen::VectorXd p = state.theta.p();
  Eigen::Index best = 0;
  p.maxCoeff(&best);
  const LogRow& last = state.log.back();
  return fmt::format(
      "{}: {} log rows, train loss {:.6f}, validation loss {:.6f}, a {:.4f}, p_{} {:.6f}\n",
      plan.output.string(), state.log.size(), last.train_loss, last.validation_loss, state.theta.a,
      subset_code(subsets[static_cast<std::size_t>(best)], plan.settings.model.blocks()), p[best]);
}

int execute(Plan& plan, bool quiet) {
  const Settings& settings = plan.settings;
  Watch watch(plan, quiet);
  const auto engine = [&](Split split, const char* what) -> std::unique_ptr<Objective> {
    const std::size_t count = settings.data.count(split);
    if (count == 0) return nullptr;
    const Prompts prompts =
        build_prompts(settings.data, settings.prompts, split, settings.thread_count(),
                      [&](std::size_t done) { return watch.drawing(what, count, done); });
    if (interrupted()) return nullptr;
    return make_table_engine(settings.model, settings.loss(), prompts, settings.thread_count());
  };
  const auto train_objective = engine(Split::train, "training data");
  const auto validation = interrupted() ? nullptr : engine(Split::validation, "validation data");
  if (interrupted()) return stop(plan.output);

  TrainState state = plan.file.state;
  if (!train(settings.schedule, settings.log_every, *train_objective, validation.get(), state,
             [&](const TrainState& at) { return watch.step(at); })) {
    watch.finish();
    return stop(plan.output);
  }
  watch.finish();
  plan.file.state = std::move(state);
  plan.file.complete = true;
  write_run(plan.output, plan.file);
  fs::remove(part_path(plan.output));
  if (!quiet) tell(summary(plan));
  return 0;
}

int run_train(const Arguments& arguments) {
  const bool resume = arguments.has("resume");
  if (resume && (arguments.has("output") || arguments.has("overwrite"))) {
    throw InputError("--resume RUN.h5 names the output itself: leave out --output and --overwrite");
  }
  const fs::path output = resume ? arguments.get("resume") : arguments.get("output", "run.h5");
  const fs::path part = part_path(output);
  std::error_code ignored;  // what is wrong with a name is said by check_writable_target
  const bool unfinished = fs::exists(part, ignored);
  // An unfinished run beside a finished one was started with --overwrite.
  const bool overwrite = arguments.has("overwrite") || (resume && unfinished);
  if (resume && !unfinished && fs::exists(output, ignored)) {
    const RunFile run = read_run(output);
    if (!run.complete) throw InputError(fmt::format("{}: is not a finished run", output.string()));
    check_same_run(run.config, output, arguments, output);
    if (!arguments.has("quiet")) tell(fmt::format("{}: is finished already\n", output.string()));
    return 0;
  }
  check_writable_target(output, overwrite);
  if (resume && !unfinished && !arguments.has("config")) {
    throw InputError(
        fmt::format("--resume {}: there is no unfinished run {}", output.string(), part.string()));
  }
  if (unfinished && !resume && !overwrite) {
    throw InputError(
        fmt::format("{}: an unfinished run is there; go on with --resume {}, or start again with "
                    "--overwrite",
                    part.string(), output.string()));
  }
  Plan plan = resume && unfinished ? resumed(arguments, output) : fresh(arguments, output);
  check_memory(plan.settings, training_bytes(plan.settings));
  watch_interrupts();  // before anything is written: whatever is there then can be resumed
  const OutputLock lock(output);
  check_writable_target(output, overwrite);  // another process may have finished it meanwhile
  // From here on a killed run can be resumed. A refusal that only the data can cause (a kernel
  // without a unique stationary law) takes back what this call has written.
  const std::string before = unfinished ? read_bytes(part) : "";
  write_run(part, plan.file);
  try {
    return execute(plan, arguments.has("quiet"));
  } catch (const InputError&) {
    if (unfinished) {
      write_atomically(part, before);
    } else {
      fs::remove(part);
    }
    throw;
  }
}

}  // namespace

const Command train_command{
    "train",
    "trains the transformer by the schedule of stage.1, stage.2, ... and writes a run file",
    "",
    true,
    {{"output,o", "FILE", "run file to write (default run.h5)"},
     {"resume", "RUN.h5",
      "go on with the unfinished run of this output; with --config, start it if there is none"},
     {"overwrite", "", "replace the output if it exists"},
     {"quiet,q", "", "no progress"}},
    run_train};

}  // namespace gih::cli
