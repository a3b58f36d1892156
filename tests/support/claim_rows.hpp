#pragma once
// Rows of the claim table in a test: each must come out as the table says, and its counter-example
// must fail.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "gih/theory/claims.hpp"

namespace gih::test {

inline ClaimResult row(const std::string& id) {
  return check_claims({id}, 1).front();
}

inline void check_rows(const std::vector<std::string>& ids) {
  const auto results = check_claims(ids, 2);
  REQUIRE(results.size() == ids.size());
  for (const ClaimResult& result : results) {
    CAPTURE(result.id);
    CAPTURE(result.where);
    CAPTURE(result.tally.left());
    CAPTURE(result.tally.right());
    CHECK(result.tally.checked() > 0);
    CHECK(result.tally.verdict() == (result.expected_to_hold ? Verdict::pass : Verdict::fail));
    CHECK(result.counter == Verdict::fail);
    CHECK(result.as_expected);
  }
}

}  // namespace gih::test
