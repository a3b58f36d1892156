#pragma once
// The command line: one table of commands, one file each.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gih/app/config.hpp"

namespace gih::cli {

struct Option {
  const char* name;      ///< "output,o": long name, short letter
  const char* argument;  ///< "FILE"; empty for a flag
  const char* meaning;
};

/// What the user typed, checked against the command's options and the configuration keys.
struct Arguments {
  std::map<std::string, std::string> options;  ///< by long name; flags map to ""
  std::vector<Assignment> keys;                ///< --config files first, then options
  std::vector<std::string> positional;

  bool has(const std::string& name) const { return options.contains(name); }
  std::string get(const std::string& name, const std::string& otherwise = "") const {
    const auto at = options.find(name);
    return at == options.end() ? otherwise : at->second;
  }
  /// The option's value; InputError when it was not given.
  std::string require(const std::string& name) const;
};

struct Command {
  const char* name;
  const char* summary;
  const char* positional;  ///< "FILE", "ACTION FILE": as many as there are words
  bool takes_keys;         ///< --config and every configuration key
  std::vector<Option> options;
  int (*run)(const Arguments&);  ///< exit status
};

const std::vector<Command>& commands();

extern const Command sample_command, train_command, evaluate_command, information_command,
    verify_command, sweep_command, memory_command, snaptra_command, show_command, help_command;

/// InputError for an unknown or incomplete option; empty when help was asked for and printed.
std::optional<Arguments> parse(const Command& command, int argc, const char* const* argv);

/// Assignments of a --config file: INI text, or the configuration inside a run or data file.
std::vector<Assignment> config_file(const std::string& path);

/// Version, commit, compiler, libraries.
std::string version_text();

constexpr int exit_refused = 2, exit_interrupted = 3, exit_failed = 4;

}  // namespace gih::cli
