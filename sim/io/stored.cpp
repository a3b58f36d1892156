#include "gih/io/stored.hpp"

#include <fmt/core.h>

#include "gih/io/atomic_file.hpp"
#include "hdf5_reader.hpp"
#include "seal.hpp"

namespace gih {

bool is_hdf5(const std::filesystem::path& path) {
  return looks_binary(read_bytes(path));
}

Stored read_stored(const std::filesystem::path& path) {
  const hdf5::Reader file(read_bytes(path), path.string());
  Stored stored;  // one member after the other: gcc 12 mishandles initializers that throw
  stored.format = file.text("format");
  stored.config = file.text("config");
  return stored;
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace gih
