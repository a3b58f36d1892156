#include "json.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gih/base/error.hpp"

namespace gih {
namespace {

using nlohmann::json;

/// Enough of a value to recognise it.
std::string excerpt(const json& value) {
  if (value.is_array()) return fmt::format("an array of {}", value.size());
  if (value.is_object()) return "an object";
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

bool is_finite(const json& value) {
  return value.is_number() && std::isfinite(value.get<double>());
}

/// Compared as double, which holds every int and cannot wrap around.
bool is_integer(const json& value, int least, int most) {
  return value.is_number_integer() && value.get<double>() >= least && value.get<double>() <= most;
}

}  // namespace

JsonPlace JsonPlace::parse(const std::string& text, const std::string& name) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key &&
        !keys.back().insert(parsed.get<std::string>()).second) {
      throw InputError(fmt::format("{}: key {} is given twice", name, excerpt(parsed)));
    }
    return true;
  };
  JsonPlace place;
  place.file_ = name;
  try {
    place.root_ = std::make_shared<const json>(json::parse(text, watch));
  } catch (const json::exception& error) {
    std::string words = error.what();  // "[json.exception.parse_error.101] parse error at ..."
    words = words.substr(std::min(words.size(), words.find("] ") + 2)).substr(0, 200);
    throw InputError(fmt::format("{}: is not JSON: {}", name, words));
  }
  place.value_ = place.root_.get();
  return place;
}

void JsonPlace::fail(const std::string& what) const {
  throw InputError(place_.empty() ? fmt::format("{}: {}", file_, what)
                                  : fmt::format("{}: {}: {}", file_, place_, what));
}

void JsonPlace::expect_keys(std::initializer_list<const char*> known) const {
  if (!value_->is_object()) fail(fmt::format("{}: must be an object", excerpt(*value_)));
  for (const auto& item : value_->items()) {
    if (std::find(known.begin(), known.end(), item.key()) == known.end()) {
      fail(fmt::format("unknown key {}: the keys are {}", excerpt(json(item.key())),
                       fmt::join(known, ", ")));
    }
  }
}

JsonPlace JsonPlace::key(const char* name) const {
  if (!has(name)) fail(fmt::format("key {} is missing", name));
  JsonPlace child = *this;
  child.value_ = &(*value_)[name];
  child.place_ = place_.empty() ? name : fmt::format("{}.{}", place_, name);
  return child;
}

std::size_t JsonPlace::size() const {
  if (!value_->is_array()) fail(fmt::format("{}: must be an array", excerpt(*value_)));
  return value_->size();
}

JsonPlace JsonPlace::element(std::size_t index) const {
  if (index >= size()) fail(fmt::format("has no element {}", index));
  JsonPlace child = *this;
  child.value_ = &(*value_)[index];
  child.place_ += fmt::format("[{}]", index);
  return child;
}

double JsonPlace::number() const {
  if (!is_finite(*value_)) fail(fmt::format("{}: must be a finite number", excerpt(*value_)));
  return value_->get<double>();
}

int JsonPlace::integer(int least, int most) const {
  if (!is_integer(*value_, least, most)) {
    fail(fmt::format("{}: must be an integer {} to {}", excerpt(*value_), least, most));
  }
  return value_->get<int>();
}

bool JsonPlace::boolean() const {
  if (!value_->is_boolean()) fail(fmt::format("{}: must be true or false", excerpt(*value_)));
  return value_->get<bool>();
}

std::string JsonPlace::text() const {
  if (!value_->is_string()) fail(fmt::format("{}: must be a string", excerpt(*value_)));
  return value_->get<std::string>();
}

// Of long arrays only a wrong element has its place written out.

std::vector<double> JsonPlace::numbers() const {
  std::vector<double> values(size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const json& value = (*value_)[i];
    values[i] = is_finite(value) ? value.get<double>() : element(i).number();
  }
  return values;
}

std::vector<int> JsonPlace::integers(int least, int most) const {
  std::vector<int> values(size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const json& value = (*value_)[i];
    values[i] = is_integer(value, least, most) ? value.get<int>() : element(i).integer(least, most);
  }
  return values;
}

}  // namespace gih
