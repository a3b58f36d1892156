#include "estimators_counts.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "gih/base/error.hpp"

namespace gih {

std::uint64_t value_of(const WindowCodes& codes, WindowCode window, Subset S) {
  WindowCode digits = window - codes.first(codes.length(window));
  const auto d = static_cast<WindowCode>(codes.d());
  std::uint64_t value = 0;
  for (; S != 0; S >>= 1U, digits /= d) {
    if (S & 1U) value = value * d + digits % d;
  }
  return value;
}

int largest_lag(Subset S) {
  return static_cast<int>(std::bit_width(S));
}

Subset parent_subset(const EstimatorSpec& spec, int M) {
  if (spec.parents.empty()) throw InputError("the parents are not known");
  if (*std::max_element(spec.parents.begin(), spec.parents.end()) > M) {
    throw InputError(fmt::format("parents = {}: the largest must be at most the window M = {}",
                                 fmt::join(spec.parents, ","), M));
  }
  Subset R = 0;
  for (const int r : spec.parents) {
    if (r < 1 || r <= largest_lag(R)) {
      throw InputError(fmt::format("parents = {}: must be lags that ascend from 1 or more",
                                   fmt::join(spec.parents, ",")));
    }
    R |= Subset{1} << (r - 1);
  }
  return R;
}

LagCounts::LagCounts(const PromptView& view, Subset S, int lags)
    : d_(static_cast<std::size_t>(view.prompts.d)), total_(d_, 0.0) {
  const WindowCode shortest = view.codes.first(lags);
  std::vector<std::pair<std::uint64_t, const Cell*>> found;
  for (const Cell& cell : view.cells()) {
    if (cell.window >= shortest) found.emplace_back(value_of(view.codes, cell.window, S), &cell);
  }
  // Equal values keep the order of the cells, so sums are always taken alike.
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  for (const auto& [value, cell] : found) {
    if (value_.empty() || value_.back() != value) {
      value_.push_back(value);
      weight_.resize(weight_.size() + d_, 0.0);
    }
    weight_[weight_.size() - d_ + cell->next] += cell->weight;
    total_[cell->next] += cell->weight;
  }
}

std::span<const double> LagCounts::find(std::uint64_t value) const {
  const auto at = std::lower_bound(value_.begin(), value_.end(), value);
  if (at == value_.end() || *at != value) return {};
  return row(static_cast<std::size_t>(at - value_.begin()));
}

void check_all_positions(const Prompts& prompts, bool or_law, const char* who) {
  for (std::size_t i = 0; i < prompts.count(); ++i) {
    const auto cells = prompts.cells_of(i);
    // Position 1 alone has the empty window, whose code 0 comes first.
    if (!cells.empty() && cells.front().window == 0) continue;
    double total = 0.0;
    for (const Cell& cell : cells) total += cell.weight;
    // A law sums to 1; a masked prompt has L - M positions, more than one but for the shortest L.
    const bool law = total < 1.5;
    if (law && or_law) continue;
    throw InputError(
        fmt::format("{} needs {}", who,
                    law ? "counts of a finite prompt: length L = inf, or a prompt without "
                          "its first positions, has none"
                        : "every position of a prompt: build it without the mask"));
  }
}

}  // namespace gih
