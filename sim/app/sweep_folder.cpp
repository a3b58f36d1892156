#include "gih/app/sweep_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "gih/base/error.hpp"
#include "gih/io/atomic_file.hpp"
#include "gih/io/run_file.hpp"

namespace gih {
namespace {

namespace fs = std::filesystem;

constexpr const char* grid_name = "grid.ini";
constexpr std::size_t hash_digits = 16;

/// "alpha-0p1-0123456789abcdef.h5.part" -> its hash, when it ends like this.
std::string hash_in(const std::string& file, const std::string& ending) {
  if (!file.ends_with(ending) || file.size() <= ending.size() + hash_digits) return "";
  const std::string name = file.substr(0, file.size() - ending.size());
  const std::string hash = name.substr(name.size() - hash_digits);
  const bool fits = name[name.size() - hash_digits - 1] == '-' &&
                    hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  return fits ? hash : "";
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  if (error) {
    throw InputError(fmt::format("{}: cannot list the folder: {}", folder.string(),
                                 std::generic_category().message(error.value())));
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// A grid of the user's own is not to be written over.
void check_mark(const fs::path& file) {
  if (!read_bytes(file).starts_with(grid_mark)) {
    throw InputError(fmt::format("{}: is not the grid of a sweep's folder: choose another folder",
                                 file.string()));
  }
}

}  // namespace

const char* state_name(PointState state) {
  constexpr const char* names[] = {"finished", "unfinished", "failed", "missing"};
  return names[static_cast<int>(state)];
}

fs::path failure_path(const fs::path& run) {
  fs::path path = run;
  path += ".failed";
  return path;
}

fs::path grid_path(const fs::path& folder) {
  return folder / grid_name;
}

Grid stored_grid(const fs::path& folder) {
  const fs::path file = grid_path(folder);
  std::error_code ignored;  // what is wrong with a name is said below
  if (!fs::exists(file, ignored)) {
    throw InputError(
        fmt::format("{}: holds no sweep, there is no {}", folder.string(), file.string()));
  }
  check_mark(file);
  return expand(read_grid(file));
}

void make_sweep_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    throw InputError(fmt::format("{}: is not a folder", folder.string()));
  }
  fs::create_directories(folder, error);
  if (error) {
    throw InputError(fmt::format("{}: cannot make the folder: {}", folder.string(),
                                 std::generic_category().message(error.value())));
  }
  check_writable_target(grid_path(folder), true);
  // Where another process is just giving it a grid, only what belongs to the grid is there.
  const auto names = names_in(folder);
  const auto other = std::find_if(names.begin(), names.end(), [](const std::string& name) {
    return !name.starts_with(grid_name);
  });
  if (fs::exists(grid_path(folder), error)) {
    check_mark(grid_path(folder));
  } else if (other != names.end()) {
    throw InputError(
        fmt::format("{}: holds {} and no sweep: must be a new or empty folder, or one "
                    "of gih sweep",
                    folder.string(), *other));
  }
}

bool holds_grid(const fs::path& folder, const Grid& grid) {
  std::error_code ignored;
  return fs::exists(grid_path(folder), ignored) && read_bytes(grid_path(folder)) == grid.text;
}

void store_grid(const fs::path& folder, const Grid& grid) {
  if (!holds_grid(folder, grid)) write_atomically(grid_path(folder), grid.text);
}

std::vector<PointStatus> sweep_status(const fs::path& folder,
                                      const std::vector<GridPoint>& points) {
  // Later rows win: a finished run over an unfinished one over a failure.
  std::map<std::string, PointStatus> found;
  const auto names = names_in(folder);
  const struct {
    const char* ending;
    PointState state;
  } kinds[] = {{".h5.failed", PointState::failed},
               {".h5.part", PointState::unfinished},
               {".h5", PointState::finished}};
  for (const auto& [ending, state] : kinds) {
    for (const std::string& name : names) {
      const std::string hash = hash_in(name, ending);
      if (hash.empty()) continue;
      PointStatus& status = found[hash];
      const std::size_t stem = name.size() - std::string(ending).size();
      status.run = folder / (name.substr(0, stem) + ".h5");
      status.state = state;
    }
  }
  std::vector<PointStatus> all;
  for (const GridPoint& point : points) {
    const auto at = found.find(point.hash);
    PointStatus status;
    if (at == found.end()) {
      status.run = folder / (point.name + ".h5");
    } else {
      status = at->second;
    }
    std::error_code ignored;
    const fs::path failure = failure_path(status.run);
    if (fs::exists(failure, ignored)) {  // success takes it away; what was reached before stays
      status.state = PointState::failed;
      status.reason = read_bytes(failure);
    }
    all.push_back(std::move(status));
  }
  return all;
}

std::vector<fs::path> other_runs(const fs::path& folder, const std::vector<GridPoint>& points) {
  std::set<std::string> known;
  for (const GridPoint& point : points) known.insert(point.hash);
  std::vector<fs::path> others;
  for (const std::string& name : names_in(folder)) {
    const std::string hash = hash_in(name, ".h5");
    if (!hash.empty() && !known.contains(hash)) others.push_back(folder / name);
  }
  return others;
}

}  // namespace gih
