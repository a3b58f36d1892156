#pragma once
// Rows of the claim table in a test: each must come out as the table says, and its counter-example
// must fail.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gih/theory/claims.hpp"

namespace gih::test {

inline const Claim* find_claim(const std::vector<Claim>& table, const std::string& id) {
  const auto at =
      std::find_if(table.begin(), table.end(), [&](const Claim& claim) { return id == claim.id; });
  return at == table.end() ? nullptr : &*at;
}

/// What fails as printed stands beside what holds in its place; `others` are corrected forms whose
/// id is not the printed one without its ending. How many such rows there are.
inline std::size_t check_printed(const std::vector<Claim>& table,
                                 const std::map<std::string, std::string>& others = {}) {
  const std::string ending = ".printed";
  std::size_t printed = 0;
  for (const Claim& claim : table) {
    CAPTURE(claim.id);
    const std::string id = claim.id;
    const bool ends = id.ends_with(ending);
    CHECK(claim.holds == !(ends || others.contains(id)));
    if (claim.holds) continue;
    const Claim* corrected =
        find_claim(table, ends ? id.substr(0, id.size() - ending.size()) : others.at(id));
    REQUIRE(corrected != nullptr);
    CHECK(corrected->holds);
    ++printed;
  }
  return printed;
}

/// Ids are those of one claim each, and every row says what it claims, where it stands, and what
/// its counter-example breaks.
inline void check_texts(const std::vector<Claim>& table) {
  std::set<std::string> ids;
  for (const Claim& claim : table) {
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
}

inline ClaimResult row(const std::string& id) {
  return check_claims({id}, 1).front();
}

/// Those rows of a table, all when there are none.
inline void check_rows(const std::vector<std::string>& ids,
                       const std::vector<Claim>& table = claim_table()) {
  const auto results = check_claims(ids, 2, table);
  REQUIRE(results.size() == (ids.empty() ? table.size() : ids.size()));
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

}  // namespace gih::test
