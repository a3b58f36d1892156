#include <algorithm>
#include <cmath>

#include "run_view.hpp"

namespace gih {
namespace {

/// a against the time over every stage that trains a alone, one after the other.
struct Growing {
  double time, a;
};

std::vector<Growing> growing(const RunView& run) {
  std::vector<Growing> path;
  for (const StageRows& stage : run.stages) {
    const Blocks& trains = stage.stage.trains;
    if (!trains.a || trains.c || trains.w) continue;
    const double before = path.empty() ? 0.0 : path.back().time;
    // Each stage repeats the last row of the one before.
    for (const LogRow& row : stage.rows.subspan(path.empty() ? 0 : 1)) {
      path.push_back({before + row.time, row.theta.a});
    }
  }
  return path;
}

}  // namespace

void a_rises(const RunView& run, Check& check) {
  const std::vector<Growing> path = growing(run);
  if (path.empty()) return skip_without("a", check);
  for (std::size_t i = 1; i < path.size(); ++i) check.tally.at_most(path[i - 1].a, path[i].a);
}

void two_regimes(const RunView& run, Check& check) {
  const std::vector<Growing> path = growing(run);
  if (path.empty()) return skip_without("a", check);
  if (path.size() < 20) return check.tally.skip("fewer than 20 log rows");
  // Between neighbouring rows, so that a coarse log blurs as little as it can.
  const auto rate = [](const Growing& from, const Growing& to) {
    return (to.a - from.a) / (to.time - from.time);
  };
  const Growing& end = path.back();
  const double early = rate(path[0], path[1]);
  const double late = rate(path[path.size() - 2], end);
  check.binding = false;  // a matter of how long was trained
  check.tally.at_most(10.0 * late, early);
  const auto decade = std::find_if(path.begin(), path.end(),
                                   [&](const Growing& now) { return now.time >= end.time / 10.0; });
  const double slope = (end.a - decade->a) / std::log(end.time / decade->time);
  check.note = fmt::format(
      "da/dt {:.3g} at first, {:.3g} at last; da/dlog t = {:.3f} over the last decade (1/2 for "
      "the flow at L = inf, eps = 0)",
      early, late, slope);
}

}  // namespace gih
