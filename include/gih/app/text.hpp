#pragma once
// Numbers from and to text, the same under every locale.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gih {

/// A finite decimal number, nothing before or after it.
std::optional<double> to_number(std::string_view text);

/// A whole number from 0 to 2^64 - 1; 1e4 is 10000, 1.5 and 1e30 are not whole numbers in range.
std::optional<std::uint64_t> to_integer(std::string_view text);

/// The shortest text that reads back as the same number.
std::string to_text(double number);

/// Pieces between separators, each without surrounding blanks.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace gih
