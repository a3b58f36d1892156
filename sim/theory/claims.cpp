#include "gih/theory/claims.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "claims_groups.hpp"
#include "gih/base/error.hpp"
#include "gih/base/parallel.hpp"

namespace gih {

const std::vector<Claim>& claim_table() {
  static const std::vector<Claim> table = [] {
    std::vector<Claim> all;
    for (const auto& group :
         {loss_claims(), model_claims(), gradient_claims(), information_claims(), parent_claims(),
          mixing_claims(), distance_claims(), error_claims(), star_claims(), lag_claims(),
          chain_claims(), limit_claims(), selection_claims(), concentration_claims(),
          focus_claims(), growth_claims(), curve_claims(), regime_claims()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return table;
}

namespace {

ClaimResult check(const Claim& claim) {
  ClaimResult result{claim.id,
                     claim.statement,
                     claim.equation,
                     claim.mode == Mode::exact ? "exact" : "sampled",
                     claim.holds,
                     {},
                     "",
                     {},
                     false};
  for (const World& world : worlds()) {
    const double before = result.tally.slack();
    const std::size_t checked = result.tally.checked();
    claim.check(world, result.tally);
    if (result.tally.checked() > checked && (checked == 0 || result.tally.slack() != before)) {
      result.where = world.name;
    }
  }
  Tally counter;
  claim.counter_example(counter);
  result.counter = counter.verdict();
  const Verdict wanted = claim.holds ? Verdict::pass : Verdict::fail;
  result.as_expected = result.tally.checked() > 0 && result.tally.verdict() == wanted &&
                       result.counter == Verdict::fail && counter.checked() > 0;
  return result;
}

}  // namespace

std::vector<ClaimResult> check_claims(const std::vector<std::string>& ids, int threads,
                                      const std::vector<Claim>& table) {
  std::vector<const Claim*> chosen;
  for (const std::string& id : ids) {
    const auto at = std::find_if(table.begin(), table.end(),
                                 [&](const Claim& claim) { return id == claim.id; });
    if (at == table.end())
      throw InputError(fmt::format("claim \"{}\" is unknown; see gih verify --list", id));
    chosen.push_back(&*at);
  }
  if (ids.empty()) {
    for (const Claim& claim : table) chosen.push_back(&claim);
  }
  worlds();  // made before the threads ask for them
  std::vector<ClaimResult> results(chosen.size());
  parallel_for(threads, chosen.size(), [&](std::size_t i) { results[i] = check(*chosen[i]); });
  return results;
}

}  // namespace gih
