#pragma once
// Making the points of a grid on this machine.

#include <filesystem>
#include <vector>

#include "gih/app/grid.hpp"

namespace gih::cli {

struct SweepWork {
  const Grid& grid;
  std::filesystem::path folder;
  int jobs = 0;  ///< runs side by side; 0: as many as are fastest
  bool quiet = false;
};

/// All points that are not finished. Exit status.
int run_sweep(const SweepWork& work);

/// One point; the folder may be shared with others that make other points. Exit status.
int run_task(const SweepWork& work, std::size_t index);

}  // namespace gih::cli
