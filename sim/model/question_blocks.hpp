#pragma once
// The table engine's memory layout. Questions with the same number of targets T are sorted by the
// classes that their cells fall into and packed into blocks of eight, one question a SIMD lane. A
// block lists the classes that occur in any of its lanes ("slots"). A slot has planes, each the
// eight counts of the positions of its class whose token is in the plane: one plane for each
// target, and one for all other tokens if there are any. So the planes add up to all positions.

#include <cstdint>
#include <functional>
#include <vector>

#include "gih/data/prompts.hpp"
#include "lanes.hpp"

namespace gih {

struct QuestionBlock {
  std::uint32_t slots;
  std::uint32_t targets;     ///< T
  std::uint32_t planes;      ///< T, or T + 1 when not every token is a target
  std::size_t first_slot;    ///< into QuestionBlocks::slot_class
  std::size_t first_count;   ///< into counts: slots x planes
  std::size_t first_weight;  ///< into weights: T, share in the loss of each target
};

/// A fixed run of blocks: the unit of work of a thread, with sums of its own.
struct BlockChunk {
  std::size_t first_block, last_block;
  std::size_t first_class, last_class;  ///< into chunk_class: the classes that occur in it
};

struct QuestionBlocks {
  std::vector<QuestionBlock> blocks;
  std::vector<std::uint32_t> slot_class;  ///< index into the chunk's classes
  std::vector<Lanes> counts;              ///< empty when all of them fit short_counts
  std::vector<ShortLanes> short_counts;   ///< empty otherwise
  std::vector<Lanes> weights;
  std::vector<BlockChunk> chunks;
  std::vector<std::uint32_t> chunk_class;
  std::size_t largest_chunk = 0;  ///< most classes in a chunk
  std::size_t most_planes = 0;    ///< of a block
  std::size_t most_slots = 0;     ///< of a block
};

/// The class of a window, its token and a query window.
using ClassOf = std::function<std::uint32_t(WindowCode, Token, WindowCode)>;

/// With `all_tokens` every token is a target of each question, its weight maybe 0.
QuestionBlocks pack_questions(const Prompts& prompts, bool all_tokens, const ClassOf& class_of);

}  // namespace gih
