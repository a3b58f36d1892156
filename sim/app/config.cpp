#include "gih/app/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <map>
#include <numeric>
#include <sstream>

#include "gih/app/text.hpp"
#include "gih/base/error.hpp"

namespace gih {
namespace {

constexpr std::string_view stage_prefix = "stage.";
constexpr std::string_view stage_pattern = "stage.K.";

bool is_stage_row(const KeyRow& row) {
  return std::string_view(row.name).starts_with(stage_pattern);
}

/// "stage.12.epochs" -> 12 and "stage.K.epochs"; other keys -> 0 and themselves. A stage has one
/// name: stage.01 or stage.1e0 would be stage 1 given again without notice.
std::pair<int, std::string> split_stage(const std::string& key) {
  if (!key.starts_with(stage_prefix)) return {0, key};
  const std::size_t dot = key.find('.', stage_prefix.size());
  if (dot == std::string::npos) return {0, key};
  const std::string digits = key.substr(stage_prefix.size(), dot - stage_prefix.size());
  const auto number = to_integer(digits);
  if (!number || *number < 1 || *number > most_stages || std::to_string(*number) != digits) {
    return {0, key};
  }
  return {static_cast<int>(*number), std::string(stage_pattern) + key.substr(dot + 1)};
}

[[noreturn]] void unknown_key(const Assignment& assignment) {
  std::vector<std::string> names;
  const auto [stage, pattern] = split_stage(assignment.key);
  for (const KeyRow& row : key_table()) names.emplace_back(row.name);
  std::string nearest = nearest_name(stage > 0 ? pattern : assignment.key, names);
  if (stage > 0 && nearest.starts_with(stage_pattern)) {
    nearest = fmt::format("stage.{}.{}", stage, nearest.substr(stage_pattern.size()));
  }
  throw InputError(fmt::format("{}: {} is not a key; the nearest is {}", assignment.place,
                               assignment.key, nearest));
}

/// A line as an error quotes it: short and printable, whatever the file holds.
std::string excerpt(std::string line) {
  if (line.size() > 60) line = line.substr(0, 57) + "...";
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return line;
}

}  // namespace

namespace {

/// Fewest edits that turn one text into the other (Levenshtein).
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t change = diagonal + (from[i - 1] != to[j - 1]);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t fewest = std::string::npos;
  for (const std::string& candidate : candidates) {
    // "alpha" means data.alpha, though other names take fewer edits.
    const std::string_view last = std::string_view(candidate).substr(candidate.rfind('.') + 1);
    const std::size_t apart = std::min(edits(name, candidate), edits(name, last) + 1);
    if (apart < fewest) {
      fewest = apart;
      best = candidate;
    }
  }
  return best;
}

std::vector<Assignment> read_ini(const std::string& text, const std::string& name) {
  namespace po = boost::program_options;
  static const po::options_description none;
  std::vector<Assignment> found;
  std::map<std::string, std::string> seen;
  std::istringstream lines(text);
  std::string line, section;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const std::string place = fmt::format("{}:{}", name, number);
    const std::size_t first = line.find_first_not_of(" \t");
    if (first != std::string::npos && line[first] == '[') section = line;
    // Boost reads the line (under its section), one at a time so that errors know where they are.
    std::istringstream one(section == line ? line : section + "\n" + line);
    try {
      for (const auto& option : po::parse_config_file(one, none, true).options) {
        Assignment next{option.string_key, option.value.empty() ? "" : option.value.front(), place};
        const auto [earlier, is_new] = seen.emplace(next.key, place);
        if (!is_new) {
          throw InputError(
              fmt::format("{}: {} is given again (first at {})", place, next.key, earlier->second));
        }
        found.push_back(std::move(next));
      }
    } catch (const po::error&) {
      throw InputError(
          fmt::format("{}: \"{}\" is not a line of a configuration: must be key = value, [section] "
                      "or # comment",
                      place, excerpt(line)));
    }
  }
  return found;
}

const KeyRow& key_row(const Assignment& assignment) {
  const auto [stage, pattern] = split_stage(assignment.key);
  const auto& table = key_table();
  const auto row = std::find_if(table.begin(), table.end(),
                                [&, p = pattern](const KeyRow& r) { return p == r.name; });
  if (row == table.end() || is_stage_row(*row) != (stage > 0)) unknown_key(assignment);
  return *row;
}

Settings resolve(const std::vector<Assignment>& assignments) {
  Settings settings;
  std::vector<std::string> given;
  std::map<int, std::string> stage_place;
  for (const Assignment& assignment : assignments) {
    const KeyRow& row = key_row(assignment);
    const int stage = split_stage(assignment.key).first;
    Stage* target = nullptr;
    if (stage > 0) {
      if (settings.schedule.size() < static_cast<std::size_t>(stage)) {
        settings.schedule.resize(static_cast<std::size_t>(stage));
      }
      stage_place.emplace(stage, assignment.place);
      target = &settings.schedule[static_cast<std::size_t>(stage - 1)];
    }
    if (!row.set({settings, target}, assignment.value)) {
      const bool is_option = assignment.place.starts_with("--");
      throw InputError(fmt::format(
          "{}{} = {}: must be {}", is_option ? "" : assignment.place + ": ",
          is_option ? assignment.place : assignment.key, assignment.value, row.accepted));
    }
    given.push_back(assignment.key);
  }
  for (std::size_t k = 1; k <= settings.schedule.size(); ++k) {
    const Stage& stage = settings.schedule[k - 1];
    const auto later = stage_place.rbegin();
    if (!stage_place.contains(static_cast<int>(k))) {
      throw InputError(
          fmt::format("{}: stage {} without stage {}: stages must be numbered 1, 2, ...",
                      later->second, later->first, k));
    }
    if (!stage.trains.any()) {
      throw InputError(
          fmt::format("{}: stage.{}.train is missing: must be c, w, a, qkv, or several joined by +",
                      stage_place.at(static_cast<int>(k)), k));
    }
  }
  load_files(settings, given);
  settings.model.d = settings.data.d;
  settings.prompts.M = settings.model.reach();
  settings.prompts.mask = settings.model.mask;
  check_settings(settings);
  return settings;
}

std::string to_ini(const Settings& settings) {
  std::string text;
  std::string section;
  const auto line = [&](const std::string& key, const std::string& value) {
    const std::size_t dot = key.rfind('.');
    if (key.substr(0, dot) != section) {
      if (!section.empty()) text += '\n';
      section = key.substr(0, dot);
      text += fmt::format("[{}]\n", section);
    }
    text += fmt::format("{} = {}\n", key.substr(dot + 1), value);
  };
  bool stages_done = false;
  const Settings defaults;
  for (const KeyRow& row : key_table()) {
    if (!is_stage_row(row)) {
      const std::string value = row.get(settings, nullptr);
      if (!row.optional || value != row.get(defaults, nullptr)) line(row.name, value);
      continue;
    }
    if (stages_done) continue;
    stages_done = true;
    for (std::size_t k = 0; k < settings.schedule.size(); ++k) {
      for (const KeyRow& stage_row : key_table()) {
        if (!is_stage_row(stage_row)) continue;
        line(fmt::format("stage.{}.{}", k + 1,
                         std::string(stage_row.name).substr(stage_pattern.size())),
             stage_row.get(settings, &settings.schedule[k]));
      }
    }
  }
  return text;
}

std::string key_table_markdown() {
  const Settings defaults;
  const Stage stage;
  std::string text = "| key | default | accepted | meaning |\n| --- | --- | --- | --- |\n";
  for (const KeyRow& row : key_table()) {
    const std::string value = row.get(defaults, &stage);
    text += fmt::format("| `{}` | {} | {} | {} |\n", row.name,
                        value.empty() ? "" : "`" + value + "`", row.accepted, row.meaning);
  }
  return text;
}

}  // namespace gih
