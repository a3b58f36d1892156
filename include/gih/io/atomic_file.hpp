#pragma once
// Whole files in and out. A file appears under its name complete or not at all, and one process at
// a time writes an output.

#include <filesystem>
#include <string>
#include <string_view>

#include "gih/base/error.hpp"

namespace gih {

/// All bytes of a regular file; InputError naming it when it cannot be read.
std::string read_bytes(const std::filesystem::path& path);

/// Writes path.tmp.PID beside `path`, forces it to the disk and renames it over `path`: whoever
/// opens `path` finds the old content or the new, also after a kill or a power cut. A symbolic link
/// keeps pointing to the file that is replaced. RunError with the system's words ("No space left on
/// device") when it cannot; the old file stays and nothing is left beside it.
void write_atomically(const std::filesystem::path& path, std::string_view bytes);

/// InputError unless write_atomically can create `path`: its folder exists and is writable, and
/// nothing is there yet, or a regular file that may be overwritten. Asked before a long run starts.
void check_writable_target(const std::filesystem::path& path, bool overwrite);

/// Another process is at an output.
class Busy : public InputError {
 public:
  using InputError::InputError;
};

/// Held while an output is being made: an advisory lock on path.lock, which goes with the object,
/// and with the process however it ends. What the last holder was writing when it was killed, a
/// path.tmp.PID or path.part.tmp.PID, is removed.
class OutputLock {
 public:
  /// Busy, saying `held`, when another process, or another object here, holds it; InputError when
  /// the folder takes no file; RunError when the disk is full.
  explicit OutputLock(const std::filesystem::path& path,
                      const char* held = "another process is writing it");
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  std::filesystem::path lock_;
  int descriptor_ = -1;
};

/// Removes the lock that a process killed at its very end left beside a finished output, if nobody
/// holds it.
void remove_stale_lock(const std::filesystem::path& path);

}  // namespace gih
