#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>

#include "cli.hpp"
#include "gih/base/error.hpp"
#include "gih/io/atomic_file.hpp"
#include "gih/io/stored.hpp"

namespace gih::cli {
namespace {

namespace po = boost::program_options;

const std::vector<Option> config_option{
    {"config", "FILE",
     "INI file, run file or data file to take keys from; may be repeated, later wins"}};

std::string long_name(const Option& option) {
  const std::string name = option.name;
  return name.substr(0, name.find(','));
}

/// Key names as options: stage keys for each stage number that occurs in argv.
std::vector<std::string> key_options(int argc, const char* const* argv) {
  int stages = 0;
  for (int i = 1; i < argc; ++i) {
    int stage = 0;
    if (std::sscanf(argv[i], "--stage.%2d.", &stage) == 1) stages = std::max(stages, stage);
  }
  std::vector<std::string> names;
  for (const KeyRow& row : key_table()) {
    const std::string name = row.name;
    if (!name.starts_with("stage.K.")) {
      names.push_back(name);
      continue;
    }
    for (int k = 1; k <= stages; ++k)
      names.push_back(fmt::format("stage.{}.{}", k, name.substr(8)));
  }
  return names;
}

void print_options(const std::vector<Option>& options) {
  for (const Option& option : options) {
    std::string name = option.name;
    const std::size_t comma = name.find(',');
    name = comma == std::string::npos
               ? "--" + name
               : fmt::format("-{}, --{}", name.substr(comma + 1), name.substr(0, comma));
    fmt::print("  {:<24} {}\n", fmt::format("{} {}", name, option.argument), option.meaning);
  }
}

void print_help(const Command& command) {
  fmt::print("usage: gih {} {}[options]\n\n{}\n\noptions:\n", command.name,
             *command.positional ? std::string(command.positional) + " " : "", command.summary);
  print_options(command.options);
  if (command.takes_keys) print_options(config_option);
  fmt::print("  {:<24} {}\n", "-h, --help", "this text");
  if (!command.takes_keys) return;
  fmt::print("\nkeys, each also an option (--data.alpha 0.1), default in brackets:\n");
  const Settings defaults;
  const Stage stage;
  for (const KeyRow& row : key_table()) {
    fmt::print("  {:<24} {} [{}]\n  {:<24}   {}\n", row.name, row.meaning,
               row.get(defaults, &stage), "", row.accepted);
  }
}

}  // namespace

std::string Arguments::require(const std::string& name) const {
  if (!has(name)) throw InputError(fmt::format("--{} is missing; see --help", name));
  return get(name);
}

std::vector<Assignment> config_file(const std::string& path) {
  if (is_hdf5(path)) return read_ini(read_stored(path).config, path);
  const std::string text = read_bytes(path);
  if (text.find('\0') != std::string::npos) {
    throw InputError(fmt::format("{}: must be INI text, a run file or a data file", path));
  }
  return read_ini(text, path);
}

std::optional<Arguments> parse(const Command& command, int argc, const char* const* argv) {
  po::options_description known;
  std::vector<Option> options = command.options;
  if (command.takes_keys) options.insert(options.end(), config_option.begin(), config_option.end());
  std::vector<std::string> names{"help"};
  known.add_options()("help,h", "");
  for (const Option& option : options) {
    names.push_back(long_name(option));
    if (*option.argument) {
      known.add_options()(option.name, po::value<std::string>(), "");
    } else {
      known.add_options()(option.name, "");
    }
  }
  const std::vector<std::string> keys =
      command.takes_keys ? key_options(argc, argv) : std::vector<std::string>{};
  for (const std::string& key : keys)
    known.add_options()(key.c_str(), po::value<std::string>(), "");

  std::vector<po::basic_option<char>> typed;
  try {
    // No guessing: a prefix of an option is not that option.
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    typed = po::command_line_parser(argc, argv)
                .options(known)
                .style(style)
                .allow_unregistered()
                .run()
                .options;
  } catch (const po::error& error) {
    throw InputError(error.what());
  }
  Arguments arguments;
  std::vector<Assignment> key_assignments;
  std::vector<std::string> seen;
  for (const auto& option : typed) {
    if (option.position_key >= 0 || option.string_key.empty()) {
      arguments.positional.insert(arguments.positional.end(), option.value.begin(),
                                  option.value.end());
      continue;
    }
    std::string name = option.string_key;
    if (option.unregistered) {
      std::vector<std::string> candidates = names;
      for (const KeyRow& row : key_table()) {
        if (command.takes_keys) candidates.emplace_back(row.name);
      }
      throw InputError(
          fmt::format("{} is not an option of gih {}; the nearest is --{}",
                      option.original_tokens.empty() ? name : option.original_tokens.front(),
                      command.name, nearest_name(name, candidates)));
    }
    if (name.starts_with("-")) name = name.substr(name.find_first_not_of('-'));
    const std::string value = option.value.empty() ? "" : option.value.front();
    if (value.starts_with("--")) {
      throw InputError(fmt::format("--{} needs a value; {} follows it", name, value));
    }
    if (name == "help") {
      print_help(command);
      return std::nullopt;
    }
    if (name != "config" && std::find(seen.begin(), seen.end(), name) != seen.end()) {
      throw InputError(fmt::format("--{} is given twice", name));
    }
    seen.push_back(name);
    if (name == "config") {
      const auto from_file = config_file(value);
      arguments.keys.insert(arguments.keys.end(), from_file.begin(), from_file.end());
      arguments.options["config"] = value;
    } else if (std::find(keys.begin(), keys.end(), name) != keys.end()) {
      key_assignments.push_back({name, value, "--" + name});
    } else {
      arguments.options[name] = value;
    }
  }
  arguments.keys.insert(arguments.keys.end(), key_assignments.begin(), key_assignments.end());
  const std::string positional = command.positional;
  const auto blanks = std::count(positional.begin(), positional.end(), ' ');
  const std::size_t expected = positional.empty() ? 0 : static_cast<std::size_t>(blanks) + 1;
  if (arguments.positional.size() > expected) {
    throw InputError(fmt::format("\"{}\" is one argument too many for gih {}",
                                 arguments.positional[expected], command.name));
  }
  if (arguments.positional.size() < expected) {
    throw InputError(fmt::format("gih {} needs {}", command.name, command.positional));
  }
  return arguments;
}

}  // namespace gih::cli
