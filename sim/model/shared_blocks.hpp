#pragma once
// The chunks of a table engine, dealt to the ranks: runs of about equal length, in order.

#include "block_pass.hpp"
#include "gih/base/ranks.hpp"
#include "question_blocks.hpp"

namespace gih {

/// By rank 0, after Order::take: sends each rank its chunks, which `packed` no longer holds
/// afterwards; `chunks` and `chunk_class` still describe all. Number of chunks that rank 0 keeps.
std::size_t deal_chunks(Ranks& ranks, QuestionBlocks& packed);

/// By another rank: its chunks, maybe none, as if there were no others.
QuestionBlocks receive_chunks(Ranks& ranks);

/// Order::flags of a pass.
std::uint32_t flags_of(PassMode mode);
PassMode mode_of(std::uint32_t flags);

}  // namespace gih
