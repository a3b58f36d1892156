#include "gih/theory/measures.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "gih/base/error.hpp"

namespace gih {
namespace {

using Law = std::span<const double>;

/// - sum_k target_k log(y_k + eps); what the target excludes does not count.
double minus_log(Law y, Law target, double eps) {
  double sum = 0.0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (target[k] > 0.0) sum -= target[k] * std::log(y[k] + eps);
  }
  return sum;
}

double loss(Law y, Law target, Law, double eps) {
  return minus_log(y, target, eps);
}  // (2.1)

double cross_entropy(Law y, Law target, Law, double) {
  return minus_log(y, target, 0.0);
}

/// The mean of loss() over the target's true law.
double risk(Law y, Law, Law pi, double eps) {
  return minus_log(y, pi, eps);
}

/// Between laws the added y - pi sums to 0; it makes every term a square to first order, and log1p
/// keeps its digits, so that two laws that are close do not give a negative divergence.
double kullback_leibler(Law y, Law, Law pi, double) {
  double sum = 0.0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    double term = y[k] - pi[k];
    if (pi[k] > 0.5 * y[k]) {
      term += pi[k] * std::log1p((pi[k] - y[k]) / y[k]);
    } else if (pi[k] > 0.0) {
      term += pi[k] * std::log(pi[k] / y[k]);
    }
    sum += term;
  }
  return sum;
}

double total_variation(Law y, Law, Law pi, double) {
  double sum = 0.0;
  for (std::size_t k = 0; k < y.size(); ++k) sum += std::abs(y[k] - pi[k]);
  return 0.5 * sum;
}

double squared_distance(Law y, Law, Law pi, double) {
  double sum = 0.0;
  for (std::size_t k = 0; k < y.size(); ++k) sum += (y[k] - pi[k]) * (y[k] - pi[k]);
  return sum;
}

}  // namespace

const std::vector<MeasureRow>& measure_table() {
  static const std::vector<MeasureRow> table{
      {"loss", "-log(y_k + eps), what training lowers (2.1)", false, loss},
      {"cross_entropy", "-log y_k", false, cross_entropy},
      {"risk", "mean of the loss over the true law of x_(L+1)", true, risk},
      {"kl", "KL(pi || y)", true, kullback_leibler},
      {"tv", "total variation between pi and y", true, total_variation},
      {"squared", "squared Euclidean distance between pi and y", true, squared_distance},
  };
  return table;
}

std::vector<double> distance(const Matrix& x, const Matrix& y, const Prompts& prompts,
                             std::size_t sequences) {
  const MeasureRow l1{"distance", "||x - y||_1", true,
                      [](Law of_x, Law target, Law of_y, double eps) {
                        return 2.0 * total_variation(of_x, target, of_y, eps);
                      }};
  return measure(l1, x, prompts, y, 0.0, sequences);
}

std::vector<double> measure(const MeasureRow& row, const Matrix& y, const Prompts& prompts,
                            const Matrix& conditional, double eps, std::size_t sequences) {
  const std::size_t questions = prompts.questions.size();
  const auto fits = [&](const Matrix& laws) {
    return static_cast<std::size_t>(laws.rows()) == questions && laws.cols() == prompts.d;
  };
  if (!fits(y)) {
    throw InputError(fmt::format("predictions are {} x {}: must be {} x {}", y.rows(), y.cols(),
                                 questions, prompts.d));
  }
  if (row.needs_truth && !fits(conditional)) {
    throw InputError(fmt::format("{} needs the true conditional law of every question", row.name));
  }
  if (sequences == 0 || prompts.count() % sequences != 0) {
    throw InputError(
        fmt::format("{} prompts are not those of {} sequences", prompts.count(), sequences));
  }
  const std::size_t prompts_each = prompts.count() / sequences;
  const auto d = static_cast<std::size_t>(prompts.d);
  std::vector<double> sum(sequences, 0.0), weight(sequences, 0.0), certain(d);
  for (std::size_t q = 0; q < questions; ++q) {
    const Question& question = prompts.questions[q];
    if (!(question.weight > 0.0)) continue;
    Law target = certain;
    if (question.soft >= 0) {
      target = prompts.target_law(question);
    } else {
      certain.assign(d, 0.0);
      certain[question.target] = 1.0;
    }
    const Law pi = row.needs_truth ? Law{conditional.data() + q * d, d} : Law{};
    const std::size_t i = question.prompt / prompts_each;
    sum[i] += question.weight * row.value({y.data() + q * d, d}, target, pi, eps);
    weight[i] += question.weight;
  }
  for (std::size_t i = 0; i < sequences; ++i) sum[i] /= weight[i];
  return sum;
}

Measured summary(const std::vector<double>& values) {
  Measured result;
  result.count = values.size();
  const auto n = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) {
    sum += value;
    if (!std::isfinite(value)) ++result.infinite;
  }
  result.mean = sum / n;
  result.error = std::numeric_limits<double>::quiet_NaN();
  if (values.size() < 2 || result.infinite > 0) return result;
  double squares = 0.0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.error = std::sqrt(squares / (n - 1.0) / n);
  return result;
}

Measured difference(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size()) {
    throw InputError(fmt::format("{} and {} values cannot be paired", x.size(), y.size()));
  }
  std::vector<double> apart(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) apart[i] = x[i] - y[i];
  return summary(apart);
}

}  // namespace gih
