#include <fmt/format.h>

#include <Eigen/Core>
#include <boost/version.hpp>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "gih/base/build.hpp"
#include "gih/base/error.hpp"
#include "gih/io/stored.hpp"
#include "ranks.hpp"

namespace gih::cli {
namespace {

int run_help(const Arguments& arguments) {
  if (arguments.positional.front() != "keys") {
    throw InputError(
        fmt::format("help \"{}\": must be keys or a command", arguments.positional.front()));
  }
  fmt::print("{}", key_table_markdown());
  return 0;
}

}  // namespace

std::string version_text() {
  const BuildInfo& build = build_info();
  return fmt::format(
      "gih {} (commit {}, {} build for {}, {})\n"
      "Eigen {}.{}.{}, Boost {}.{}.{}, HDF5 {}, fmt {}.{}.{}, nlohmann-json {}.{}.{}, MPI {}\n",
      build.version, build.git_commit, build.build_type, build.instruction_set, build.compiler,
      EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, BOOST_VERSION / 100000,
      BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100, hdf5_version(), FMT_VERSION / 10000,
      FMT_VERSION / 100 % 100, FMT_VERSION % 100, NLOHMANN_JSON_VERSION_MAJOR,
      NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH, mpi_version());
}

const Command help_command{
    "help", "prints a command's help (gih help train) or the table of keys (gih help keys)",
    "keys", false,
    {},     run_help};

}  // namespace gih::cli
