#pragma once
// JSON with errors that name file and place. Keys that nobody asked for and keys given twice are
// errors, so a misspelt one is never ignored.

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gih {

/// A value and where it stands, such as "file.json: w[0][2]".
class JsonPlace {
 public:
  /// Parses the text of a file.
  static JsonPlace parse(const std::string& text, const std::string& name);

  /// Fails on keys outside `known`, and unless this is an object.
  void expect_keys(std::initializer_list<const char*> known) const;
  bool has(const char* key) const { return value_->is_object() && value_->contains(key); }
  JsonPlace key(const char* name) const;

  /// Elements of an array.
  std::size_t size() const;
  JsonPlace element(std::size_t index) const;

  double number() const;  ///< finite
  int integer(int least, int most) const;
  bool boolean() const;
  std::string text() const;
  std::vector<double> numbers() const;
  std::vector<int> integers(int least, int most) const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::shared_ptr<const nlohmann::json> root_;  // keeps `value_` alive
  const nlohmann::json* value_ = nullptr;
  std::string file_, place_;
};

}  // namespace gih
