// The whole table: every claim in every world, and its counter-example. The test_claims_*.cpp ask
// more of single rows.

#include "gih/theory/claims.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "gih/base/error.hpp"

using gih::Claim;
using gih::claim_table;
using gih::ClaimResult;
using gih::Verdict;

TEST_CASE("every row says what it claims, where it stands, and what its counter-example breaks") {
  std::set<std::string> ids;
  for (const Claim& claim : claim_table()) {
    CAPTURE(claim.id);
    CHECK(ids.insert(claim.id).second);
    for (const char* text : {claim.id, claim.statement, claim.equation, claim.counter_meaning}) {
      const std::string_view view = text;
      REQUIRE_FALSE(view.empty());
      CHECK(view.front() != ' ');
      CHECK(view.back() != ' ');
      CHECK(view.find('\n') == view.npos);
    }
    CHECK(std::string_view(claim.id).find(',') == std::string_view::npos);  // separates ids
  }
  CHECK(ids.size() >= 130);
}

TEST_CASE("what fails as printed stands beside what holds in its place") {
  // Corrected forms whose id is not the printed one without its ending.
  const std::map<std::string, std::string> others{{"E.26.k=8", "E.26"}};
  const std::string ending = ".printed";
  std::size_t printed = 0;
  for (const Claim& claim : claim_table()) {
    CAPTURE(claim.id);
    const std::string id = claim.id;
    const bool ends = id.ends_with(ending);
    CHECK(claim.holds == !(ends || others.contains(id)));
    if (claim.holds) continue;
    const std::string wanted = ends ? id.substr(0, id.size() - ending.size()) : others.at(id);
    const auto corrected = std::find_if(claim_table().begin(), claim_table().end(),
                                        [&](const Claim& other) { return wanted == other.id; });
    REQUIRE(corrected != claim_table().end());
    CHECK(corrected->holds);
    ++printed;
  }
  CHECK(printed >= 12);
}

TEST_CASE("every claim comes out as the table has it") {
  const auto results = gih::check_claims({}, 2);
  REQUIRE(results.size() == claim_table().size());
  for (const ClaimResult& result : results) {
    CAPTURE(result.id);
    CAPTURE(result.where);
    CAPTURE(result.tally.left());
    CAPTURE(result.tally.right());
    CHECK(result.tally.checked() > 0);
    CHECK(result.tally.verdict() == (result.expected_to_hold ? Verdict::pass : Verdict::fail));
    CHECK(result.counter == Verdict::fail);
    CHECK(result.as_expected);
    CHECK_FALSE(result.where.empty());
  }
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
