#pragma once
// Tests of samplers. Seeds are fixed, so a test that passes once passes always; the level guards
// against a rare draw at the time of writing and is so small that a wrong sampler is what fails.

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace gih::test {

/// All goodness-of-fit tests together fail by chance with probability 1e-6 (Bonferroni): they are
/// fewer than 200.
constexpr double level = 1e-6 / 200;

/// Probability of a chi-square statistic at least as large as that of `observed` counts, under
/// `expected` counts (same sum). Cells that expect fewer than 10 are pooled; an observation where
/// none can be has probability 0.
inline double chi_square_p(const std::vector<double>& observed,
                           const std::vector<double>& expected) {
  double statistic = 0.0;
  double pooled_observed = 0.0;
  double pooled_expected = 0.0;
  int cells = 0;
  const auto add = [&](double count, double mean) {
    statistic += (count - mean) * (count - mean) / mean;
    ++cells;
  };
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == 0.0 && observed[i] > 0.0) return 0.0;
    if (expected[i] >= 10.0) {
      add(observed[i], expected[i]);
    } else {
      pooled_observed += observed[i];
      pooled_expected += expected[i];
    }
  }
  if (pooled_expected >= 10.0) add(pooled_observed, pooled_expected);
  if (cells < 2) return std::numeric_limits<double>::quiet_NaN();  // nothing was tested
  const boost::math::chi_squared law(cells - 1);
  return boost::math::cdf(boost::math::complement(law, statistic));
}

/// The same for two samples: are both from one law?
inline double two_sample_p(const std::vector<double>& first, const std::vector<double>& second) {
  double n_first = 0.0;
  double n_second = 0.0;
  for (const double count : first) n_first += count;
  for (const double count : second) n_second += count;
  const double up = std::sqrt(n_second / n_first);
  double statistic = 0.0;
  int cells = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] + second[i] < 20.0) continue;
    const double apart = up * first[i] - second[i] / up;
    statistic += apart * apart / (first[i] + second[i]);
    ++cells;
  }
  if (cells < 2) return std::numeric_limits<double>::quiet_NaN();
  const boost::math::chi_squared law(cells - 1);
  return boost::math::cdf(boost::math::complement(law, statistic));
}

/// Kolmogorov and Smirnov's test of a large sample against a continuous distribution function.
inline double kolmogorov_p(std::vector<double> sample,
                           const std::function<double(double)>& distribution) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double apart = 0.0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double F = distribution(sample[i]);
    const auto rank = static_cast<double>(i);
    apart = std::max({apart, F - rank / n, (rank + 1.0) / n - F});
  }
  const double t = apart * std::sqrt(n);
  double sum = 0.0;
  for (int k = 1; k <= 100; ++k) {
    sum += (k % 2 == 1 ? 2.0 : -2.0) * std::exp(-2.0 * k * k * t * t);
  }
  return t < 0.2 ? 1.0 : std::clamp(sum, 0.0, 1.0);  // the alternating series needs t > 0
}

/// Mean of a sample with its standard error.
class Moment {
 public:
  void add(double x) {
    ++n_;
    const double before = x - mean_;
    mean_ += before / n_;
    squares_ += before * (x - mean_);
  }
  double mean() const { return mean_; }
  double standard_error() const { return std::sqrt(squares_ / (n_ - 1.0) / n_); }
  /// Distance from a value in standard errors.
  double errors_from(double value) const { return std::abs(mean_ - value) / standard_error(); }

 private:
  double n_ = 0.0;
  double mean_ = 0.0;
  double squares_ = 0.0;
};

}  // namespace gih::test
