#include "gih/theory/information.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gih/base/parallel.hpp"
#include "gih/base/window.hpp"
#include "gih/model/pair_scores.hpp"

namespace gih {
namespace {

/// mu(z), d entries, from mu(E, z).
std::vector<double> token_law(const std::vector<double>& marginal, std::size_t d) {
  std::vector<double> mu(d, 0.0);
  for (std::size_t i = 0; i < marginal.size(); ++i) mu[i % d] += marginal[i];
  return mu;
}

}  // namespace

double modified_information(const std::vector<double>& marginal, int d) {
  const auto width = static_cast<std::size_t>(d);
  const std::vector<double> mu = token_law(marginal, width);
  double total = 0.0;
  for (std::size_t E = 0; E < marginal.size(); E += width) {
    double mass = 0.0;
    for (std::size_t k = 0; k < width; ++k) mass += marginal[E + k];
    // mu(E)^2 chi2(mu(. | E) || mu) as a sum of squares: never negative, no cancellation.
    for (std::size_t k = 0; k < width; ++k) {
      if (!(mu[k] > 0.0)) continue;
      const double excess = marginal[E + k] - mass * mu[k];
      total += excess * excess / mu[k];
    }
  }
  return total;
}

double standard_information(const std::vector<double>& marginal, int d) {
  const auto width = static_cast<std::size_t>(d);
  const std::vector<double> mu = token_law(marginal, width);
  double total = 0.0;
  for (std::size_t E = 0; E < marginal.size(); E += width) {
    double mass = 0.0;
    for (std::size_t k = 0; k < width; ++k) mass += marginal[E + k];
    if (!(mass > 0.0)) continue;
    for (std::size_t k = 0; k < width; ++k) {
      if (!(mu[k] > 0.0)) continue;
      const double excess = marginal[E + k] / mass - mu[k];
      total += mass * excess * excess / mu[k];
    }
  }
  return total;
}

KernelInformation kernel_information(const WindowLaw& law, const std::vector<Subset>& subsets) {
  KernelInformation result;
  for (const Subset S : subsets) {
    const std::vector<double> marginal = law.marginal(S);
    result.modified.push_back(modified_information(marginal, law.d));
    result.standard.push_back(standard_information(marginal, law.d));
  }
  return result;
}

Information choose(const std::vector<Subset>& subsets, const std::vector<double>& modified,
                   const std::vector<double>& standard) {
  const std::size_t nS = subsets.size();
  const std::size_t count = modified.size() / nS;
  const auto number = static_cast<double>(count);
  Information result;
  result.subsets = subsets;
  result.kernels = count;
  // Mean and its standard error of x(row); two passes.
  const auto mean_of = [&](auto x) {
    double mean = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < count; ++i) mean += x(i);
    mean /= number;
    for (std::size_t i = 0; i < count; ++i) squares += (x(i) - mean) * (x(i) - mean);
    return std::pair(mean, count > 1 ? std::sqrt(squares / (number - 1.0) / number) : 0.0);
  };
  for (std::size_t S = 0; S < nS; ++S) {
    const auto [m, m_error] = mean_of([&](std::size_t i) { return modified[i * nS + S]; });
    const auto [s, s_error] = mean_of([&](std::size_t i) { return standard[i * nS + S]; });
    result.modified.push_back(m);
    result.modified_error.push_back(m_error);
    result.standard.push_back(s);
    result.standard_error.push_back(s_error);
  }
  const auto best = std::max_element(result.modified.begin(), result.modified.end());
  result.S_star = static_cast<std::size_t>(best - result.modified.begin());
  result.decided = true;
  bool first = true;
  for (std::size_t S = 0; S < nS; ++S) {
    if (S == result.S_star) continue;
    const auto [gap, error] =
        mean_of([&](std::size_t i) { return modified[i * nS + result.S_star] - modified[i * nS + S]; });
    if (!(gap > std::max(3.0 * error, 1e-12 * *best))) result.decided = false;
    if (first || gap < result.gap) {
      result.gap = gap;
      result.gap_error = error;
      result.runner_up = S;
      first = false;
    }
  }
  return result;
}

Information prior_information(const DataSpec& data, int M, const std::vector<Subset>& subsets,
                              std::size_t count, int threads) {
  const std::size_t nS = subsets.size();
  std::vector<double> modified(count * nS), standard(count * nS);
  parallel_for(threads, count, [&](std::size_t i) {
    const KernelInformation one =
        kernel_information(window_law(sequence_kernel(data, Split::train, i), M), subsets);
    std::copy(one.modified.begin(), one.modified.end(),
              modified.begin() + static_cast<std::ptrdiff_t>(i * nS));
    std::copy(one.standard.begin(), one.standard.end(),
              standard.begin() + static_cast<std::ptrdiff_t>(i * nS));
  });
  return choose(subsets, modified, standard);
}

Information prompt_information(const Prompts& prompts, const std::vector<Subset>& subsets) {
  const WindowCodes codes(prompts.d, prompts.M);
  std::vector<double> modified, standard;
  for (std::size_t i = 0; i < prompts.count(); ++i) {
    WindowLaw law{prompts.d, prompts.M, {}};
    law.joint.assign(codes.count(prompts.M) * static_cast<std::size_t>(prompts.d), 0.0);
    double total = 0.0;
    for (const Cell& cell : prompts.cells_of(i)) {
      if (codes.length(cell.window) < prompts.M) continue;
      law.joint[(cell.window - codes.first(prompts.M)) * static_cast<std::size_t>(prompts.d) +
                cell.next] += cell.weight;
      total += cell.weight;
    }
    for (double& entry : law.joint) entry /= total;
    const KernelInformation one = kernel_information(law, subsets);
    modified.insert(modified.end(), one.modified.begin(), one.modified.end());
    standard.insert(standard.end(), one.standard.begin(), one.standard.end());
  }
  return choose(subsets, modified, standard);
}

std::vector<double> weighted_information(const WindowLaw& law, const ModelSpec& model,
                                         const Matrix& w) {
  // E over two independent draws (x, X), (z, Z) of (sum_k 1(x = z = k) / mu(k) - 1) K_S(X, Z), the
  // pairs of windows gathered by class, of which there are few.
  PairScores scores(model);
  const WindowCodes codes(law.d, law.M);
  const std::vector<double> mu = law.of_tokens();
  const std::vector<double> windows = law.of_windows();
  const auto d = static_cast<std::size_t>(law.d);
  std::vector<double> weight;
  for (std::size_t X = 0; X < windows.size(); ++X) {
    if (!(windows[X] > 0.0)) continue;
    for (std::size_t Z = 0; Z < windows.size(); ++Z) {
      if (!(windows[Z] > 0.0)) continue;
      double excess = 0.0;
      for (std::size_t k = 0; k < d; ++k) {
        if (!(mu[k] > 0.0)) continue;
        excess += (law.joint[X * d + k] - windows[X] * mu[k]) *
                  (law.joint[Z * d + k] - windows[Z] * mu[k]) / mu[k];
      }
      const std::uint32_t k = scores.class_of(codes.first(law.M) + X, codes.first(law.M) + Z);
      if (k >= weight.size()) weight.resize(k + 1, 0.0);
      weight[k] += excess;
    }
  }
  std::vector<double> g;
  const auto nS = static_cast<Eigen::Index>(model.subsets().size());
  for (Eigen::Index S = 0; S < nS; ++S) {
    // With all of c on S the score of a class is K_S.
    const Parameters only{w, Eigen::VectorXd::Unit(nS, S), 0.0};
    const auto K = scores.forward(only);
    g.push_back(std::inner_product(weight.begin(), weight.end(), K.begin(), 0.0));
  }
  return g;
}

}  // namespace gih
