#include "gih/app/training_run.hpp"

#include <chrono>
#include <memory>

#include "gih/app/shared_training.hpp"
#include "gih/base/error.hpp"
#include "gih/data/shared_prompts.hpp"
#include "gih/io/atomic_file.hpp"
#include "gih/model/table_engine.hpp"
#include "gih/training/trainer.hpp"

namespace gih {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

void save(TrainingRun& run, const TrainState& state) {
  run.file.state = state;
  write_run(part_path(run.output), run.file);
}

bool train_to_end(TrainingRun& run, const RunObserver& observer, Ranks* ranks) {
  const Settings& settings = run.settings;
  bool stopped = false;
  std::int32_t engines = 0;
  const auto engine = [&](Split split, const char* what) -> std::unique_ptr<Objective> {
    const std::size_t count = settings.data.count(split);
    if (count == 0 || stopped) return nullptr;
    const auto done = [&](std::size_t drawn) { return observer.drawing(what, count, drawn); };
    Prompts prompts;
    if (ranks) {
      order_drawing(*ranks, run.file.config, split);
      prompts = collect_prompts(*ranks, settings.data, settings.prompts, split,
                                settings.thread_count(), done);
    } else {
      prompts =
          build_prompts(settings.data, settings.prompts, split, settings.thread_count(), done);
    }
    stopped = prompts.count() == 0;
    if (stopped) return nullptr;
    return make_table_engine(settings.model, settings.loss(), prompts, settings.thread_count(),
                             {ranks, engines++});
  };
  const auto train_objective = engine(Split::train, "training data");
  const auto validation = engine(Split::validation, "validation data");
  if (stopped) return false;

  Clock::time_point saved = Clock::now();
  TrainState state = run.file.state;
  const bool ended = train(settings.schedule, settings.log_every, *train_objective,
                           validation.get(), state, [&](const TrainState& at) {
                             const bool goes_on = observer.step(at);
                             const std::chrono::duration<double> since = Clock::now() - saved;
                             if (!goes_on || since.count() >= settings.checkpoint) {
                               save(run, at);
                               saved = Clock::now();
                             }
                             return goes_on;
                           });
  if (!ended) return false;
  run.file.state = std::move(state);
  run.file.complete = true;
  write_run(run.output, run.file);
  fs::remove(part_path(run.output));
  return true;
}

}  // namespace

TrainingRun new_run(const std::vector<Assignment>& keys, const fs::path& output) {
  TrainingRun run;
  run.output = output;
  run.settings = resolve(keys);
  run.file.config = to_ini(run.settings);
  run.file.model = run.settings.model;
  run.file.state = initial_state(initial_parameters(run.settings));
  return run;
}

TrainingRun unfinished_run(const std::vector<Assignment>& keys, const fs::path& output) {
  // Member by member: gcc 12 destroys what is built twice when an aggregate's initializer throws.
  TrainingRun run;
  run.output = output;
  run.file = read_run(part_path(output));
  std::vector<Assignment> all = read_ini(run.file.config, part_path(output));
  for (const Assignment& key : keys) {
    if (key.key.starts_with("run.")) all.push_back(key);
  }
  run.settings = resolve(all);
  run.file.config = to_ini(run.settings);
  return run;
}

std::string what_is_computed(const std::string& config) {
  return config.substr(0, config.find("\n[run]\n"));
}

bool computes_same(const std::string& config, const std::string& other) {
  return what_is_computed(config) == what_is_computed(other);
}

bool carry_out(TrainingRun& run, bool overwrite, const RunObserver& observer, Ranks* ranks) {
  const OutputLock lock(run.output);
  check_writable_target(run.output, overwrite);  // another process may have finished it meanwhile
  const fs::path part = part_path(run.output);
  // From here on a killed run can be resumed. A refusal that only the data can cause (a kernel
  // without a unique stationary law) takes back what this call has written.
  std::error_code ignored;
  const bool was_there = fs::exists(part, ignored);
  const std::string before = was_there ? read_bytes(part) : "";
  write_run(part, run.file);
  try {
    return train_to_end(run, observer, ranks);
  } catch (const InputError&) {
    if (was_there) {
      write_atomically(part, before);
    } else {
      fs::remove(part);
    }
    throw;
  }
}

}  // namespace gih
