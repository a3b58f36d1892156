#pragma once
// Scores s of (position, query) pairs. A position enters through its window and its own token, the
// query, whose own token is not there yet, through its window alone. Pairs that are sure to have
// the same score form a class, and a step computes each class once.

#include <cstdint>
#include <memory>
#include <span>

#include "gih/base/window.hpp"
#include "gih/model/parameters.hpp"

namespace gih {

class Scores {
 public:
  virtual ~Scores() = default;

  /// Class of a pair; one that is seen for the first time may open the next class.
  virtual std::uint32_t class_of(WindowCode window, Token own, WindowCode query) = 0;

  virtual std::size_t classes() const = 0;

  /// s of every class. Recomputes only what theta changed since the last call.
  virtual std::span<const double> forward(const Parameters& theta) = 0;

  /// Adds to `gradient` the derivatives with respect to c, w and qkv (those of `blocks`), given
  /// dL/ds of every class at the theta of the last forward.
  virtual void backward(std::span<const double> ds, Blocks blocks, Parameters& gradient) = 0;
};

/// By match patterns for (2.5), by features for every other model.
std::unique_ptr<Scores> make_scores(const ModelSpec& model);

}  // namespace gih
