#pragma once
// What the fuzz targets share: bytes become a file where a reader wants one, and whatever a reader
// may throw is caught; anything else that comes out of it is a find.

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "gih/base/error.hpp"

namespace gih::fuzz {

/// The file of this process, in memory where the system has such a place, with these bytes.
inline const std::filesystem::path& file_of(const std::string& bytes) {
  static const std::filesystem::path path =
      (std::filesystem::exists("/dev/shm") ? std::filesystem::path("/dev/shm")
                                           : std::filesystem::temp_directory_path()) /
      ("gih-fuzz-" + std::to_string(getpid()));
  static const int once = std::atexit([] { unlink(path.c_str()); });
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (once != 0 || fd < 0 || write(fd, bytes.data(), bytes.size()) < 0) std::abort();
  close(fd);
  return path;
}

template <typename Reader>
void try_reading(Reader reader) {
  try {
    reader();
  } catch (const InputError& error) {
    if (std::string(error.what()).empty()) std::abort();
  }
}

}  // namespace gih::fuzz
