#pragma once
// Passes over the chunks that one process owns, spread over its threads.

#include <cstdint>
#include <span>
#include <vector>

#include "block_pass.hpp"
#include "gih/base/parallel.hpp"
#include "question_blocks.hpp"

namespace gih {

class ChunkWork {
 public:
  /// Of the first `chunks` of the blocks, to which a reference is kept.
  ChunkWork(const LossSpec& loss, const QuestionBlocks& blocks, std::size_t chunks, int threads);

  /// Loss of each chunk into `loss`, and sums of its classes (BlockPass::run) into `sum`, which is
  /// indexed like QuestionBlocks::chunk_class.
  void run(std::span<const double> e, PassMode mode, double* loss, double* sum);

 private:
  const QuestionBlocks& blocks_;
  std::ptrdiff_t chunks_;
  TeamSize team_;
  std::vector<BlockPass> passes_;  // by thread
};

}  // namespace gih
