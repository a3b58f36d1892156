#pragma once
// Rows of the claim table, world by world.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gih/theory/claims.hpp"

namespace gih::test {

/// The row holds in every world, or fails in one if it must not hold; its counter-example fails.
/// Both compared at least `least` numbers over all worlds.
inline void check_row(const std::string& id, std::size_t least) {
  CAPTURE(id);
  const auto at = std::find_if(claim_table().begin(), claim_table().end(),
                               [&](const Claim& claim) { return id == claim.id; });
  REQUIRE(at != claim_table().end());
  std::size_t checked = 0, failed = 0;
  for (const World& world : worlds()) {
    CAPTURE(world.name);
    Tally tally;
    at->check(world, tally);
    checked += tally.checked();
    if (tally.checked() == 0) continue;
    failed += tally.verdict() == Verdict::fail;
    if (at->holds) CHECK(tally.verdict() == Verdict::pass);
  }
  CHECK(checked >= least);
  if (!at->holds) CHECK(failed > 0);
  Tally counter;
  at->counter_example(counter);
  CHECK(counter.checked() > 0);
  CHECK(counter.verdict() == Verdict::fail);
}

}  // namespace gih::test
