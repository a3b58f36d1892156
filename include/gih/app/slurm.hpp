#pragma once
// What gih sweep submit hands to Slurm: a job array that makes the points of a sweep's folder, and
// a job after it that collects them. Texts alone; nothing here runs a program.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gih {

struct SlurmJob {
  std::filesystem::path program;  ///< gih, absolute
  std::filesystem::path table;    ///< what is collected, absolute
  std::size_t points = 1;
  std::size_t points_per_task = 1;
  std::vector<std::size_t> tasks;     ///< that have something to do, ascending
  std::size_t throttle = 0;           ///< tasks at once; 0: as many as there are
  int cpus = 1;                       ///< of each task
  std::string time;                   ///< as Slurm takes it
  std::vector<std::string> options;   ///< more lines for sbatch: "--partition=long"
  std::vector<std::string> collects;  ///< more words of gih sweep collect
};

/// Seconds of a limit as Slurm writes it: MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS,
/// DAYS-HOURS, DAYS-HOURS:MINUTES or DAYS-HOURS:MINUTES:SECONDS; nothing for another text or for 0.
std::optional<std::size_t> slurm_seconds(const std::string& time);

/// Ascending numbers as Slurm writes a set: {0, 1, 2, 7} is "0-2,7".
std::string slurm_set(const std::vector<std::size_t>& numbers);

/// The array's script, to be handed to sbatch in the folder of the sweep. Each task makes its
/// points one after the other. Before its time ends Slurm warns it; it saves and is queued again.
std::string array_script(const SlurmJob& job);

/// The script of the job that collects.
std::string collect_script(const SlurmJob& job);

/// A word for a shell, whatever is in it.
std::string shell_word(const std::string& text);

}  // namespace gih
