#pragma once
// One training run, from its keys to its finished file. gih train makes one, gih sweep many.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gih/app/config.hpp"
#include "gih/base/ranks.hpp"
#include "gih/io/run_file.hpp"

namespace gih {

struct TrainingRun {
  std::filesystem::path output;
  Settings settings;
  RunFile file;  ///< configuration and state to start from, then to end with
};

TrainingRun new_run(const std::vector<Assignment>& keys, const std::filesystem::path& output);

/// The unfinished run of this output. Of `keys` only run.* change it.
TrainingRun unfinished_run(const std::vector<Assignment>& keys,
                           const std::filesystem::path& output);

/// Two resolved configurations compute the same: run.* keys say how a run is carried out, not what
/// it computes.
bool computes_same(const std::string& config, const std::string& other);

/// The part of a resolved configuration that says what is computed.
std::string what_is_computed(const std::string& config);

/// Both hear of the work often; the run stops where one returns false.
struct RunObserver {
  /// `done` of `total` sequences of training or validation data are drawn.
  std::function<bool(const char* what, std::size_t total, std::size_t done)> drawing;
  std::function<bool(const TrainState&)> step;
};

/// Trains to the end and leaves the finished file under its name (true), or until the observer
/// stops it, with all that was done in the unfinished file (false), which is also saved every
/// run.checkpoint seconds. Alone at its output meanwhile (OutputLock). InputError before anything
/// is written, or after what this call wrote was taken back. With `ranks` this is rank 0, and the
/// others are in help_train; the file has the same bytes.
bool carry_out(TrainingRun& run, bool overwrite, const RunObserver& observer,
               Ranks* ranks = nullptr);

}  // namespace gih
