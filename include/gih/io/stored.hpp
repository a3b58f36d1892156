#pragma once
// What every HDF5 file of gih tells of itself.

#include <filesystem>
#include <string>

namespace gih {

struct Stored {
  std::string format;  ///< "gih-run", "gih-data"
  std::string config;  ///< resolved configuration of what wrote it, INI text
};

/// True when the file's first bytes are those of HDF5, damaged or not; false for text.
/// InputError when it cannot be read.
bool is_hdf5(const std::filesystem::path& path);

/// InputError naming the file unless it is a whole HDF5 file of gih.
Stored read_stored(const std::filesystem::path& path);

/// Version of the HDF5 library, "1.10.8".
std::string hdf5_version();

}  // namespace gih
