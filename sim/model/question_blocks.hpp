#pragma once
// The table engine's memory layout. Questions with the same number of targets T are packed into
// blocks of eight, one question a SIMD lane, so that those of a block share classes. The positions
// of a question fall into planes by their token: one plane for each target, and one for all other
// tokens if there are any. A block has for each plane a run of entries, each a class and the eight
// counts of its positions in that plane, for every class that occurs there in any lane. So the
// entries add up to all positions, and a pass reads each of them once, in order.

#include <cstdint>
#include <functional>
#include <vector>

#include "gih/data/prompts.hpp"
#include "lanes.hpp"

namespace gih {

struct QuestionBlock {
  std::uint32_t targets;     ///< T
  std::uint32_t planes;      ///< T, or T + 1 when not every token is a target
  std::size_t first_run;     ///< plane p has entries [runs[first_run + p], runs[first_run + p + 1])
  std::size_t first_weight;  ///< into weights: T, share in the loss of each target
};

/// A fixed run of blocks: the unit of work of a thread, with sums of its own.
struct BlockChunk {
  std::size_t first_block, last_block;
  std::size_t first_class, last_class;  ///< into chunk_class: the classes that occur in it
};

struct QuestionBlocks {
  std::vector<QuestionBlock> blocks;
  std::vector<std::size_t> runs;           ///< into entries; a block's last is the next one's first
  std::vector<std::uint32_t> entry_class;  ///< index into the chunk's classes
  std::vector<Lanes> counts;               ///< by entry; empty when all of them fit short_counts
  std::vector<ShortLanes> short_counts;    ///< by entry; empty otherwise
  std::vector<Lanes> weights;
  std::vector<BlockChunk> chunks;
  std::vector<std::uint32_t> chunk_class;
  std::size_t largest_chunk = 0;  ///< most classes in a chunk
  std::size_t most_planes = 0;    ///< of a block
  std::size_t most_entries = 0;   ///< of a block

  /// What a pass reads, in bytes.
  double bytes() const;
};

/// The class of a window, its token and a query window.
using ClassOf = std::function<std::uint32_t(WindowCode, Token, WindowCode)>;

/// With `all_tokens` every token is a target of each question, its weight maybe 0. The same result
/// for any number of threads.
QuestionBlocks pack_questions(const Prompts& prompts, bool all_tokens, int threads,
                              const ClassOf& class_of);

}  // namespace gih
