#pragma once
// The fast engine. A position's score depends on its window and the query window alone, so a step
// computes each (window, query) pair that occurs once, and a question is two short dot products
// with its cell counts. The cost of a step does not depend on L.

#include <memory>

#include "gih/data/prompts.hpp"
#include "gih/model/objective.hpp"

namespace gih {

/// The questions are those of `prompts`, in order; nothing refers to it afterwards. InputError
/// when sizes do not fit. The same results, bit for bit, for any number of threads.
std::unique_ptr<Objective> make_table_engine(const ModelSpec& model, const LossSpec& loss,
                                             const Prompts& prompts, int threads);

}  // namespace gih
