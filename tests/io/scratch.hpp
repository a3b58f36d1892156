#pragma once
// A folder of its own for a test, and short ways to files in it.

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "gih/base/error.hpp"

struct Scratch {
  std::filesystem::path folder;

  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gih-io-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder = pattern;
  }
  ~Scratch() { std::filesystem::remove_all(folder); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path operator/(const char* name) const { return folder / name; }

  std::filesystem::path put(const char* name, const std::string& content) const {
    std::ofstream(folder / name, std::ios::binary) << content;
    return folder / name;
  }

  /// Number of files and folders in it.
  std::ptrdiff_t count() const {
    return std::distance(std::filesystem::directory_iterator(folder), {});
  }
};

/// The message of the Error that an action must end with; "" when it ends without.
template <typename Error, typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
