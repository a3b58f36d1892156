#pragma once
// A table of results: a row a configuration, each field a text, a number or a whole number. HDF5,
// one compound dataset, described in docs/files.md.

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace gih {

enum class CellKind { text, number, whole };
using TableCell = std::variant<std::string, double, std::int64_t>;  ///< in the order of CellKind

struct TableField {
  std::string name;
  CellKind kind;
};

struct Table {
  std::vector<TableField> fields;
  std::vector<std::vector<TableCell>> rows;  ///< a cell for each field, of its kind
};

struct TableFile {
  std::string config;  ///< the grid that the rows are points of, INI text
  Table table;
  std::string gih_version, git_commit, created;  ///< filled when reading
};

/// Atomic, like write_run.
void write_table(const std::filesystem::path& path, const TableFile& file);

/// InputError naming the file unless it is a whole table of a known version.
TableFile read_table(const std::filesystem::path& path);

}  // namespace gih
