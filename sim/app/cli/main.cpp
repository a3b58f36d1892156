// Finds the command, runs it, and turns what it throws into one line and an exit status.
#include <fmt/format.h>

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "cli.hpp"
#include "gih/app/shared_training.hpp"
#include "gih/base/error.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "ranks.hpp"

namespace gih::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> table{
      sample_command, train_command,  evaluate_command, information_command, verify_command,
      sweep_command,  memory_command, snaptra_command,  show_command,        help_command};
  return table;
}

namespace {

void print_usage() {
  fmt::print(
      "gih: training dynamics of induction heads, simulated and checked against theory\n\n"
      "usage: gih COMMAND [options]\n\n");
  for (const Command& command : commands())
    fmt::print("  {:<12} {}\n", command.name, command.summary);
  fmt::print(
      "\n  gih COMMAND --help   options of a command and all configuration keys\n"
      "  gih --version        version, commit, compiler, libraries\n");
}

int run(int argc, char** argv) {
  if (argc < 2) throw InputError("a command is missing; see gih --help");
  if (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0) {
    print_usage();
    return 0;
  }
  if (std::strcmp(argv[1], "--version") == 0) {
    fmt::print("{}", version_text());
    return 0;
  }
  if (std::strcmp(argv[1], "help") == 0 && argc == 2) {
    print_usage();
    return 0;
  }
  if (std::strcmp(argv[1], "help") == 0 && argc == 3) {
    for (const Command& command : commands()) {
      const char* const words[] = {command.name, "--help"};
      if (std::strcmp(argv[2], command.name) == 0) return parse(command, 2, words) ? 1 : 0;
    }
  }
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    names.emplace_back(command.name);
    if (std::strcmp(argv[1], command.name) != 0) continue;
    const auto arguments = parse(command, argc - 1, argv + 1);
    return arguments ? command.run(*arguments) : 0;
  }
  throw InputError(fmt::format("\"{}\" is not a command; the nearest is {}; see gih --help",
                               argv[1], nearest_name(argv[1], names)));
}

/// An answer that the disk did not take is no answer.
void check_stdout() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw RunError("cannot write to stdout: " + std::generic_category().message(errno));
}

/// One line, whatever the names and values in it hold.
void say(std::string what) {
  std::replace_if(
      what.begin(), what.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  tell(fmt::format("gih: {}\n", what));
}

/// Sequences of thousands of tokens take and free megabytes each. glibc gives such blocks back to
/// the system at once, and getting them again costs more than what is computed in them.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // bytes; larger blocks still go back
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

/// Exit status of the work, whatever it throws.
template <class Work>
int guarded(const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    say(error.what());
    return exit_refused;
  } catch (const std::bad_alloc&) {
    say("out of memory: use fewer or shorter sequences, or a smaller vocabulary");
    return exit_failed;
  } catch (const std::exception& error) {
    say(error.what());
    return exit_failed;
  }
}

int run_checked(int argc, char** argv) {
  return guarded([&] {
    const int status = run(argc, argv);
    check_stdout();
    return status;
  });
}

/// Rank 0 runs the command, and the others help where it asks them to.
int run_on_ranks(Ranks& ranks, int argc, char** argv) {
  int status = 0;
  if (ranks.rank() > 0) {
    watch_interrupts();  // rank 0 ends the run, and saves it
    status = guarded([&] { return help_train(ranks, [] { return !interrupted(); }); });
  } else {
    if (argc < 2 || std::strcmp(argv[1], "train") != 0) {
      tell(fmt::format("gih: {} processes, of which one works: only gih train is shared\n",
                       ranks.count()));
    }
    status = run_checked(argc, argv);
    if (status != exit_failed) release(ranks, status);
  }
  if (status == exit_failed) end_all_ranks(status);
  return status;
}

}  // namespace
}  // namespace gih::cli

int main(int argc, char** argv) {
  namespace cli = gih::cli;
  cli::keep_freed_memory();
  return cli::guarded([&] {
    const auto ranks = cli::start_ranks();
    return ranks ? cli::run_on_ranks(*ranks, argc, argv) : cli::run_checked(argc, argv);
  });
}
