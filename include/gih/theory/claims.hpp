#pragma once
// The theory's definitions, lemmas and theorems as one table. Each row is checked in every world,
// and must fail on its counter-example, so that no check is empty. Adding a claim: a row in the
// claims_*.cpp that owns the subject.

#include <functional>
#include <string>
#include <vector>

#include "gih/theory/tally.hpp"
#include "gih/theory/worlds.hpp"

namespace gih {

enum class Mode { exact, sampled };

struct Claim {
  const char* id;         ///< "C.6", "E.9"; "as printed" rows end in ".printed"
  const char* statement;  ///< one sentence, plain text
  const char* equation;   ///< where it stands in the paper, or "ours" for what was derived here
  Mode mode;
  /// True for what must hold; false for a form that stands in the paper's text and is known to
  /// fail: its check must fail in some world.
  bool holds;
  void (*check)(const World&, Tally&);
  /// Breaks a hypothesis, or the formula, and must come out as FAIL.
  void (*counter_example)(Tally&);
  const char* counter_meaning;  ///< what the counter-example breaks
};

const std::vector<Claim>& claim_table();

struct ClaimResult {
  std::string id, statement, equation, mode;
  bool expected_to_hold = true;
  Tally tally;        ///< over all worlds
  std::string where;  ///< world of the least slack
  Verdict counter = Verdict::skipped;
  /// The check came out as expected and the counter-example failed.
  bool as_expected = false;
};

/// Checks the claims of a table whose ids are listed (all when empty), each in every world; threads
/// share the claims. InputError for an id that is unknown.
std::vector<ClaimResult> check_claims(const std::vector<std::string>& ids, int threads,
                                      const std::vector<Claim>& table = claim_table());

}  // namespace gih
