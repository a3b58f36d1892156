#pragma once
// Tables of results: a row a configuration, its keys and what was found.

#include <map>
#include <string>
#include <vector>

#include "gih/app/config.hpp"
#include "gih/io/table_file.hpp"

namespace gih::cli {

/// Keys whose values are numbers in every row; the others are text.
std::map<std::string, bool> numeric_keys(const std::vector<std::vector<Assignment>>& rows);

/// Fields in the order of their first appearance; what a row does not have is empty or NaN.
class TableMaker {
 public:
  void row() { rows_.emplace_back(); }
  void set(const std::string& field, TableCell cell);
  void set(const std::vector<Assignment>& keys, const std::map<std::string, bool>& numeric);
  Table table() const;

 private:
  std::vector<TableField> fields_;
  std::map<std::string, std::size_t> places_;
  std::vector<std::map<std::string, TableCell>> rows_;
};

}  // namespace gih::cli
