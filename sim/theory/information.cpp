#include "gih/theory/information.hpp"

#include <algorithm>
#include <cmath>

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

/// mu(E) of the row that starts at `E`.
double mass_of(const std::vector<double>& marginal, std::size_t E, std::size_t d) {
  double mass = 0.0;
  for (std::size_t k = 0; k < d; ++k) mass += marginal[E + k];
  return mass;
}

}  // namespace

double modified_information(const std::vector<double>& marginal, int d) {
  const auto width = static_cast<std::size_t>(d);
  const std::vector<double> mu = token_law(marginal, width);
  double total = 0.0;
  for (std::size_t E = 0; E < marginal.size(); E += width) {
    const double mass = mass_of(marginal, E, width);
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
    const double mass = mass_of(marginal, E, width);
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

Choice choose(const std::vector<double>& values, std::size_t nS) {
  const std::size_t count = values.size() / nS;
  const auto number = static_cast<double>(count);
  Choice result;
  // Mean and its standard error of x(sample); two passes.
  const auto mean_of = [&](auto x) {
    double mean = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < count; ++i) mean += x(i);
    mean /= number;
    for (std::size_t i = 0; i < count; ++i) squares += (x(i) - mean) * (x(i) - mean);
    return std::pair(mean, count > 1 ? std::sqrt(squares / (number - 1.0) / number) : 0.0);
  };
  for (std::size_t S = 0; S < nS; ++S) {
    const auto [mean, error] = mean_of([&](std::size_t i) { return values[i * nS + S]; });
    result.mean.push_back(mean);
    result.error.push_back(error);
  }
  const auto difference = [&](std::size_t of, std::size_t from) {
    return mean_of([&](std::size_t i) { return values[i * nS + of] - values[i * nS + from]; });
  };
  const auto best = std::max_element(result.mean.begin(), result.mean.end());
  // The squares of what rounding leaves of an independent token are near 1e-32.
  const double rounding = std::max(1e-12 * std::abs(*best), 1e-26);
  const auto equal = [&](const auto& apart) {
    return std::abs(apart.first) <= rounding && apart.second <= rounding;
  };
  result.S_star = static_cast<std::size_t>(best - result.mean.begin());
  for (std::size_t S = 0; S < result.S_star; ++S) {
    if (equal(difference(result.S_star, S))) result.S_star = S;
  }
  result.runner_up = result.S_star;
  result.decided = true;
  for (std::size_t S = 0; S < nS; ++S) {
    auto apart = difference(result.S_star, S);
    if (S != result.S_star) {
      if (equal(apart)) {
        result.tie = true;
        apart = {0.0, 0.0};
      }
      if (!(apart.first > std::max(3.0 * apart.second, rounding))) result.decided = false;
      if (result.runner_up == result.S_star || apart.first < result.gap) {
        result.gap = apart.first;
        result.gap_error = apart.second;
        result.runner_up = S;
      }
    }
    result.behind.push_back(apart.first);
    result.behind_error.push_back(apart.second);
  }
  return result;
}

Information choose(const std::vector<Subset>& subsets, const std::vector<double>& modified,
                   const std::vector<double>& standard) {
  Choice by_modified = choose(modified, subsets.size());
  Choice by_standard = choose(standard, subsets.size());
  Information result;
  static_cast<Lead&>(result) = by_modified;
  result.subsets = subsets;
  result.kernels = modified.size() / subsets.size();
  result.modified = std::move(by_modified.mean);
  result.modified_error = std::move(by_modified.error);
  result.standard = std::move(by_standard.mean);
  result.standard_error = std::move(by_standard.error);
  return result;
}

namespace {

PriorInformation survey(const DataSpec& data, int M, const std::vector<Subset>& subsets,
                        const ModelSpec* model, const Matrix* w, std::size_t count, int threads,
                        const std::function<bool(std::size_t)>& done) {
  check_law_size(data.d, M);
  const std::size_t nS = subsets.size();
  std::vector<double> modified(count * nS), standard(count * nS), weighted(w ? count * nS : 0);
  const auto write = [nS](const std::vector<double>& row, std::size_t i, std::vector<double>& to) {
    std::copy(row.begin(), row.end(), to.begin() + static_cast<std::ptrdiff_t>(i * nS));
  };
  // Rounds, so that `done` is called from this thread.
  const std::size_t round = 16 * static_cast<std::size_t>(threads);
  for (std::size_t begin = 0; begin < count; begin += round) {
    const std::size_t size = std::min(round, count - begin);
    parallel_for(threads, size, [&](std::size_t offset) {
      const std::size_t i = begin + offset;
      const WindowLaw law = window_law(sequence_kernel(data, Split::train, i), M);
      const KernelInformation one = kernel_information(law, subsets);
      write(one.modified, i, modified);
      write(one.standard, i, standard);
      if (w) write(weighted_information(law, *model, *w), i, weighted);
    });
    if (done && !done(begin + size)) return {};
  }
  return {choose(subsets, modified, standard), w ? choose(weighted, nS) : Choice{}};
}

}  // namespace

Information prior_information(const DataSpec& data, int M, const std::vector<Subset>& subsets,
                              std::size_t count, int threads) {
  return survey(data, M, subsets, nullptr, nullptr, count, threads, {}).information;
}

PriorInformation prior_information(const DataSpec& data, const ModelSpec& model, const Matrix* w,
                                   std::size_t count, int threads,
                                   const std::function<bool(std::size_t)>& done) {
  return survey(data, model.M, model.subsets(), &model, w, count, threads, done);
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
  // g_{3,S} is a mean over independent pairs (x, X), (z, Z), but the product over h in S of
  // <v^(h)(X), v^(h)(Z)> is an inner product of tensors, so that no pairs are needed: with
  //   T(k, .) = sum_X (mu(X, k) - mu(X) mu(k)) tensor_{h in S} v^(h)(X)
  // it is sum_k |T(k, .)|^2 / mu(k). One-hot heads make of this I~(S) as a sum of squares.
  const auto d = static_cast<std::size_t>(law.d);
  const auto M = static_cast<std::size_t>(law.M);
  const std::vector<double> mu = law.of_tokens();
  const std::vector<double> windows = law.of_windows();
  Matrix sigma = w;
  for (auto row : sigma.rowwise()) {
    row = (row.array() - row.maxCoeff()).exp().matrix();
    row /= row.sum();
  }
  struct Entry {
    std::size_t index;
    double value;
  };
  std::vector<Entry> tensor, longer;  // of one window: entries that are not 0
  std::vector<std::size_t> lags(M), tokens;
  std::vector<double> v(d, 0.0), excess(d), g;
  for (const Subset S : model.subsets()) {
    std::size_t size = 1;
    for (int h = 0; h < subset_size(S); ++h) size *= d;
    std::vector<double> T(size * d, 0.0);
    for (std::size_t X = 0; X < windows.size(); ++X) {
      if (!(windows[X] > 0.0)) continue;
      tokens.clear();
      for (std::size_t i = 0, rest = X; i < M; ++i, rest /= d) {
        lags[i] = rest % d;
        if (std::find(tokens.begin(), tokens.end(), lags[i]) == tokens.end()) {
          tokens.push_back(lags[i]);
        }
      }
      tensor.assign(1, {0, 1.0});
      for (int h = 0; h < model.H; ++h) {
        if (!(S >> h & 1U)) continue;
        for (std::size_t i = 0; i < M; ++i) v[lags[i]] += sigma(h, static_cast<Eigen::Index>(i));
        longer.clear();
        for (const auto& [index, value] : tensor) {
          for (const std::size_t token : tokens) {
            longer.push_back({index * d + token, value * v[token]});
          }
        }
        tensor.swap(longer);
        for (const std::size_t token : tokens) v[token] = 0.0;
      }
      for (std::size_t k = 0; k < d; ++k) excess[k] = law.joint[X * d + k] - windows[X] * mu[k];
      for (const auto& [index, value] : tensor) {
        for (std::size_t k = 0; k < d; ++k) T[index * d + k] += value * excess[k];
      }
    }
    double total = 0.0;
    for (std::size_t i = 0; i < T.size(); ++i) {
      if (mu[i % d] > 0.0) total += T[i] * T[i] / mu[i % d];
    }
    g.push_back(total);
  }
  return g;
}

double weighted_work(const ModelSpec& model) {
  const double tokens = std::min(model.d, model.M);
  double terms = 0.0;
  for (const Subset S : model.subsets()) {
    terms += model.M * (1.0 + subset_size(S)) + model.d * std::pow(tokens, subset_size(S));
  }
  return std::pow(model.d, model.M) * terms;
}

Choice finite_information(const Prompts& prompts, std::size_t sequences, const ModelSpec& model,
                          const Matrix& w, double eps) {
  PairScores scores(model);
  // Every class has to be known before the products K_S are formed.
  for (const Question& question : prompts.questions) {
    for (const Cell& cell : prompts.cells_of(question.prompt)) {
      scores.class_of(cell.window, cell.next, question.query);
    }
  }
  const auto nS = static_cast<Eigen::Index>(model.subsets().size());
  std::vector<std::vector<double>> K;
  for (Eigen::Index S = 0; S < nS; ++S) {
    // With all of c on S the score of a class is K_S.
    const auto s = scores.forward({w, Eigen::VectorXd::Unit(nS, S), 0.0});
    K.emplace_back(s.begin(), s.end());
  }
  const auto d = static_cast<std::size_t>(prompts.d);
  const std::size_t prompts_each = prompts.count() / sequences;
  std::vector<double> values(sequences * K.size(), 0.0);
  std::vector<double> ybar(d), rate(d);
  for (const Question& question : prompts.questions) {
    const auto cells = prompts.cells_of(question.prompt);
    std::fill(ybar.begin(), ybar.end(), 0.0);
    double N = 0.0;
    for (const Cell& cell : cells) {
      ybar[cell.next] += cell.weight;
      N += cell.weight;
    }
    for (double& y : ybar) y /= N;
    // rate(k) = E_q (1(k = q) - ybar_q) / (ybar_q + eps), q the target.
    std::fill(rate.begin(), rate.end(), 0.0);
    for (std::size_t q = 0; q < d; ++q) {
      const double target =
          question.soft < 0 ? (question.target == q ? 1.0 : 0.0) : prompts.target_law(question)[q];
      // A target that the prompt lacks pulls nowhere at eps = 0: 0 in the numerator too.
      if (target == 0.0 || !(ybar[q] + eps > 0.0)) continue;
      for (double& r : rate) r -= target * ybar[q] / (ybar[q] + eps);
      rate[q] += target / (ybar[q] + eps);
    }
    const std::size_t row = question.prompt / prompts_each * K.size();
    const double share = question.weight * static_cast<double>(sequences) / N;
    for (const Cell& cell : cells) {
      const std::uint32_t k = scores.class_of(cell.window, cell.next, question.query);
      const double factor = share * cell.weight * rate[cell.next];
      for (std::size_t S = 0; S < K.size(); ++S) values[row + S] += factor * K[S][k];
    }
  }
  return choose(values, K.size());
}

}  // namespace gih
