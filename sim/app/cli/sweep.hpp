#pragma once
// What gih sweep does with a grid, beside listing it.

#include <filesystem>
#include <string>
#include <vector>

#include "cli.hpp"
#include "gih/app/grid.hpp"

namespace gih::cli {

/// Files of --config, then the grid, then options: later wins. `more` comes last.
Grid grid_of(const Arguments& arguments, const std::string& file,
             const std::vector<Assignment>& more = {});

struct SweepWork {
  const Grid& grid;
  std::filesystem::path folder;
  int jobs = 0;  ///< runs side by side; 0: as many as are fastest
  bool quiet = false;
};

/// All points that are not finished. Exit status.
int run_sweep(const SweepWork& work);

/// Hands all points that are not finished to Slurm. Exit status.
int submit_sweep(const Arguments& arguments, const SweepWork& work);

/// What Slurm has queued or runs for the folder: "2 pending, 1 running"; empty where it has
/// nothing, or there is no Slurm.
std::string queue_line(const std::filesystem::path& folder);

/// One point; the folder may be shared with others that make other points. Exit status.
int run_task(const SweepWork& work, std::size_t index);

struct CollectWork {
  std::filesystem::path folder, output;
  std::size_t kernels = 2000;  ///< that S* and the gap are means over; 0: nothing of the theory
  bool finite = false;         ///< also what is selected at finite length, from the training data
  bool overwrite = false, quiet = false;
};

/// One table of all points. Exit status.
int collect_sweep(const CollectWork& work);

}  // namespace gih::cli
