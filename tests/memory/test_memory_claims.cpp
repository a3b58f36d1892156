#include "gih/memory/memory_claims.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

using namespace gih;

TEST_CASE("every row says what it claims, and ids are those of one claim") {
  std::set<std::string> ids;
  for (const Claim& claim : all_claims()) {
    CAPTURE(claim.id);
    CHECK(ids.insert(claim.id).second);
    for (const char* text : {claim.id, claim.statement, claim.equation, claim.counter_meaning}) {
      REQUIRE(std::string(text).size() > 0);
      CHECK(std::string(text).find('\n') == std::string::npos);
    }
    CHECK(std::string(claim.id).find(',') == std::string::npos);
  }
  CHECK(memory_claims().size() >= 30);
  CHECK(all_claims().size() == claim_table().size() + memory_claims().size());
}

TEST_CASE("what fails as printed stands beside what holds in its place") {
  const std::string ending = ".printed";
  std::size_t printed = 0;
  for (const Claim& claim : memory_claims()) {
    CAPTURE(claim.id);
    const std::string id = claim.id;
    CHECK(claim.holds == !id.ends_with(ending));
    if (claim.holds) continue;
    const std::string wanted = id.substr(0, id.size() - ending.size());
    const auto corrected = std::find_if(memory_claims().begin(), memory_claims().end(),
                                        [&](const Claim& other) { return wanted == other.id; });
    REQUIRE(corrected != memory_claims().end());
    CHECK(corrected->holds);
    ++printed;
  }
  CHECK(printed >= 7);
}

TEST_CASE("every claim comes out as the table has it") {
  const auto results = check_claims({}, 2, memory_claims());
  REQUIRE(results.size() == memory_claims().size());
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
