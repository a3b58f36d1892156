#include "gih/theory/growth_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gih/base/parallel.hpp"
#include "regimes.hpp"

namespace gih {
namespace {

/// From one log row to the next.
struct Step {
  double from, to;  ///< a
  double rate;      ///< (to - from) / time
};

std::vector<Step> steps_of(const Schedule& schedule, const Log& log) {
  std::vector<Step> steps;
  for (std::size_t i = 1; i < log.size(); ++i) {
    const int stage = log[i].stage;
    if (stage < 1 || stage != log[i - 1].stage) continue;
    if (static_cast<std::size_t>(stage) > schedule.size()) continue;
    const Blocks& trains = schedule[static_cast<std::size_t>(stage - 1)].trains;
    if (!trains.a || trains.c || trains.w) continue;
    const double from = log[i - 1].theta.a, to = log[i].theta.a;
    steps.push_back({from, to, (to - from) / (log[i].time - log[i - 1].time)});
  }
  return steps;
}

Regimes regimes_of(const Setup& setup, const PriorFacts& facts) {
  std::vector<WindowLaw> laws(setup.data.train);
  parallel_for(setup.threads, laws.size(), [&](std::size_t i) {
    laws[i] = window_law(sequence_kernel(setup.data, Split::train, i), setup.model.M);
  });
  return {tilts(laws, facts.S_star()), facts.gamma};
}

/// The rate over a step, within these factors of `form` at the two ends.
template <class Form>
void within(const Step& step, double low, double high, Form form, Tally& tally) {
  const auto [least, most] = std::minmax({form(step.from), form(step.to)});
  tally.at_most(low * least / step.rate, 1.0);
  tally.at_most(step.rate / (high * most), 1.0);
}

}  // namespace

std::vector<Check> check_growth(const Setup& setup, const PriorFacts& facts, const Log& log) {
  Check exact{"III.f5", "da/dt is f_5(a) within 1 %", "E.30, Prop. E.4", "exact", {}, false, ""};
  Check small{"III.small",
              "da/dt is e^a I* within the theorem's factors while a is small",
              "Theorem 3.6, III",
              "exact",
              {},
              false,
              ""};
  Check large{"III.large",
              "da/dt is e^a (e^a - 1)^-3 E[m^-2 D_0] within the theorem's factors once a is large",
              "Theorem 3.6, III, corrected",
              "exact",
              {},
              false,
              ""};
  const std::vector<Step> steps = steps_of(setup.schedule, log);
  const char* why = setup.data.L || setup.eps > 0.0 ? "the closed form is that of L = inf, eps = 0"
                    : steps.empty()                 ? "no stage trains a alone"
                    : !(facts.gamma > 0.0)          ? "gamma = 0"
                                                    : nullptr;
  if (why != nullptr) {
    for (Check* check : {&exact, &small, &large}) check->tally.skip(why);
    return {exact, small, large};
  }
  const Regimes on = regimes_of(setup, facts);
  for (const Step& step : steps) {
    within(
        step, 0.99, 1.01, [&](double a) { return on.rate(a); }, exact.tally);
    if (step.to <= on.small_end()) {
      within(
          step, on.low(), on.high(), [&](double a) { return on.small_form(a); }, small.tally);
    }
    if (step.from >= on.large_start()) {
      within(
          step, on.low(), on.high(), [&](double a) { return on.large_form(a); }, large.tally);
    }
  }
  const double least = steps.front().from, most = steps.back().to;
  small.note = fmt::format("up to a = {:.4g}; I* = {:.4g}, factors {:.3g} to {:.3g}",
                           on.small_end(), mean_early(on.kernels), on.low(), on.high());
  large.note = fmt::format("from a = {:.4g} on; E[m^-2 D_0] = {:.4g}", on.large_start(),
                           mean_late(on.kernels));
  if (small.tally.checked() == 0) {
    small.tally.skip(
        fmt::format("a starts at {:.4g}, small is up to {:.4g}", least, on.small_end()));
  }
  if (large.tally.checked() == 0) {
    large.tally.skip(
        fmt::format("a ends at {:.4g}, large is from {:.4g} on", most, on.large_start()));
  }
  return {exact, small, large};
}

}  // namespace gih
