#pragma once
// The fast engine. A position's score depends on the class of its (window, query window) pair
// alone, so a step computes each class once, and a question is a few short dot products between the
// exponentials of the classes and its cell counts. The cost of a step does not depend on L.

#include <memory>

#include "gih/base/ranks.hpp"
#include "gih/data/prompts.hpp"
#include "gih/model/objective.hpp"

namespace gih {

/// Ranks that compute along, by a ChunkHelper each, if any; the engine is `number` in orders.
struct Sharing {
  Ranks* ranks = nullptr;
  std::int32_t number = 0;
};

/// The questions are those of `prompts`; nothing refers to it afterwards. InputError when sizes do
/// not fit. The same results, bit for bit, for any number of threads >= 1 and of ranks.
std::unique_ptr<Objective> make_table_engine(const ModelSpec& model, const LossSpec& loss,
                                             const Prompts& prompts, int threads,
                                             Sharing sharing = {});

/// Upper bound in bytes of a table engine for a split of these prompts.
double table_engine_bytes(const DataSpec& data, const PromptSpec& prompts, const ModelSpec& model,
                          const LossSpec& loss, Split split);

/// y of every question (2.5), questions x d.
Matrix predictions(const ModelSpec& model, const Parameters& theta, const Prompts& prompts);

}  // namespace gih
