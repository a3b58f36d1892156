#pragma once
// How values of configuration keys are read from text and written to it. A reader gives false when
// the text is not accepted and then leaves its target as it was.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "gih/app/settings.hpp"
#include "gih/app/text.hpp"

namespace gih {

template <class T>
bool whole(std::string_view text, std::uint64_t low, std::uint64_t high, T& to) {
  const auto value = to_integer(text);
  if (!value || *value < low || *value > high) return false;
  to = static_cast<T>(*value);
  return true;
}

inline bool real(std::string_view text, double low, double high, double& to) {
  const auto value = to_number(text);
  if (!value || *value < low || *value > high) return false;
  to = *value;
  return true;
}

constexpr double unlimited = std::numeric_limits<double>::max();

/// Names of an enumeration's values, in the order of the values.
template <class T>
bool choice(std::string_view text, std::initializer_list<const char*> names, T& to) {
  const auto at = std::find(names.begin(), names.end(), text);
  if (at == names.end()) return false;
  to = static_cast<T>(at - names.begin());
  return true;
}

template <class T>
std::string chosen(T value, std::initializer_list<const char*> names) {
  return *(names.begin() + static_cast<int>(value));
}

inline bool is_true(std::string_view text, bool& to) {
  return choice(text, {"false", "true"}, to);
}
inline const char* text_of(bool value) {
  return value ? "true" : "false";
}

bool set_parents(std::string_view text, std::vector<int>& parents);
bool set_numbers(std::string_view text, std::vector<double>& numbers);
bool set_init_step(std::string_view text, Settings& settings);
/// Only what INI text gives back: it ends at '#' and drops blanks at both ends.
bool set_path(std::string_view text, std::string& path);
bool set_memory(std::string_view text, Settings& settings);
bool set_blocks(std::string_view text, Blocks& blocks);
std::string blocks_text(Blocks blocks);
std::string numbers_text(const std::vector<double>& numbers);

/// "a, b or c": the names of a table's rows.
template <class Table>
std::string names_of(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i > 0) text += i + 1 < table.size() ? ", " : " or ";
    text += table[i].name;
  }
  return text;
}

/// "a: what it means; b: ...".
template <class Table>
std::string meanings_of(const Table& table) {
  std::vector<std::string> texts;
  for (const auto& row : table) texts.push_back(fmt::format("{}: {}", row.name, row.meaning));
  return fmt::format("{}", fmt::join(texts, "; "));
}

template <class Table>
bool is_name(const Table& table, std::string_view text) {
  return std::any_of(table.begin(), table.end(), [&](const auto& row) { return text == row.name; });
}

}  // namespace gih
