#pragma once
// The processes that mpirun or srun started together.

#include <memory>

#include "gih/base/ranks.hpp"

namespace gih::cli {

/// Opens them, once a process; null when this one is alone. InputError when there are others and
/// this build has no MPI.
std::unique_ptr<Ranks> start_ranks();

/// Those that were opened; null when this process is alone.
Ranks* ranks();

/// Ends all of them at once, where the others may wait for something that will not come.
void end_all_ranks(int status);

/// The MPI library, or "none".
std::string mpi_version();

}  // namespace gih::cli
