#pragma once
// What one value of a grid stands for, and which points sweep.exclude leaves out.

#include <string>
#include <vector>

#include "gih/app/config.hpp"

namespace gih {

/// The values of a key: the whole text where the key accepts it; else pieces between blanks (of
/// paths, between bars), each a value or a range FIRST..LAST or FIRST:LAST:STEP. InputError naming
/// the place.
std::vector<std::string> grid_values(const Assignment& assignment);

/// A term of sweep.exclude: conditions joined by &, all of which must hold.
class Exclusion {
 public:
  /// InputError, naming the place, unless it is KEY=VALUE (or <, >, <=, >=) of `keys`, joined by &.
  Exclusion(const std::string& text, const std::string& place,
            const std::vector<std::string>& keys);

  /// `values` of `keys`.
  bool excludes(const std::vector<std::string>& values) const;

 private:
  struct Condition {
    std::size_t key;
    std::string relation, value;
  };
  std::vector<Condition> conditions_;
};

}  // namespace gih
