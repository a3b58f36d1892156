#include "gih/io/atomic_file.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "scratch.hpp"

using namespace gih;
namespace fs = std::filesystem;

namespace {

/// Files of this process end at `bytes`, as on a disk that is full.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

}  // namespace

TEST_CASE("a file is written, replaced and read back whole") {
  const Scratch scratch;
  const fs::path path = scratch / "file";
  const std::string first("a\0b\nc", 5);
  write_atomically(path, first);
  CHECK(read_bytes(path) == first);
  write_atomically(path, "");
  CHECK(read_bytes(path).empty());
  const std::string large(3 << 20, 'x');
  write_atomically(path, large);
  CHECK(read_bytes(path) == large);
  CHECK(scratch.count() == 1);
}

TEST_CASE("a write that fails leaves the old file and nothing else") {
  const Scratch scratch;
  const fs::path path = scratch.put("run.h5", "old");
  std::string message;
  {
    const SmallDisk full(1000);
    message = message_of<RunError>([&] { write_atomically(path, std::string(5000, 'x')); });
  }
  CHECK(contains(message, path.string()));
  CHECK(contains(message, "File too large"));
  CHECK(read_bytes(path) == "old");
  CHECK(scratch.count() == 1);

  message = message_of<RunError>([&] { write_atomically(scratch / "none" / "run.h5", "new"); });
  CHECK(contains(message, "No such file or directory"));
}

TEST_CASE("a killed writer's leftover does not matter") {
  const Scratch scratch;
  const std::string leftover = "run.h5.tmp." + std::to_string(::getpid());
  scratch.put(leftover.c_str(), "half of something longer than the new file");
  write_atomically(scratch / "run.h5", "new");
  CHECK(read_bytes(scratch / "run.h5") == "new");
  CHECK(scratch.count() == 1);
}

TEST_CASE("what the last holder was writing when it was killed goes, and nothing else") {
  const Scratch scratch;
  const fs::path run = scratch / "run.h5";
  for (const char* name : {"run.h5.tmp.123456", "run.h5.part.tmp.123456", "run.h5.part",
                           "run.h5.tmp.654321", "other.h5.tmp.123456"}) {
    scratch.put(name, "half");
  }
  scratch.put("run.h5.lock", "123456\n");
  {
    const OutputLock lock(run);
    CHECK(read_bytes(scratch / "run.h5.lock").starts_with(std::to_string(::getpid())));
  }
  CHECK(!fs::exists(scratch / "run.h5.tmp.123456"));
  CHECK(!fs::exists(scratch / "run.h5.part.tmp.123456"));
  CHECK(scratch.count() == 3);
  scratch.put("run.h5.lock", "not a number");
  remove_stale_lock(run);
  CHECK(scratch.count() == 3);
  const OutputLock held(run);
  remove_stale_lock(run);
  CHECK(fs::exists(scratch / "run.h5.lock"));
}

TEST_CASE("a symbolic link stays one and its file is replaced") {
  const Scratch scratch;
  fs::create_directory(scratch / "elsewhere");
  const fs::path file = scratch / "elsewhere/run.h5";
  write_atomically(file, "old");
  fs::create_symlink("elsewhere/run.h5", scratch / "link.h5");
  check_writable_target(scratch / "link.h5", true);
  write_atomically(scratch / "link.h5", "new");
  CHECK(fs::is_symlink(scratch / "link.h5"));
  CHECK(read_bytes(file) == "new");
}

TEST_CASE("what is no regular file is neither read nor replaced") {
  const Scratch scratch;
  fs::create_directory(scratch / "folder");
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  for (const char* name : {"folder", "pipe"}) {
    CAPTURE(name);
    CHECK(contains(message_of<InputError>([&] { read_bytes(scratch / name); }), "not a regular"));
    CHECK(contains(message_of<RunError>([&] { write_atomically(scratch / name, "new"); }),
                   "not a regular"));
  }
  CHECK(scratch.count() == 2);
  CHECK(contains(message_of<InputError>([&] { read_bytes(scratch / "none"); }),
                 "none: cannot open: No such file or directory"));
}

TEST_CASE("targets that cannot become a file are refused before the start") {
  const Scratch scratch;
  const fs::path old = scratch.put("old.h5", "old");
  const auto refusal = [](const fs::path& path, bool overwrite = false) {
    return message_of<InputError>([&] { check_writable_target(path, overwrite); });
  };
  CHECK(refusal(scratch / "new.h5").empty());
  CHECK(!contains(refusal("name-without-folder.h5"), "cannot be used"));
  CHECK(contains(refusal(old), "exists already"));
  CHECK(refusal(old, true).empty());
  CHECK(contains(refusal(scratch.folder, true), "not a regular file"));
  CHECK(contains(refusal("/dev/full", true), "/dev/full: is not a regular file"));
  CHECK(contains(refusal(scratch / "none/new.h5"), "none cannot be used: No such file"));
  CHECK(contains(refusal(scratch / "old.h5/new.h5"), "is not a folder"));
  CHECK(contains(refusal(scratch / "folder/"), "is not the name of a file"));
  CHECK(contains(refusal(scratch / std::string(250, 'x').c_str()), "longer than 220 bytes"));
  if (::geteuid() != 0) {
    fs::create_directory(scratch / "locked");
    fs::permissions(scratch / "locked", fs::perms::owner_read | fs::perms::owner_exec);
    CHECK(contains(refusal(scratch / "locked/new.h5"), "not writable: Permission denied"));
  }
  CHECK(read_bytes(old) == "old");
}

TEST_CASE("one writer at a time") {
  const Scratch scratch;
  const fs::path path = scratch / "run.h5";
  std::optional<OutputLock> first(path);
  CHECK(fs::exists(scratch / "run.h5.lock"));
  CHECK(message_of<InputError>([&] { OutputLock second(path); }) ==
        path.string() + ": another process is writing it");
  const OutputLock other(scratch / "other.h5");
  first.reset();
  CHECK(!fs::exists(scratch / "run.h5.lock"));
  scratch.put("run.h5.lock", "");  // what a killed process leaves
  first.emplace(path);
  CHECK(contains(message_of<InputError>([&] { OutputLock second(path); }), "another process"));
}

TEST_CASE("of many processes that start at once exactly one at a time holds the lock") {
  const Scratch scratch;
  const fs::path path = scratch / "run.h5";
  const fs::path inside = scratch / "inside";
  constexpr int processes = 8;
  constexpr int rounds = 300;
  for (int i = 0; i < processes; ++i) {
    const pid_t pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid != 0) continue;
    // A folder can be made by one only: it proves that nobody else is inside.
    int held = 0;
    for (int round = 0; round < rounds; ++round) {
      try {
        const OutputLock lock(path);
        if (::mkdir(inside.c_str(), 0700) != 0) ::_exit(2);
        if (::rmdir(inside.c_str()) != 0) ::_exit(3);
        ++held;
      } catch (const InputError&) {
      }
    }
    ::_exit(held > 0 ? 0 : 1);
  }
  int collisions = 0;
  int successes = 0;
  for (int i = 0; i < processes; ++i) {
    int status = 0;
    REQUIRE(::wait(&status) > 0);
    REQUIRE(WIFEXITED(status));
    collisions += WEXITSTATUS(status) > 1;
    successes += WEXITSTATUS(status) == 0;
  }
  CHECK(collisions == 0);
  CHECK(successes > 0);
}
