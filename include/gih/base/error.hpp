#pragma once
// The two ways in which the library refuses to go on. It throws and never prints or exits;
// the program turns each kind into its exit status.

#include <stdexcept>
#include <string>

namespace gih {

/// Wrong use or bad input: one line that names the thing, its value and the accepted range.
/// Nothing has been written. The program ends with status 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The run itself failed (a non-finite value, a full disk): one line with place, quantity and hint.
/// What was saved before stays. The program ends with status 4.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace gih
