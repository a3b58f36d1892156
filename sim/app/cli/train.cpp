#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli.hpp"
#include "gih/app/training_run.hpp"
#include "gih/base/error.hpp"
#include "gih/io/atomic_file.hpp"
#include "gih/training/invariants.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "ranks.hpp"

namespace gih::cli {
namespace {

namespace fs = std::filesystem;

/// InputError when the keys that were given change what the run computes.
void check_same_run(const std::string& config, const std::string& name, const Arguments& arguments,
                    const fs::path& output) {
  if (arguments.keys.empty()) return;
  std::vector<Assignment> keys = read_ini(config, name);
  keys.insert(keys.end(), arguments.keys.begin(), arguments.keys.end());
  if (!computes_same(to_ini(resolve(keys)), config)) {
    throw InputError(fmt::format(
        "--resume {}: the run there has another configuration; leave out all keys but run.*",
        output.string()));
  }
}

TrainingRun resumed(const Arguments& arguments, const fs::path& output) {
  TrainingRun run = unfinished_run(arguments.keys, output);
  check_same_run(run.file.config, part_path(output), arguments, output);
  return run;
}

/// Shows progress.
class Watch {
 public:
  Watch(const Schedule& schedule, bool quiet) : schedule_(schedule), quiet_(quiet) {}

  bool drawing(const char* what, std::size_t total, std::size_t done) {
    if (!progress_ || drawn_ != what)
      start(drawn_ = what, "sequences", static_cast<double>(total), 0.0);
    progress_->update(static_cast<double>(done));
    return !interrupted();
  }

  bool step(const TrainState& state) {
    if (state.stage != stage_) {
      stage_ = state.stage;
      const Stage& stage = schedule_[static_cast<std::size_t>(stage_ - 1)];
      is_flow_ = stage.method == "flow";
      start(fmt::format("stage {}/{}", stage_, schedule_.size()), is_flow_ ? "time" : "epochs",
            is_flow_ ? stage.time : static_cast<double>(stage.epochs), done_of(state));
    }
    if (interrupted()) return false;
    if (progress_->due()) {
      progress_->update(
          done_of(state),
          fmt::format("loss {:.6f}", state.log.empty() ? 0.0 : state.log.back().train_loss));
    }
    return true;
  }

 private:
  double done_of(const TrainState& state) const {
    return is_flow_ ? state.time : static_cast<double>(state.step);
  }

  void start(const std::string& label, const char* unit, double total, double done) {
    progress_.reset();
    progress_ = std::make_unique<Progress>(label, unit, total, done, quiet_);
  }

  const Schedule& schedule_;
  bool quiet_;
  int stage_ = 0;
  bool is_flow_ = false;
  std::string drawn_;
  std::unique_ptr<Progress> progress_;
};

std::string summary(const TrainingRun& run) {
  const TrainState& state = run.file.state;
  const auto subsets = run.settings.model.subsets();
  const Eigen::VectorXd p = state.theta.p();
  Eigen::Index best = 0;
  p.maxCoeff(&best);
  const LogRow& last = state.log.back();
  std::string remark;
  if (state.log.size() == 1) remark = "; nothing was trained (no stage, or none with steps)";
  if (last.train_loss > state.log.front().train_loss) {
    remark =
        fmt::format("; warning: the training loss rose, from {:.6f}: is a learning rate too large?",
                    state.log.front().train_loss);
  }
  std::string flows;
  for (const FlowInvariants& of : flow_invariants(run.settings.schedule, state.log)) {
    flows += describe(of) + "\n";
  }
  return flows +
         fmt::format(
             "{}: {} log rows, train loss {:.6f}, validation loss {:.6f}, a {:.4f}, p_{} "
             "{:.6f}{}\n",
             run.output.string(), state.log.size(), last.train_loss, last.validation_loss,
             state.theta.a,
             subset_code(subsets[static_cast<std::size_t>(best)], run.settings.model.blocks()),
             p[best], remark);
}

int execute(TrainingRun& run, bool overwrite, bool quiet) {
  bool finished = false;
  {
    Watch watch(run.settings.schedule, quiet);
    finished = carry_out(run, overwrite,
                         {[&](const char* what, std::size_t total, std::size_t done) {
                            return watch.drawing(what, total, done);
                          },
                          [&](const TrainState& state) { return watch.step(state); }},
                         ranks());
  }
  if (!finished) {
    tell(fmt::format("gih: interrupted; go on with: gih train --resume {}\n", run.output.string()));
    return exit_interrupted;
  }
  if (!quiet) tell(summary(run));
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
    remove_stale_lock(output);
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
  TrainingRun run =
      resume && unfinished ? resumed(arguments, output) : new_run(arguments.keys, output);
  check_memory(run.settings, training_bytes(run.settings));
  watch_interrupts();  // before anything is written: whatever is there then can be resumed
  return execute(run, overwrite, arguments.has("quiet"));
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
