#pragma once
// How good a prediction is: one number a sequence, means with standard errors over sequences, and
// paired differences of two predictors. Adding a measure: a row in the table of measures.cpp.

#include <cstddef>
#include <span>
#include <vector>

#include "gih/data/prompts.hpp"
#include "gih/model/parameters.hpp"

namespace gih {

/// A mean over sequences. Where values are infinite it is what it is: infinite, or NaN when +inf
/// and -inf meet, and has no standard error (NaN); `infinite` of `count` says how many.
struct Measured {
  double mean = 0.0;
  double error = 0.0;  ///< standard error of the mean; NaN for fewer than two sequences
  std::size_t count = 0;
  std::size_t infinite = 0;  ///< sequences whose value is not finite
};

struct MeasureRow {
  const char* name;
  const char* meaning;
  bool needs_truth;  ///< pi(. | parents)
  /// Of one question: prediction y, target law, pi (empty unless needed), eps.
  double (*value)(std::span<const double> y, std::span<const double> target,
                  std::span<const double> pi, double eps);
};

const std::vector<MeasureRow>& measure_table();

/// One value a sequence: the mean over its questions by their weights. `conditional` is that of
/// true_conditional, without rows where the measure does not need it; the prompts are those of
/// `sequences` sequences, equally many each. InputError when sizes do not fit.
std::vector<double> measure(const MeasureRow& row, const Matrix& y, const Prompts& prompts,
                            const Matrix& conditional, double eps, std::size_t sequences);

/// ||x - y||_1 of two predictions, one value a sequence as in measure().
std::vector<double> distance(const Matrix& x, const Matrix& y, const Prompts& prompts,
                             std::size_t sequences);

Measured summary(const std::vector<double>& values);

/// Of x - y, sequence by sequence. A pair of infinite values says nothing and counts as infinite.
Measured difference(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace gih
