#pragma once
// What is said of compressed memories and of snapshots, as rows of the same kind as claims.hpp has
// of the theory. Exact statements alone; what has to be measured is in docs/memory-findings.md.

#include "gih/theory/claims.hpp"

namespace gih {

/// Ids start with "memory", "snapshot" or "past".
const std::vector<Claim>& memory_claims();

/// Those of the theory, then these.
const std::vector<Claim>& all_claims();

}  // namespace gih
