#include "gih/theory/growth_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gih/base/parallel.hpp"
#include "gih/theory/tilt.hpp"

namespace gih {
namespace {

/// Two log rows of one stage, one after the other.
struct Between {
  const LogRow &from, &to;
  double time() const { return to.time - from.time; }
};

using Rises = std::vector<Between>;

/// What the stages that train this block alone did.
Rises rises_of(bool Blocks::*block, const Schedule& schedule, const Log& log) {
  Rises rises;
  for (std::size_t i = 1; i < log.size(); ++i) {
    const int stage = log[i].stage;
    if (stage < 1 || stage != log[i - 1].stage) continue;
    if (static_cast<std::size_t>(stage) > schedule.size()) continue;
    const Blocks& trains = schedule[static_cast<std::size_t>(stage - 1)].trains;
    if (!(trains.*block) || trains.c + trains.w + trains.a + trains.qkv != 1) continue;
    rises.push_back({log[i - 1], log[i]});
  }
  return rises;
}

/// Rise over time along a rise with these rates at its start, middle and end: its time is the sum
/// of 1 / rate over it, by Simpson's rule.
double over_rise(double from, double middle, double to) {
  return 6.0 / (1.0 / from + 4.0 / middle + 1.0 / to);
}

void selection(const std::vector<WindowLaw>& laws, const Setup& setup, const Rises& rises,
               GrowthRates& found) {
  if (rises.empty()) return;
  const std::vector<Subset> subsets = setup.model.subsets();
  const std::size_t star = found.choice.index;
  const std::vector<double> G = stage_one_gain(laws, setup.model, rises.front().from.theta.w);
  const auto lead = [&](const Parameters& theta, std::size_t S) {
    const double winner = theta.c[static_cast<Eigen::Index>(star)];
    return std::log(std::abs(winner / theta.c[static_cast<Eigen::Index>(S)]));
  };
  for (const Between& rise : rises) {
    const double a = rise.to.theta.a;
    const double inverse = 0.5 / rise.from.theta.C_D() + 0.5 / rise.to.theta.C_D();
    for (std::size_t S = 0; S < subsets.size(); ++S) {
      // A lost c_S ends among the numbers that lack digits.
      if (S == star || !std::isnormal(rise.to.theta.c[static_cast<Eigen::Index>(S)])) continue;
      const double before = lead(rise.from.theta, S), after = lead(rise.to.theta, S);
      found.rates.push_back(
          {rise.to.stage,
           subset_code(subsets[star], setup.model.H) + "/" + subset_code(subsets[S], setup.model.H),
           rise.from.time, rise.to.time, 0.5 * (before + after), (after - before) / rise.time(),
           2.0 * a * inverse * (G[star] - G[S]), 0.25 * a * inverse * found.choice.gap});
    }
  }
}

/// d_t log(sigma_{-h} / (1 - sigma_{-h})): the lead of lag h over the other lags, each as important
/// as its attention.
struct FocusRate {
  double predicted, bound;
};

FocusRate focus_rate(const StageTwo& limit, const Parameters& theta, Eigen::Index h, double gap) {
  const Matrix sigma = lag_attention(theta.w);
  const Matrix dw = limit.rate(theta.w, theta.a);
  const double own = sigma(h, h);
  double others = 0.0;
  FocusRate sum{0.0, 0.0};
  for (Eigen::Index i = 0; i < sigma.cols(); ++i) {
    if (i == h) continue;
    others += sigma(h, i);
    sum.predicted += sigma(h, i) * (dw(h, h) - dw(h, i));
    // (E.23), whose bracket is own (1 - own + sigma_{-i}).
    sum.bound += sigma(h, i) * 0.5 * theta.a * gap * own * (1.0 - own + sigma(h, i));
  }
  return {sum.predicted / others, sum.bound / others};
}

double focus_odds(const Matrix& w, Eigen::Index h) {
  double others = 0.0;
  for (Eigen::Index i = 0; i < w.cols(); ++i) {
    if (i != h) others += std::exp(w(h, i) - w(h, h));
  }
  return -std::log(others);
}

void copying(const std::vector<WindowLaw>& laws, const Setup& setup, const Rises& rises,
             GrowthRates& found) {
  if (rises.empty() || setup.model.M < 2) return;
  const StageTwo limit(laws, found.choice.S_star);
  for (const Between& rise : rises) {
    const Parameters &from = rise.from.theta, &to = rise.to.theta;
    Parameters middle = to;
    middle.w = 0.5 * (from.w + to.w);
    for (Eigen::Index h = 0; h < setup.model.H; ++h) {
      if (!(found.choice.S_star >> h & 1U)) continue;
      const double before = focus_odds(from.w, h), after = focus_odds(to.w, h);
      const auto at = [&](const Parameters& theta) {
        return focus_rate(limit, theta, h, found.choice.gap);
      };
      const FocusRate first = at(from), half = at(middle), last = at(to);
      found.rates.push_back({rise.to.stage, fmt::format("head {}", h + 1), rise.from.time,
                             rise.to.time, 0.5 * (before + after), (after - before) / rise.time(),
                             over_rise(first.predicted, half.predicted, last.predicted),
                             over_rise(first.bound, half.bound, last.bound)});
    }
  }
}

void growing(const std::vector<WindowLaw>& laws, const Rises& rises, GrowthRates& found) {
  if (rises.empty()) return;
  const std::vector<Tilt> kernels = tilts(laws, found.choice.S_star);
  for (const Between& rise : rises) {
    const double from = rise.from.theta.a, to = rise.to.theta.a, middle = 0.5 * (from + to);
    found.rates.push_back(
        {rise.to.stage, "a", rise.from.time, rise.to.time, middle, (to - from) / rise.time(),
         over_rise(mean_f5(kernels, from), mean_f5(kernels, middle), mean_f5(kernels, to)),
         std::numeric_limits<double>::quiet_NaN()});
  }
}

}  // namespace

GrowthRates growth_rates(const Setup& setup, const Log& log) {
  std::vector<WindowLaw> laws(setup.data.train);
  parallel_for(setup.threads, laws.size(), [&](std::size_t i) {
    laws[i] = window_law(sequence_kernel(setup.data, Split::train, i), setup.model.M);
  });
  GrowthRates found{choose_exactly(laws, setup.model), {}};
  selection(laws, setup, rises_of(&Blocks::c, setup.schedule, log), found);
  copying(laws, setup, rises_of(&Blocks::w, setup.schedule, log), found);
  growing(laws, rises_of(&Blocks::a, setup.schedule, log), found);
  return found;
}

std::vector<RateSummary> summaries(const GrowthRates& found) {
  std::vector<RateSummary> lines;
  for (const GrowthRate& rate : found.rates) {
    const double ratio = rate.measured / rate.predicted, of_bound = rate.measured / rate.bound;
    const auto same = [&](const RateSummary& line) {
      return line.first.stage == rate.stage && line.first.of == rate.of;
    };
    const auto line = std::find_if(lines.begin(), lines.end(), same);
    if (line == lines.end()) {
      lines.push_back({rate, 1, ratio, ratio, of_bound});
      continue;
    }
    ++line->rows;
    line->least = std::min(line->least, ratio);
    line->most = std::max(line->most, ratio);
    line->least_of_bound = std::min(line->least_of_bound, of_bound);
  }
  return lines;
}

}  // namespace gih
