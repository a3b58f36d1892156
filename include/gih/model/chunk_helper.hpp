#pragma once
// What the other ranks do for the table engines of rank 0: each owns a run of an engine's chunks and
// passes over them on order. The sums of a chunk do not depend on who computes them, and rank 0 adds
// them in their order, so any number of ranks gives the same bits.

#include <memory>

#include "gih/base/ranks.hpp"
#include "gih/model/objective.hpp"

namespace gih {

class ChunkHelper {
 public:
  /// After Order::take: receives this rank's chunks of the engine that rank 0 makes.
  ChunkHelper(Ranks& ranks, const LossSpec& loss, int threads);
  ~ChunkHelper();

  /// After Order::pass for this engine.
  void help(const Order& order);

 private:
  struct Part;
  Ranks& ranks_;
  std::unique_ptr<Part> part_;
};

}  // namespace gih
