#pragma once
// build_prompts by all ranks, each drawing its share of the sequences; rank 0 puts them together.

#include "gih/data/prompts.hpp"

namespace gih {

/// By rank 0, after Order::draw. As build_prompts, with the same result for any number of ranks;
/// empty when any rank was told to stop. Throws what the first rank with an error threw.
Prompts collect_prompts(Ranks& ranks, const DataSpec& data, const PromptSpec& prompts, Split split,
                        int threads, const std::function<bool(std::size_t)>& done = {});

/// By the others: `draw` gives the prompts of this rank's share, empty where it has sequences and
/// was told to stop. What it throws goes to rank 0.
void send_prompts(Ranks& ranks, const std::function<Prompts()>& draw);

}  // namespace gih
