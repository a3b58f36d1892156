#pragma once
// Run files: configuration, log, final parameters, and the state to go on from. HDF5, described in
// docs/files.md. While a run goes on it lives in RUN.h5.part, which each save replaces whole.

#include <filesystem>
#include <string>
#include <vector>

#include "gih/model/parameters.hpp"
#include "gih/training/log.hpp"

namespace gih {

struct RunFile {
  std::string config;  ///< resolved configuration, INI text
  ModelSpec model;     ///< as far as shapes tell it: H, M, subsets, variant, layer norm
  TrainState state;    ///< state.log is the log; state.theta the last parameters
  bool complete = false;
  // Who wrote it, filled when reading.
  std::string gih_version, git_commit, compiler, created;
};

/// RUN.h5 -> RUN.h5.part
std::filesystem::path part_path(const std::filesystem::path& run);

/// Writes the file under a temporary name beside it and renames it over `path`, so that whoever
/// opens `path` finds it whole at any moment. RunError with the system's words when it cannot.
void write_run(const std::filesystem::path& path, const RunFile& run);

/// InputError naming the file unless it is a whole run file of a known version.
RunFile read_run(const std::filesystem::path& path);

/// A line of /checks.
struct StoredCheck {
  std::string id, statement, verdict;
  double left = 0.0, right = 0.0, slack = 0.0;
};

/// Adds /checks to a run file, or replaces them; everything else in it stays as it is. InputError
/// unless it is a whole run file; atomic like write_run.
void write_checks(const std::filesystem::path& path, const std::vector<StoredCheck>& checks);

}  // namespace gih
