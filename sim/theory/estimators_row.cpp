// Evidence and posterior mean of one row of pi = gamma + (1 - d gamma) theta, theta Dirichlet.
//
// prod_k pi_k^{n_k} is a polynomial in theta whose coefficients are positive, and the moments of a
// Dirichlet law are known, so with (x)_m = x (x+1) ... (x+m-1) and b = 1 - d gamma
//
//   E prod_k pi_k^{n_k} = sum_m [a_1 * ... * a_d](m) / (d alpha)_m,
//   a_k(m) = C(n_k, m) gamma^{n_k - m} b^m (alpha)_m,      * the convolution over m.
//
// Every term is positive, so no digit is lost; terms of one sum may differ by thousands of orders
// of magnitude, so each number carries an exponent of its own.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>

#include "gih/theory/estimators.hpp"

namespace gih {
namespace {

/// f 2^e, 0.5 <= f < 1, or f = 0.
struct Scaled {
  double f;
  std::int64_t e;
};

Scaled scaled(double x, std::int64_t e = 0) {
  int shift = 0;
  const double f = std::frexp(x, &shift);
  return {f, e + shift};
}

/// x y z^-1; x keeps the exponent.
Scaled times(Scaled x, double y, double z = 1.0) {
  const Scaled up = scaled(y), down = scaled(z);
  return scaled(x.f * up.f / down.f, x.e + up.e - down.e);
}

using Series = std::vector<Scaled>;

/// 2^-k; what is smaller than 2^-127 of the largest term is below every digit of the sum.
const std::array<double, 128>& powers() {
  static const auto table = [] {
    std::array<double, 128> t{};
    for (std::size_t k = 0; k < t.size(); ++k) t[k] = std::ldexp(1.0, -static_cast<int>(k));
    return t;
  }();
  return table;
}

/// sum_j x[first_x + j] y[first_y - j] over `count` terms.
Scaled sum_of_products(const Scaled* x, const Scaled* y, std::size_t count) {
  std::int64_t largest = INT64_MIN;
  for (std::size_t j = 0; j < count; ++j) largest = std::max(largest, x[j].e + (y - j)->e);
  double sum = 0.0;
  for (std::size_t j = 0; j < count; ++j) {
    const auto below = static_cast<std::uint64_t>(largest - x[j].e - (y - j)->e);
    if (below < powers().size()) sum += x[j].f * (y - j)->f * powers()[below];
  }
  return scaled(sum, largest);
}

Series convolve(const Series& x, const Series& y) {
  Series result;
  result.reserve(x.size() + y.size() - 1);
  for (std::size_t m = 0; m + 1 < x.size() + y.size(); ++m) {
    const std::size_t first = m < y.size() ? 0 : m - y.size() + 1;
    const std::size_t last = std::min(m, x.size() - 1);
    result.push_back(sum_of_products(&x[first], &y[m - first], last - first + 1));
  }
  return result;
}

/// a_k(m), m = 0 .. n.
Series coefficients(std::size_t n, double alpha, double floor, double b) {
  Scaled term = scaled(1.0);
  for (std::size_t i = 0; i < n; ++i) term = times(term, floor);
  Series a{term};
  for (std::size_t m = 0; m < n; ++m) {
    const auto at = static_cast<double>(m);
    term = times(term, (static_cast<double>(n) - at) * (alpha + at) / (at + 1.0));
    a.push_back(term = times(term, b, floor));
  }
  return a;
}

Scaled evidence(std::span<const std::size_t> counts, double alpha, double floor) {
  const auto d = static_cast<double>(counts.size());
  if (floor == 0.0) {  // the last coefficient alone
    Scaled product = scaled(1.0);
    double drawn = 0.0;
    for (const std::size_t n : counts) {
      for (std::size_t m = 0; m < n; ++m, drawn += 1.0) {
        product = times(product, alpha + static_cast<double>(m), d * alpha + drawn);
      }
    }
    return product;
  }
  Series all{scaled(1.0)};
  for (const std::size_t n : counts) {
    if (n > 0) all = convolve(all, coefficients(n, alpha, floor, 1.0 - d * floor));
  }
  // 1 / (d alpha)_m from the last back to the first, as sum_of_products runs.
  Series moment{scaled(1.0)};
  for (std::size_t m = 0; m + 1 < all.size(); ++m) {
    moment.push_back(times(moment.back(), 1.0, d * alpha + static_cast<double>(m)));
  }
  std::reverse(moment.begin(), moment.end());
  return sum_of_products(all.data(), &moment.back(), all.size());
}

}  // namespace

double log_row_evidence(std::span<const std::size_t> counts, double alpha, double floor) {
  const Scaled value = evidence(counts, alpha, floor);
  return std::log(value.f) + static_cast<double>(value.e) * std::numbers::ln2;
}

std::vector<double> row_posterior_mean(std::span<const std::size_t> counts, double alpha,
                                       double floor) {
  std::vector<double> mean(counts.size());
  if (floor == 0.0) {
    const auto n =
        static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
    for (std::size_t k = 0; k < mean.size(); ++k) {
      mean[k] = (static_cast<double>(counts[k]) + alpha) /
                (n + static_cast<double>(counts.size()) * alpha);
    }
    return mean;
  }
  const Scaled before = evidence(counts, alpha, floor);
  std::vector<std::size_t> with(counts.begin(), counts.end());
  for (std::size_t k = 0; k < mean.size(); ++k) {
    // Tokens that were seen equally often are equally likely.
    const auto like =
        std::find(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(k), counts[k]);
    const auto j = static_cast<std::size_t>(like - counts.begin());
    if (j < k) {
      mean[k] = mean[j];
      continue;
    }
    ++with[k];
    const Scaled after = evidence(with, alpha, floor);
    --with[k];
    mean[k] = std::ldexp(after.f / before.f, static_cast<int>(after.e - before.e));
  }
  return mean;
}

}  // namespace gih
