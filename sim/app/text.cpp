#include "gih/app/text.hpp"

#include <charconv>
#include <cmath>

namespace gih {

std::optional<double> to_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<std::uint64_t> to_integer(std::string_view text) {
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc{} && end == text.data() + text.size()) return whole;
  const auto number = to_number(text);
  // Below 2^53 a double holds every whole number, and none that another text was rounded to.
  if (!number || *number < 0.0 || *number >= 0x1p53 || *number != std::floor(*number)) return {};
  return static_cast<std::uint64_t>(*number);
}

std::string to_text(double number) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, number);
  return {buffer, end};
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (;;) {
    const std::size_t at = text.find(separator);
    std::string_view piece = text.substr(0, at);
    const std::size_t first = piece.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
      piece = {};
    } else {
      piece = piece.substr(first, piece.find_last_not_of(" \t") - first + 1);
    }
    pieces.emplace_back(piece);
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

}  // namespace gih
