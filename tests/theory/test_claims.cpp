// The whole table: every claim in every world, and its counter-example. The test_claims_*.cpp ask
// more of single rows.

#include "gih/theory/claims.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "gih/base/error.hpp"
#include "support/claim_rows.hpp"

using gih::claim_table;
using gih::ClaimResult;

TEST_CASE("every row says what it claims, where it stands, and what its counter-example breaks") {
  gih::test::check_texts(claim_table());
  CHECK(claim_table().size() >= 130);
}

TEST_CASE("what fails as printed stands beside what holds in its place") {
  CHECK(gih::test::check_printed(claim_table(), {{"E.26.k=8", "E.26"}}) >= 12);
}

TEST_CASE("every claim comes out as the table has it") {
  gih::test::check_rows({});
}

// A loose bound holds with half its constant too, so the table alone would not notice that one is
// gone. How much of its bound each row uses is pinned: a factor 2 moves that by a factor 2.
TEST_CASE("each inequality uses as much of its bound as before") {
  std::ifstream file(GIH_TEST_DATA "/claim_ratios.json");
  REQUIRE(file);
  const auto pinned = nlohmann::json::parse(file).get<std::map<std::string, double>>();
  std::size_t compared = 0;
  for (const ClaimResult& result : gih::check_claims({}, 2)) {
    if (!result.expected_to_hold || result.tally.ratio() == 0.0) continue;
    CAPTURE(result.id);
    const auto at = pinned.find(result.id);
    REQUIRE(at != pinned.end());
    CHECK(result.tally.ratio() == doctest::Approx(at->second).epsilon(0.01));
    ++compared;
  }
  CHECK(compared == pinned.size());
}

TEST_CASE("claims are found by their ids, in the order asked for") {
  const auto results = gih::check_claims({"C.4", "3.5"}, 1);
  REQUIRE(results.size() == 2);
  CHECK(results[0].id == "C.4");
  CHECK(results[1].id == "3.5");
  CHECK_THROWS_AS(gih::check_claims({"C.4", "no such claim"}, 1), gih::InputError);
}
