#include "gih/memory/pooled_theory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gih/base/error.hpp"
#include "gih/data/chain.hpp"

namespace gih {
namespace {

/// The chain of windows long enough for its parents and for S.
struct Windows {
  WindowCodes codes;
  std::vector<double> law;   // of windows of w tokens
  std::vector<double> next;  // windows x d
  std::vector<bool> match;

  Windows(const Kernel& kernel, Subset S, const std::vector<Token>& query)
      : codes(kernel.d, width(kernel, S)) {
    const int w = codes.M();
    const WindowChain chain(kernel);
    law = extend_law(kernel, chain.long_run_law(), w);
    const auto d = static_cast<std::size_t>(kernel.d);
    next.resize(law.size() * d);
    match.resize(law.size());
    for (std::size_t Z = 0; Z < law.size(); ++Z) {
      const auto lags = codes.decode(codes.first(w) + Z);
      const auto row = kernel.row(kernel.parent_code(lags));
      std::copy(row.begin(), row.end(), next.begin() + static_cast<std::ptrdiff_t>(Z * d));
      std::size_t at = 0;
      bool all = true;
      for (int lag = 1; lag <= w; ++lag) {
        if (S >> (lag - 1) & 1U)
          all = all && lags[static_cast<std::size_t>(lag) - 1] == query[at++];
      }
      match[Z] = all;
    }
  }

  std::size_t successor(std::size_t Z, std::size_t x) const {
    return static_cast<std::size_t>(
        codes.advance(codes.first(codes.M()) + Z, static_cast<Token>(x)) - codes.first(codes.M()));
  }

  static int width(const Kernel& kernel, Subset S) {
    int w = kernel.largest_lag();
    while (S >> w != 0) ++w;
    if (w > 12) throw InputError(fmt::format("lag {} of the pattern: must be at most 12", w));
    return w;
  }
};

}  // namespace

double jensen_deficit(double a, double f) {
  return std::log1p(f * std::expm1(a)) - a * f;
}

double jensen_share(double a) {
  return 1.0 / a - 1.0 / std::expm1(a);
}

double jensen_maximum(double a) {
  const double lambda = std::expm1(a);
  return std::log(lambda / a) - 1.0 + a / lambda;
}

double independent_weight(double q, double a, int c) {
  const double tilt = q * std::exp(a / c);
  return tilt / (1.0 - q + tilt);
}

std::vector<double> pooled_prediction(const Kernel& kernel, Subset S,
                                      const std::vector<Token>& query, double theta, int c) {
  const Windows windows(kernel, S, query);
  const auto d = static_cast<std::size_t>(kernel.d);
  const std::size_t n = windows.law.size();
  std::vector<double> Phi = windows.law;
  std::vector<std::vector<double>> Psi(d, std::vector<double>(n, 0.0));
  for (int step = 0; step < c; ++step) {
    std::vector<double> next_Phi(n, 0.0);
    std::vector<std::vector<double>> next_Psi(d, std::vector<double>(n, 0.0));
    for (std::size_t Z = 0; Z < n; ++Z) {
      const double tilt = windows.match[Z] ? std::exp(theta) : 1.0;
      for (std::size_t x = 0; x < d; ++x) {
        const double weight = tilt * windows.next[Z * d + x];
        const std::size_t to = windows.successor(Z, x);
        next_Phi[to] += weight * Phi[Z];
        for (std::size_t k = 0; k < d; ++k) {
          next_Psi[k][to] += weight * (Psi[k][Z] + (k == x ? Phi[Z] : 0.0));
        }
      }
    }
    Phi = std::move(next_Phi);
    Psi = std::move(next_Psi);
  }
  double mass = 0.0;
  for (const double entry : Phi) mass += entry;
  std::vector<double> y(d, 0.0);
  for (std::size_t k = 0; k < d; ++k) {
    for (const double entry : Psi[k]) y[k] += entry;
    y[k] /= static_cast<double>(c) * mass;
  }
  return y;
}

std::vector<double> pooled_by_enumeration(const Kernel& kernel, Subset S,
                                          const std::vector<Token>& query, double theta, int c) {
  const Windows windows(kernel, S, query);
  const auto d = static_cast<std::size_t>(kernel.d);
  const std::size_t blocks = static_cast<std::size_t>(std::llround(std::pow(kernel.d, c)));
  std::vector<double> y(d, 0.0);
  double mass = 0.0;
  for (std::size_t start = 0; start < windows.law.size(); ++start) {
    for (std::size_t block = 0; block < blocks; ++block) {
      std::size_t Z = start, rest = block;
      double weight = windows.law[start];
      int matches = 0;
      std::vector<double> counts(d, 0.0);
      for (int i = 0; i < c; ++i, rest /= d) {
        const std::size_t x = rest % d;
        matches += windows.match[Z];
        weight *= windows.next[Z * d + x];
        counts[x] += 1.0;
        Z = windows.successor(Z, x);
      }
      weight *= std::exp(theta * matches);
      mass += weight;
      for (std::size_t k = 0; k < d; ++k) y[k] += weight * counts[k] / c;
    }
  }
  for (double& entry : y) entry /= mass;
  return y;
}

int smallest_period(const std::vector<Token>& pattern) {
  const auto n = static_cast<std::ptrdiff_t>(pattern.size());
  for (std::ptrdiff_t tau = 1; tau < n; ++tau) {
    if (std::equal(pattern.begin() + tau, pattern.end(), pattern.begin())) {
      return static_cast<int>(tau);
    }
  }
  return static_cast<int>(n);
}

std::size_t block_rank(int d, const std::vector<Subset>& active, int c) {
  std::set<std::vector<int>> family;
  for (int l = 0; l < c; ++l) {
    family.insert({l});
    for (const Subset S : active) {
      for (Subset T = S; T != 0; T = (T - 1) & S) {  // non-empty subsets of S
        std::vector<int> positions;
        for (int lag = 1; T >> (lag - 1) != 0; ++lag) {
          if (T >> (lag - 1) & 1U) positions.push_back(l - lag);
        }
        std::sort(positions.begin(), positions.end());
        family.insert(positions);
      }
    }
  }
  std::size_t rank = 0;
  for (const auto& T : family) {
    std::size_t product = 1;
    for (std::size_t i = 0; i < T.size(); ++i) product *= static_cast<std::size_t>(d - 1);
    rank += product;
  }
  return rank;
}

double frozen_share(double q, int c, double slots) {
  const auto divergence = [&](double rho) {
    double sum = 0.0;
    if (rho > 0.0) sum += rho * std::log(rho / q);
    if (rho < 1.0) sum += (1.0 - rho) * std::log((1.0 - rho) / (1.0 - q));
    return static_cast<double>(c) * sum;
  };
  double low = q, high = 1.0;
  if (divergence(1.0) <= std::log(slots)) return 1.0;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (divergence(middle) < std::log(slots) ? low : high) = middle;
  }
  return low;
}

}  // namespace gih
