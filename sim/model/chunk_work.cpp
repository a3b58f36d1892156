#include "chunk_work.hpp"

#include <omp.h>

#include <chrono>

namespace gih {

ChunkWork::ChunkWork(const LossSpec& loss, const QuestionBlocks& blocks, std::size_t chunks,
                     int threads)
    : blocks_(blocks), chunks_(static_cast<std::ptrdiff_t>(chunks)), team_(threads) {
  for (int i = 0; i < threads; ++i) passes_.emplace_back(loss, blocks_);
}

void ChunkWork::run(std::span<const double> e, PassMode mode, double* loss, double* sum) {
  const int threads = chunks_ > 1 ? team_.next() : 1;
  const auto start = std::chrono::steady_clock::now();
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    BlockPass& pass = passes_[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(static)
    for (std::ptrdiff_t i = 0; i < chunks_; ++i) {
      const auto c = static_cast<std::size_t>(i);
      loss[c] = pass.run(c, e, mode, sum + blocks_.chunks[c].first_class);
    }
  }
  team_.took(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace gih
