#pragma once
// What a prompt says about the token after a given value of some lags; shared by the estimators.

#include <cstdint>
#include <vector>

#include "gih/theory/estimators.hpp"

namespace gih {

/// Number of X_{-S} in a window that has all lags of S: the digit of the largest lag is the least
/// significant.
std::uint64_t value_of(const WindowCodes& codes, WindowCode window, Subset S);

/// Largest element of S, 0 when it is empty.
int largest_lag(Subset S);

/// Parents as a subset of [M]; InputError when they do not fit a window.
Subset parent_subset(const EstimatorSpec& spec, int M);

/// Weights of (X_{-S}, next token) over the positions with `lags` lags or more.
class LagCounts {
 public:
  LagCounts(const PromptView& view, Subset S, int lags);

  std::size_t values() const { return value_.size(); }
  std::span<const double> row(std::size_t i) const { return {weight_.data() + i * d_, d_}; }
  /// The row of a value; empty when the prompt does not have it.
  std::span<const double> find(std::uint64_t value) const;
  /// Over all those positions.
  std::span<const double> total() const { return total_; }

 private:
  std::size_t d_;
  std::vector<std::uint64_t> value_;  // ascending
  std::vector<double> weight_;        // values x d
  std::vector<double> total_;         // d
};

/// InputError naming `who` unless every prompt has the cells of its first M positions, without
/// which what follows them is not counted. With `or_law` prompts of probabilities (L = inf), which
/// have no first position, are accepted too.
void check_all_positions(const Prompts& prompts, bool or_law, const char* who);

Predictor make_bayes(const EstimatorSpec& spec, const Prompts& prompts);
Predictor make_bayes_mixture(const EstimatorSpec& spec, const Prompts& prompts);

}  // namespace gih
