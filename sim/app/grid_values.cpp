#include "grid_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "gih/app/grid.hpp"
#include "gih/app/text.hpp"
#include "gih/base/error.hpp"

namespace gih {
namespace {

bool accepts(const KeyRow& row, const std::string& value) {
  Settings scratch;
  Stage stage;
  return row.set({scratch, &stage}, value);
}

[[noreturn]] void fail(const Assignment& assignment, const std::string& piece,
                       const std::string& what) {
  throw InputError(fmt::format("{}: {} = {}: {}", assignment.place, assignment.key, piece, what));
}

/// 1..20: whole numbers.
std::optional<std::vector<std::string>> whole_range(const Assignment& assignment,
                                                    const std::string& piece) {
  const std::size_t dots = piece.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const auto first = to_integer(piece.substr(0, dots));
  const auto last = to_integer(piece.substr(dots + 2));
  if (!first || !last || *last < *first) {
    fail(assignment, piece, "must be FIRST..LAST, two whole numbers that ascend");
  }
  if (*last - *first >= most_points) {
    fail(assignment, piece, fmt::format("must be at most {} values", most_points));
  }
  std::vector<std::string> values;
  for (std::uint64_t i = 0; i <= *last - *first; ++i) values.push_back(std::to_string(*first + i));
  return values;
}

/// Digits behind the point that the text of a number needs: 0.25 has 2, 5e-3 has 3.
int decimals(const std::string& text) {
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = text.find('.');
  const int behind = point < e ? static_cast<int>(e - point - 1) : 0;
  const auto exponent = e < text.size() ? to_number(text.substr(e + 1)) : 0.0;
  return std::max(0, behind - static_cast<int>(std::clamp(exponent.value_or(0.0), -99.0, 99.0)));
}

/// 0:8:0.5: counted in units of the last decimal, so that 0:1:0.1 holds 0.3 and ends with 1.
std::optional<std::vector<std::string>> stepped_range(const Assignment& assignment,
                                                      const std::string& piece) {
  const std::vector<std::string> parts = split(piece, ':');
  if (parts.size() != 3) return std::nullopt;
  double numbers[3];
  int places = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto number = to_number(parts[i]);
    if (!number) fail(assignment, piece, "must be FIRST:LAST:STEP, three numbers");
    numbers[i] = *number;
    places = std::max(places, decimals(parts[i]));
  }
  const double unit = std::pow(10.0, places);
  for (double& number : numbers) number = std::round(number * unit);
  const auto [first, last, step] = numbers;
  if (places > 15 || std::max(std::abs(first), std::abs(last)) >= 0x1p53) {
    fail(assignment, piece, "must be FIRST:LAST:STEP of at most 15 digits");
  }
  const double steps = std::floor((last - first) / step);
  if (step == 0.0 || !(steps >= 0.0)) {
    fail(assignment, piece, "must be FIRST:LAST:STEP with a step from first to last");
  }
  if (steps >= static_cast<double>(most_points)) {
    fail(assignment, piece, fmt::format("must be at most {} values", most_points));
  }
  std::vector<std::string> values;
  for (double k = 0.0; k <= steps; ++k) values.push_back(to_text((first + k * step) / unit));
  return values;
}

/// For comparisons: inf is above every number.
std::optional<double> comparable(const std::string& text) {
  return text == "inf" ? std::numeric_limits<double>::infinity() : to_number(text);
}

}  // namespace

std::vector<std::string> grid_values(const Assignment& assignment) {
  const KeyRow& row = key_row(assignment);
  const std::string& text = assignment.value;
  if (accepts(row, text) && !(row.is_path && text.find('|') != std::string::npos)) return {text};
  std::vector<std::string> values;
  for (const std::string& piece : split(text, row.is_path ? '|' : ' ')) {
    if (piece.empty() && !row.is_path) continue;  // several blanks
    if (accepts(row, piece)) {
      values.push_back(piece);
      continue;
    }
    auto range = whole_range(assignment, piece);
    if (!range) range = stepped_range(assignment, piece);
    if (!range) fail(assignment, piece, "must be " + row.accepted + ", or a list or range of such");
    for (const std::string& value : *range) {
      if (!accepts(row, value)) {
        fail(assignment, piece, fmt::format("holds {}: must be {}", value, row.accepted));
      }
      values.push_back(value);
    }
  }
  if (values.empty()) fail(assignment, text, "must be " + row.accepted);
  return values;
}

Exclusion::Exclusion(const std::string& text, const std::string& place,
                     const std::vector<std::string>& keys) {
  for (const std::string& piece : split(text, '&')) {
    const auto fail = [&](const std::string& what) {
      throw InputError(fmt::format("{}: sweep.exclude = {}: {}", place, text, what));
    };
    const std::size_t at = piece.find_first_of("<>=");
    if (at == std::string::npos || at == 0) {
      fail("must be KEY=VALUE or with <, >, <=, >=, several joined by &");
    }
    const std::size_t value = piece.find_first_not_of("<>=", at);
    Condition condition;
    condition.relation = piece.substr(at, value - at);
    condition.value = value == std::string::npos ? "" : piece.substr(value);
    const std::string& relation = condition.relation;
    if (relation != "=" && relation != "<" && relation != ">" && relation != "<=" &&
        relation != ">=") {
      fail(fmt::format("{} must be =, <, >, <= or >=", relation));
    }
    if (relation != "=" && !comparable(condition.value)) {
      fail(fmt::format("\"{}\" must be a number after {}", condition.value, relation));
    }
    const auto key = std::find(keys.begin(), keys.end(), piece.substr(0, at));
    if (key == keys.end()) {
      fail(fmt::format("{} is not a key of the grid; the nearest is {}", piece.substr(0, at),
                       nearest_name(piece.substr(0, at), keys)));
    }
    condition.key = static_cast<std::size_t>(key - keys.begin());
    conditions_.push_back(condition);
  }
}

bool Exclusion::excludes(const std::vector<std::string>& values) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
    const std::string& text = values[condition.key];
    const auto left = comparable(text), right = comparable(condition.value);
    if (!left || !right) return condition.relation == "=" && text == condition.value;
    if (condition.relation == "=") return *left == *right;
    if (condition.relation == "<") return *left < *right;
    if (condition.relation == ">") return *left > *right;
    return condition.relation == "<=" ? *left <= *right : *left >= *right;
  });
}

}  // namespace gih
