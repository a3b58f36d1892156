#include "gih/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "gih/base/error.hpp"

namespace gih {
namespace {

namespace fs = std::filesystem;

std::string words(int error) {
  return std::generic_category().message(error);
}

[[noreturn]] void run_error(const fs::path& path, const char* action, int error) {
  throw RunError(fmt::format("{}: cannot {}: {}", path.string(), action, words(error)));
}

/// Repeats a system call that a signal interrupted.
template <typename Call>
auto restarted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// A file descriptor, closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// Removes the temporary file unless the rename has taken it away.
struct Leftover {
  const fs::path& path;
  bool renamed = false;
  ~Leftover() {
    if (!renamed) ::unlink(path.c_str());
  }
};

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// The file that a symbolic link stands for, else the path itself.
fs::path real_target(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

fs::path temporary_of(fs::path target, long process) {
  return target += fmt::format(".tmp.{}", process);
}

/// The lock file tells whose it was: what that process was writing when it was killed goes, and
/// then it tells of this one.
void clear_after_last_holder(int lock, const fs::path& path) {
  char text[32] = {};
  const ssize_t size = restarted([&] { return ::pread(lock, text, sizeof text - 1, 0); });
  const long last = size > 0 ? std::strtol(text, nullptr, 10) : 0;
  if (last > 0 && last != ::getpid()) {
    for (const char* ending : {"", ".part"}) {
      ::unlink(temporary_of(real_target(fs::path(path) += ending), last).c_str());
    }
  }
  const std::string own = fmt::format("{:<20}\n", ::getpid());
  // Where it cannot be told (a full disk) a kill leaves what it is writing, and no more.
  [[maybe_unused]] const ssize_t told =
      restarted([&] { return ::pwrite(lock, own.data(), own.size(), 0); });
}

/// The rename of a folder entry is on the disk only once the folder is. File systems that cannot
/// synchronise a folder say EINVAL or EBADF; they have done what they can.
void synchronise_folder(const fs::path& folder, const fs::path& path) {
  const Descriptor fd(
      restarted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (fd.get() < 0) return;  // a folder that may be written but not read
  if (::fsync(fd.get()) != 0 && errno != EINVAL && errno != EBADF && errno != ENOTSUP) {
    run_error(path, "force its folder to the disk", errno);
  }
}

}  // namespace

std::string read_bytes(const fs::path& path) {
  const auto fail = [&](const std::string& what) {
    throw InputError(fmt::format("{}: {}", path.string(), what));
  };
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
  const Descriptor fd(
      restarted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (fd.get() < 0) fail("cannot open: " + words(errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail("cannot read: " + words(errno));
  if (!S_ISREG(status.st_mode)) fail("is not a regular file");
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        restarted([&] { return ::read(fd.get(), bytes.data() + done, bytes.size() - done); });
    if (n < 0) fail("cannot read: " + words(errno));
    if (n == 0) break;  // became shorter meanwhile: the content decides whether it is whole
    done += static_cast<std::size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

void write_atomically(const fs::path& path, std::string_view bytes) {
  const fs::path target = real_target(path);
  struct stat status {};
  if (::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw RunError(path.string() + ": cannot write: is not a regular file");
  }
  // No O_EXCL: a killed writer's leftover of the same process number is simply written again.
  const fs::path temporary = temporary_of(target, ::getpid());
  Descriptor fd(restarted([&] {
    return ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  }));
  if (fd.get() < 0) run_error(path, "create a file beside it", errno);
  Leftover leftover{temporary};
  while (!bytes.empty()) {
    const ssize_t n = restarted([&] { return ::write(fd.get(), bytes.data(), bytes.size()); });
    if (n < 0) run_error(path, "write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  if (restarted([&] { return ::fsync(fd.get()); }) != 0) run_error(path, "write", errno);
  if (::close(fd.release()) != 0) run_error(path, "write", errno);
  if (::rename(temporary.c_str(), target.c_str()) != 0) run_error(path, "rename onto it", errno);
  leftover.renamed = true;
  synchronise_folder(folder_of(target), path);
}

void check_writable_target(const fs::path& path, bool overwrite) {
  const auto fail = [&](const std::string& what) {
    throw InputError(fmt::format("{}: {}", path.string(), what));
  };
  if (path.filename().empty()) fail("is not the name of a file");
  // Room for ".part.tmp.PID" within the 255 bytes that file systems allow.
  if (path.filename().string().size() > 220) fail("its name is longer than 220 bytes");
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) fail("is not a regular file");
    if (!overwrite) fail("exists already: --overwrite replaces it");
  } else if (errno != ENOENT && errno != ENOTDIR) {
    fail("cannot be written: " + words(errno));
  }
  const fs::path folder = folder_of(real_target(path));
  if (::stat(folder.c_str(), &status) != 0) {
    fail(fmt::format("its folder {} cannot be used: {}", folder.string(), words(errno)));
  }
  if (!S_ISDIR(status.st_mode)) fail(fmt::format("{} is not a folder", folder.string()));
  // access() also reports a read-only file system, to the superuser as well.
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    fail(fmt::format("its folder {} is not writable: {}", folder.string(), words(errno)));
  }
}

OutputLock::OutputLock(const fs::path& path, const char* held) : lock_(path) {
  lock_ += ".lock";
  for (;;) {
    Descriptor fd(restarted(
        [&] { return ::open(lock_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666); }));
    if (fd.get() < 0) {
      const int error = errno;
      if (error == ENOSPC || error == EDQUOT || error == EIO)
        run_error(path, "create its lock file", error);
      // A folder that no file can be made in, which its mode bits did not tell (/proc).
      throw InputError(
          fmt::format("{}: cannot create its lock file: {}", path.string(), words(error)));
    }
    const bool is_held = restarted([&] { return ::flock(fd.get(), LOCK_EX | LOCK_NB); }) == 0;
    if (!is_held) {
      const int error = errno;
      if (error == EWOULDBLOCK) {
        throw Busy(fmt::format("{}: {}", path.string(), held));
      }
      // A file system without locks: every write is whole anyway, so a second writer wastes its
      // time but breaks nothing, and refusing would shut out such file systems altogether.
      if (error != ENOSYS && error != ENOTSUP && error != ENOLCK) run_error(path, "lock", error);
    }
    // Between open and flock the former holder may have removed the file: then this lock is on a
    // file without a name, and the next process would lock a new one.
    struct stat locked {};
    struct stat named {};
    if (::fstat(fd.get(), &locked) == 0 && ::stat(lock_.c_str(), &named) == 0 &&
        locked.st_dev == named.st_dev && locked.st_ino == named.st_ino) {
      if (is_held) clear_after_last_holder(fd.get(), path);
      descriptor_ = fd.release();
      return;
    }
  }
}

void remove_stale_lock(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(fs::path(path) += ".lock", ignored)) return;
  try {
    const OutputLock ours(path);  // takes it along when it goes
  } catch (const Busy&) {         // somebody is at it
  }
}

OutputLock::~OutputLock() {
  ::unlink(lock_.c_str());  // while it is still held, so that nobody else's is removed
  ::close(descriptor_);
}

}  // namespace gih
