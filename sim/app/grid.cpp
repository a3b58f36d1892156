#include "gih/app/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "gih/app/text.hpp"
#include "gih/app/training_run.hpp"
#include "gih/base/error.hpp"
#include "gih/io/atomic_file.hpp"
#include "grid_values.hpp"

namespace gih {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view sweep_prefix = "sweep.";
constexpr std::size_t longest_name = 99;

/// One key of the grid and what it takes.
struct Line {
  Assignment assignment;
  std::vector<std::string> values;
  std::size_t axis = 0;  ///< lines of one axis move together
};

/// FNV-1a.
std::string hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

/// "stage.1.learning-rate" and "0.5" -> "1-learning-rate-0p5".
std::string part_of_name(const std::string& key, const std::string& value, bool is_path) {
  const auto safe = [](std::string text, char point) {
    for (char& c : text) {
      const bool fits = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      if (!fits) c = c == '.' ? point : '-';
    }
    return text;
  };
  return safe(key.substr(key.find('.') + 1), '-') + '-' +
         safe(is_path ? fs::path(value).stem().string() : value, 'p');
}

std::vector<Line> read_lines(const std::vector<Assignment>& assignments,
                             std::map<std::string, Assignment>& sweep_keys) {
  std::vector<Line> lines;
  for (const Assignment& assignment : assignments) {
    if (assignment.key.starts_with(sweep_prefix)) {
      if (assignment.key != "sweep.zip" && assignment.key != "sweep.exclude") {
        throw InputError(fmt::format("{}: {} is not a key; the nearest is {}", assignment.place,
                                     assignment.key,
                                     nearest_name(assignment.key, {"sweep.zip", "sweep.exclude"})));
      }
      sweep_keys[assignment.key] = assignment;
      continue;
    }
    Line line{assignment, grid_values(assignment)};
    if (assignment.key.starts_with("run.") && line.values.size() > 1) {
      throw InputError(fmt::format("{}: {} = {}: must be one value, as run.* keys change no result",
                                   assignment.place, assignment.key, assignment.value));
    }
    const auto earlier = std::find_if(lines.begin(), lines.end(), [&](const Line& other) {
      return other.assignment.key == assignment.key;
    });
    if (earlier == lines.end()) {
      lines.push_back(std::move(line));
    } else {
      *earlier = std::move(line);
    }
  }
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].axis = i;
  return lines;
}

/// sweep.zip = a,b c,d: the lines of each group get the axis of their first.
void join_axes(std::vector<Line>& lines, const Assignment& zip) {
  const auto fail = [&](const std::string& what) {
    throw InputError(fmt::format("{}: sweep.zip = {}: {}", zip.place, zip.value, what));
  };
  std::vector<std::string> names;
  for (const Line& line : lines) names.push_back(line.assignment.key);
  std::vector<std::string> seen;
  for (const std::string& group : split(zip.value, ' ')) {
    if (group.empty()) continue;
    std::vector<std::size_t> members;
    for (const std::string& name : split(group, ',')) {
      const auto at = std::find(names.begin(), names.end(), name);
      if (at == names.end()) {
        fail(fmt::format("{} is not a key of the grid; the nearest is {}", name,
                         nearest_name(name, names)));
      }
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
        fail(fmt::format("{} stands there twice", name));
      }
      seen.push_back(name);
      members.push_back(static_cast<std::size_t>(at - names.begin()));
    }
    if (members.size() < 2) fail("must be keys that move together, joined by commas");
    const std::size_t axis = *std::min_element(members.begin(), members.end());
    for (const std::size_t member : members) {
      const std::size_t have = lines[member].values.size(), need = lines[members[0]].values.size();
      if (have != need) {
        fail(fmt::format("{} has {} values, {} has {}: must be as many", names[members[0]], need,
                         names[member], have));
      }
      lines[member].axis = axis;
    }
  }
}

std::string to_text(const std::vector<Line>& lines,
                    const std::map<std::string, Assignment>& sweep_keys) {
  std::string text = std::string(grid_mark) + "\n";
  for (const Line& line : lines) {
    text += fmt::format("{} = {}\n", line.assignment.key, line.assignment.value);
  }
  for (const auto& [key, assignment] : sweep_keys) {
    text += fmt::format("{} = {}\n", key, assignment.value);
  }
  return text;
}

GridPoint make_point(Grid& grid, const std::vector<Line>& lines,
                     const std::vector<std::string>& values) {
  GridPoint point;
  std::string name;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Assignment assignment = lines[i].assignment;
    assignment.value = values[i];
    point.keys.push_back(assignment);
    if (lines[i].values.size() == 1) continue;
    point.values.push_back(values[i]);
    if (!name.empty()) name += '_';
    name += part_of_name(assignment.key, values[i], key_row(assignment).is_path);
  }
  const Settings settings = resolve(point.keys);
  grid.threads = settings.thread_count();
  grid.memory = memory_limit(settings);
  point.bytes = training_bytes(settings);
  point.config = to_ini(settings);
  point.hash = hash_of(what_is_computed(point.config));
  if (name.empty()) name = "point";
  point.name = name.substr(0, longest_name - point.hash.size() - 1) + '-' + point.hash;
  return point;
}

}  // namespace

std::vector<Assignment> read_grid(const fs::path& path) {
  const std::string text = read_bytes(path);
  if (text.find('\0') != std::string::npos) {
    throw InputError(fmt::format("{}: must be a grid, INI text", path.string()));
  }
  std::vector<Assignment> assignments = read_ini(text, path.string());
  make_paths_absolute(assignments, fs::absolute(path).parent_path());
  return assignments;
}

void make_paths_absolute(std::vector<Assignment>& assignments, const fs::path& folder) {
  for (Assignment& assignment : assignments) {
    if (assignment.key.starts_with(sweep_prefix) || !key_row(assignment).is_path) continue;
    std::vector<std::string> paths = split(assignment.value, '|');
    for (std::string& one : paths) {
      if (!one.empty()) one = (folder / one).lexically_normal().string();
    }
    assignment.value = fmt::format("{}", fmt::join(paths, "|"));
  }
}

Grid expand(const std::vector<Assignment>& assignments) {
  std::map<std::string, Assignment> sweep_keys;
  std::vector<Line> lines = read_lines(assignments, sweep_keys);
  if (sweep_keys.contains("sweep.zip")) join_axes(lines, sweep_keys["sweep.zip"]);
  Grid grid;
  grid.text = to_text(lines, sweep_keys);
  std::vector<std::string> names;
  std::vector<std::size_t> sizes(lines.size(), 1);
  double count = 1.0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    names.push_back(lines[i].assignment.key);
    if (lines[i].values.size() > 1) grid.axes.push_back(names.back());
    if (lines[i].axis != i) continue;
    sizes[i] = lines[i].values.size();
    count *= static_cast<double>(sizes[i]);
  }
  if (count > static_cast<double>(most_points)) {
    throw InputError(fmt::format("the grid has {} points: must be at most {}", count, most_points));
  }

  std::vector<Exclusion> exclusions;
  const Assignment& exclude = sweep_keys["sweep.exclude"];
  std::vector<std::string> terms;
  for (const std::string& term : split(exclude.value, ' ')) {
    if (term.empty()) continue;
    terms.push_back(term);
    exclusions.emplace_back(term, exclude.place, names);
  }
  std::vector<bool> used(exclusions.size());
  std::map<std::string, std::size_t> seen;
  for (std::size_t number = 0; number < static_cast<std::size_t>(count); ++number) {
    std::vector<std::size_t> chosen(lines.size());
    std::size_t rest = number;
    for (std::size_t i = lines.size(); i-- > 0;) {
      chosen[i] = rest % sizes[i];
      rest /= sizes[i];
    }
    std::vector<std::string> values;
    for (const Line& line : lines) values.push_back(line.values[chosen[line.axis]]);
    bool excluded = false;
    for (std::size_t e = 0; e < exclusions.size(); ++e) {
      if (!exclusions[e].excludes(values)) continue;
      used[e] = true;
      excluded = true;
    }
    if (excluded) continue;
    GridPoint point = make_point(grid, lines, values);
    point.index = grid.points.size();
    const auto [same, is_new] = seen.emplace(point.hash, point.index);
    if (!is_new) {
      throw InputError(fmt::format("points {} and {} of the grid are the same configuration: {}",
                                   same->second, point.index,
                                   point.name.substr(0, point.name.rfind('-'))));
    }
    grid.points.push_back(std::move(point));
  }
  for (std::size_t e = 0; e < exclusions.size(); ++e) {
    if (!used[e]) {
      throw InputError(fmt::format("{}: sweep.exclude = {}: excludes no point of the grid",
                                   exclude.place, terms[e]));
    }
  }
  if (grid.points.empty()) {
    throw InputError(fmt::format("{}: sweep.exclude leaves no point", exclude.place));
  }
  return grid;
}

}  // namespace gih
