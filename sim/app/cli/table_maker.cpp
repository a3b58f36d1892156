#include "table_maker.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "gih/app/text.hpp"

namespace gih::cli {
namespace {

/// A number that a double holds, inf included.
std::optional<double> number_of(const std::string& text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  const auto number = to_number(text);
  return number && std::abs(*number) <= 0x1p53 ? number : std::nullopt;
}

}  // namespace

std::map<std::string, bool> numeric_keys(const std::vector<std::vector<Assignment>>& rows) {
  std::map<std::string, bool> numeric;
  for (const std::vector<Assignment>& row : rows) {
    for (const Assignment& key : row) {
      const bool fits = number_of(key.value).has_value();
      const auto [at, is_new] = numeric.emplace(key.key, fits);
      if (!is_new) at->second = at->second && fits;
    }
  }
  return numeric;
}

void TableMaker::set(const std::string& field, TableCell cell) {
  const auto kind = static_cast<CellKind>(cell.index());
  if (places_.emplace(field, fields_.size()).second) fields_.push_back({field, kind});
  rows_.back()[field] = std::move(cell);
}

void TableMaker::set(const std::vector<Assignment>& keys,
                     const std::map<std::string, bool>& numeric) {
  for (const Assignment& key : keys) {
    if (numeric.at(key.key)) {
      set(key.key, *number_of(key.value));
    } else {
      set(key.key, key.value);
    }
  }
}

Table TableMaker::table() const {
  const TableCell blanks[] = {std::string(), std::numeric_limits<double>::quiet_NaN(),
                              std::int64_t{-1}};
  Table table{fields_, {}};
  for (const auto& row : rows_) {
    std::vector<TableCell> cells;
    for (const TableField& field : fields_) {
      const auto at = row.find(field.name);
      cells.push_back(at == row.end() ? blanks[static_cast<int>(field.kind)] : at->second);
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace gih::cli
