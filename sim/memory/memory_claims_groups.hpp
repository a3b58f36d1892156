#pragma once
// The subjects of memory_claims.cpp, and the sequences that their checks use.

#include <vector>

#include "gih/memory/items.hpp"
#include "gih/memory/memory_claims.hpp"
#include "gih/memory/sequence_law.hpp"
#include "gih/memory/stream.hpp"

namespace gih {

std::vector<Claim> stream_claims();
std::vector<Claim> pooling_claims();
std::vector<Claim> past_claims();
std::vector<Claim> snapshot_claims();

/// Of random tokens, with the limiting features of the world's parents.
Items claim_items(const World& world, std::size_t L);
/// The same positions with random keys of `d_e` entries.
Items claim_soft_items(const World& world, std::size_t L, Eigen::Index d_e);
/// Each kernel of the world alone.
std::vector<SequenceLaw> known_laws(const World& world);
/// Two tokens, lags 1 and 2: the information of two tokens rises up to lag 3.
SequenceLaw rising_law();
/// Two tokens; the next is their parity, with probability 0.9.
SequenceLaw parity_law();

/// |x - y| summed, entry by entry, against 0.
void same(const Eigen::VectorXd& x, const Eigen::VectorXd& y, Tally& tally);

/// A world for counter-examples: d = 2, parents 1 and 2, M = 3.
const World& small_world();

}  // namespace gih
