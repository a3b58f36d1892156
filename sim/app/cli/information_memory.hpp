#pragma once
// gih information --lag, --delta and --conditions: what the past tells of a token, and what a
// summary of it still does.

#include <optional>

#include "cli.hpp"

namespace gih::cli {

std::vector<Option> memory_information_options();

/// Exit status when one of the three is asked for, else nothing.
std::optional<int> memory_information(const Arguments& arguments, const Settings& settings,
                                      std::size_t kernels);

}  // namespace gih::cli
