#include "shared_blocks.hpp"

#include <utility>

namespace gih {
namespace {

template <class T>
std::vector<T> part_of(const std::vector<T>& all, std::size_t first, std::size_t last) {
  if (all.empty()) return {};  // the kind of counts that is not used
  return {all.begin() + static_cast<std::ptrdiff_t>(first),
          all.begin() + static_cast<std::ptrdiff_t>(last)};
}

/// Those chunks, all places counted from their first.
QuestionBlocks cut(const QuestionBlocks& all, Share chunks) {
  QuestionBlocks part;
  part.runs = {0};
  part.largest_chunk = all.largest_chunk;
  part.most_planes = all.most_planes;
  part.most_entries = all.most_entries;
  if (chunks.size() == 0) return part;
  const BlockChunk& from = all.chunks[chunks.first];
  const BlockChunk& to = all.chunks[chunks.last - 1];
  const QuestionBlock& first = all.blocks[from.first_block];
  const bool is_last = to.last_block == all.blocks.size();
  const std::size_t end_run =
      is_last ? all.runs.size() - 1 : all.blocks[to.last_block].first_run;
  const std::size_t end_weight =
      is_last ? all.weights.size() : all.blocks[to.last_block].first_weight;
  const std::size_t entry = all.runs[first.first_run], end_entry = all.runs[end_run];
  part.blocks = part_of(all.blocks, from.first_block, to.last_block);
  for (QuestionBlock& block : part.blocks) {
    block.first_run -= first.first_run;
    block.first_weight -= first.first_weight;
  }
  part.runs = part_of(all.runs, first.first_run, end_run + 1);
  for (std::size_t& run : part.runs) run -= entry;
  part.entry_class = part_of(all.entry_class, entry, end_entry);
  part.counts = part_of(all.counts, entry, end_entry);
  part.short_counts = part_of(all.short_counts, entry, end_entry);
  part.weights = part_of(all.weights, first.first_weight, end_weight);
  part.chunks = part_of(all.chunks, chunks.first, chunks.last);
  part.chunk_class = part_of(all.chunk_class, from.first_class, to.last_class);
  for (BlockChunk& chunk : part.chunks) {
    chunk.first_block -= from.first_block;
    chunk.last_block -= from.first_block;
    chunk.first_class -= from.first_class;
    chunk.last_class -= from.first_class;
  }
  return part;
}

constexpr std::uint32_t careful = 1, loss = 2, gradient = 4;

}  // namespace

std::uint32_t flags_of(PassMode mode) {
  return (mode.careful ? careful : 0) | (mode.loss ? loss : 0) | (mode.gradient ? gradient : 0);
}

PassMode mode_of(std::uint32_t flags) {
  return {(flags & careful) != 0, (flags & loss) != 0, (flags & gradient) != 0};
}

std::size_t deal_chunks(Ranks& ranks, QuestionBlocks& packed) {
  const auto share = [&](int rank) {
    return share_of(packed.chunks.size(), ranks.count(), rank);
  };
  for (int to = 1; to < ranks.count(); ++to) {
    const QuestionBlocks part = cut(packed, share(to));
    send_vector(ranks, to, part.blocks);
    send_vector(ranks, to, part.runs);
    send_vector(ranks, to, part.entry_class);
    send_vector(ranks, to, part.counts);
    send_vector(ranks, to, part.short_counts);
    send_vector(ranks, to, part.weights);
    send_vector(ranks, to, part.chunks);
    send_vector(ranks, to, part.chunk_class);
    send_vector<std::size_t>(ranks, to, {part.largest_chunk, part.most_planes, part.most_entries});
  }
  const std::size_t kept = share(0).size();
  QuestionBlocks own = cut(packed, share(0));
  own.chunks = std::move(packed.chunks);
  own.chunk_class = std::move(packed.chunk_class);
  packed = std::move(own);
  return kept;
}

QuestionBlocks receive_chunks(Ranks& ranks) {
  QuestionBlocks part;
  part.blocks = receive_vector<QuestionBlock>(ranks, 0);
  part.runs = receive_vector<std::size_t>(ranks, 0);
  part.entry_class = receive_vector<std::uint32_t>(ranks, 0);
  part.counts = receive_vector<Lanes>(ranks, 0);
  part.short_counts = receive_vector<ShortLanes>(ranks, 0);
  part.weights = receive_vector<Lanes>(ranks, 0);
  part.chunks = receive_vector<BlockChunk>(ranks, 0);
  part.chunk_class = receive_vector<std::uint32_t>(ranks, 0);
  const auto sizes = receive_vector<std::size_t>(ranks, 0);
  part.largest_chunk = sizes[0];
  part.most_planes = sizes[1];
  part.most_entries = sizes[2];
  return part;
}

}  // namespace gih
