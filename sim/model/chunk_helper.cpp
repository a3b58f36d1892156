#include "gih/model/chunk_helper.hpp"

#include "chunk_work.hpp"
#include "shared_blocks.hpp"

namespace gih {

struct ChunkHelper::Part {
  QuestionBlocks blocks;
  ChunkWork work;
  std::vector<double> e, loss, sum;

  Part(Ranks& ranks, const LossSpec& spec, int threads)
      : blocks(receive_chunks(ranks)),
        work(spec, blocks, blocks.chunks.size(), threads),
        loss(blocks.chunks.size()),
        sum(blocks.chunk_class.size()) {
    std::uint64_t classes = 0;
    broadcast(ranks, classes);
    e.resize(classes);
  }
};

ChunkHelper::ChunkHelper(Ranks& ranks, const LossSpec& loss, int threads)
    : ranks_(ranks), part_(std::make_unique<Part>(ranks, loss, threads)) {}

ChunkHelper::~ChunkHelper() = default;

void ChunkHelper::help(const Order& order) {
  const PassMode mode = mode_of(order.flags);
  broadcast(ranks_, std::span(part_->e));
  part_->work.run(part_->e, mode, part_->loss.data(), part_->sum.data());
  if (mode.loss) ranks_.send(0, std::as_bytes(std::span(part_->loss)));
  if (mode.gradient) ranks_.send(0, std::as_bytes(std::span(part_->sum)));
}

}  // namespace gih
