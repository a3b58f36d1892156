#pragma once
// A grid of configurations: a configuration whose values may be lists and ranges, and the points
// that it stands for.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "gih/app/config.hpp"

namespace gih {

/// One configuration of a grid.
struct GridPoint {
  std::size_t index = 0;
  std::string hash;  ///< 16 hexadecimal digits of what it computes: run.* keys leave it the same
  std::string name;  ///< letters, digits, - and _, under 100 bytes; ends in - and the hash
  std::vector<std::string> values;  ///< of Grid::axes
  std::vector<Assignment> keys;
  std::string config;  ///< resolved, INI text
  double bytes = 0.0;  ///< that its training run may hold
};

struct Grid {
  std::vector<std::string> axes;  ///< keys with several values, in the order of the grid
  std::vector<GridPoint> points;  ///< the last axis runs fastest
  std::string text;               ///< the grid as INI text, the same wherever it is read
  int threads = 1;                ///< run.threads
  double memory = 0.0;            ///< run.max-memory, bytes
};

constexpr std::size_t most_points = 100000;
/// Grid::text starts with it.
constexpr const char* grid_mark = "# The grid of this folder, written by gih sweep.";

/// Assignments of a grid file, unexpanded; its relative paths become those from the file's folder,
/// absolute. InputError as for read_ini.
std::vector<Assignment> read_grid(const std::filesystem::path& path);

/// Values of keys that are files: from that folder on, where they are relative.
void make_paths_absolute(std::vector<Assignment>& assignments, const std::filesystem::path& folder);

/// Every point, its configuration resolved. Later assignments of a key win. InputError naming the
/// place for what is neither a value of its key nor a list or range of values, for sweep.* keys
/// that do not fit, for a point whose keys do not fit each other, and for two points that are the
/// same.
Grid expand(const std::vector<Assignment>& assignments);

}  // namespace gih
