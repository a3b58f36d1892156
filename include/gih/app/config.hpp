#pragma once
// The configuration's one table of keys. Options, INI files, errors, help, docs/configuration.md
// and the text that is written into every output file come from it. Adding a key: one row.

#include <string>
#include <string_view>
#include <vector>

#include "gih/app/settings.hpp"

namespace gih {

/// Where a stage key applies; of other keys `stage` is null.
struct KeyTarget {
  Settings& settings;
  Stage* stage;
};

struct KeyRow {
  const char* name;      ///< "data.alpha"; stage keys are "stage.K.epochs"
  std::string accepted;  ///< what follows "must be"
  std::string meaning;
  /// False when the text is not accepted.
  bool (*set)(KeyTarget, std::string_view text);
  std::string (*get)(const Settings&, const Stage*);
  bool is_path = false;   ///< a file; empty for none
  bool optional = false;  ///< left out of configurations where it has its default
};

const std::vector<KeyRow>& key_table();
constexpr int most_stages = 99;

struct Assignment;
/// The row of an assignment's key; InputError, with the nearest key, when there is none.
const KeyRow& key_row(const Assignment& assignment);

/// One assignment with its place: "C.ini:7" or "--data.alpha".
struct Assignment {
  std::string key, value, place;
};

/// Reads INI text (Boost's format: key = value, [section], # comments). InputError with
/// `name`:line for a line that is none of these and for a key that stands twice.
std::vector<Assignment> read_ini(const std::string& text, const std::string& name);

/// Applies assignments in order to the defaults; later ones win. InputError naming the place for
/// an unknown key (with the nearest name), a value outside its range, or a gap in the stages.
/// Then loads files and checks that everything fits together.
Settings resolve(const std::vector<Assignment>& assignments);

/// The resolved configuration as INI text: every key, so that reading it back gives the same.
std::string to_ini(const Settings& settings);

/// docs/configuration.md's table.
std::string key_table_markdown();

/// The candidate that takes the fewest edits to reach from `name`.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace gih
