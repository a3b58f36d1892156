#pragma once
// The folder of a sweep: grid.ini, and for each point that was begun its run file NAME.h5, its
// unfinished run NAME.h5.part, or why it failed, NAME.h5.failed. A point is known by the hash that
// its name ends in, so another grid finds the points that it shares with an earlier one.

#include <filesystem>

#include <string>
#include <vector>

#include "gih/app/grid.hpp"

namespace gih {

enum class PointState { finished, unfinished, failed, missing };

const char* state_name(PointState state);

/// Where a point stands.
struct PointStatus {
  std::filesystem::path run;  ///< its run file, made or to be made
  PointState state = PointState::missing;
  std::string reason;  ///< of a failure
};

/// The grid that the folder was last given; InputError when there is none.
Grid stored_grid(const std::filesystem::path& folder);

/// Makes the folder, or takes one that is empty or holds a sweep; InputError for any other.
void make_sweep_folder(const std::filesystem::path& folder);

/// What one process at a time holds to give the folder a grid (OutputLock).
std::filesystem::path grid_path(const std::filesystem::path& folder);

/// The folder has this very grid.
bool holds_grid(const std::filesystem::path& folder, const Grid& grid);
void store_grid(const std::filesystem::path& folder, const Grid& grid);

/// Status of each point, in their order, by the names in the folder (one listing of it).
std::vector<PointStatus> sweep_status(const std::filesystem::path& folder,
                                      const std::vector<GridPoint>& points);

/// Finished runs that are not among the points: those of earlier grids, by name.
std::vector<std::filesystem::path> other_runs(const std::filesystem::path& folder,
                                              const std::vector<GridPoint>& points);

/// NAME.h5 -> NAME.h5.failed
std::filesystem::path failure_path(const std::filesystem::path& run);

}  // namespace gih
