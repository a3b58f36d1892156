#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimators_counts.hpp"
#include "gih/base/error.hpp"
#include "gih/data/chain.hpp"
#include "gih/data/prior.hpp"

namespace gih {
namespace {

const PriorSpec& known_prior(const EstimatorSpec& spec) {
  if (!spec.prior) throw InputError("the prior of the kernels is not known");
  return *spec.prior;
}

/// Rows of pi are independent only under this prior, and its posterior is closed only when the
/// first tokens tell nothing of pi.
const PriorSpec& dirichlet_prior(const EstimatorSpec& spec, const Prompts& prompts) {
  const PriorSpec& prior = known_prior(spec);
  if (prior.name != "dirichlet") {
    throw InputError(fmt::format(
        "prior \"{}\": no closed posterior is known, prior must be \"dirichlet\"", prior.name));
  }
  if (spec.initial != Initial::uniform) {
    throw InputError(
        "initial law \"stationary\": the first tokens depend on pi, which leaves no closed "
        "posterior; "
        "initial must be \"uniform\"");
  }
  check_prior(prior, prompts.d, {1});
  check_all_positions(prompts, false, "Bayes");
  return prior;
}

/// Counts of a row; none when it was not seen.
std::vector<std::size_t> whole(std::span<const double> row, int d) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(d), 0);
  for (std::size_t k = 0; k < row.size(); ++k) counts[k] = static_cast<std::size_t>(row[k]);
  return counts;
}

double log_evidence(const PriorSpec& prior, const LagCounts& counts, Subset R, int d) {
  double sum = -largest_lag(R) * std::log(d);
  for (std::size_t E = 0; E < counts.values(); ++E) {
    sum += log_row_evidence(whole(counts.row(E), d), prior.alpha, prior.floor);
  }
  return sum;
}

/// Weights proportional to exp(log_weight), in place.
void posterior(std::vector<double>& log_weight) {
  const double largest = *std::max_element(log_weight.begin(), log_weight.end());
  double sum = 0.0;
  for (double& weight : log_weight) sum += weight = std::exp(weight - largest);
  for (double& weight : log_weight) weight /= sum;
}

// ---- a finite number of kernels -----------------------------------------------------------------

struct KernelSet {
  std::vector<Kernel> kernels;
  std::vector<std::vector<double>> log_pi;       // by kernel
  std::vector<std::vector<double>> log_initial;  // by kernel; empty under a uniform start
};

std::vector<double> logs(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

KernelSet kernel_set(const EstimatorSpec& spec, const Prompts& prompts) {
  const PriorSpec& prior = *spec.prior;
  check_prior(prior, prompts.d, spec.parents);
  KernelSet set;
  for (std::size_t i = 0; i < prior.kernels.size(); ++i) {
    // As they are drawn, that is with the floor.
    set.kernels.push_back(
        draw_kernel(prior, prompts.d, spec.parents, Stream(0, Purpose::train_kernel, i), i));
    set.log_pi.push_back(logs(set.kernels.back().pi));
    if (spec.initial != Initial::stationary) continue;
    const WindowChain chain(set.kernels.back());
    if (chain.classes().recurrent_count > 1) {
      throw InputError(fmt::format("kernel {} has no unique stationary law to start from", i + 1));
    }
    set.log_initial.push_back(logs(chain.long_run_law()));
  }
  return set;
}

/// Number of the state x_1 .. x_r of the window chain, from the positions that have fewer lags.
std::size_t first_state(const PromptView& view, int r) {
  std::vector<Token> lags(static_cast<std::size_t>(r));
  for (const Cell& cell : view.cells()) {
    const int m = view.codes.length(cell.window);
    if (m >= r) break;
    lags[static_cast<std::size_t>(r - 1 - m)] = cell.next;
  }
  return view.codes.encode(lags) - view.codes.first(r);
}

void predict_from_kernels(const KernelSet& set, const PromptView& view, std::span<double> y) {
  const Kernel& any = set.kernels.front();
  const int r = any.largest_lag();
  const auto d = static_cast<std::size_t>(any.d);
  const auto row_of = [&](WindowCode window) { return any.parent_code(view.codes.decode(window)); };
  std::vector<std::pair<std::size_t, double>> seen;  // entry of pi, how often
  for (const Cell& cell : view.cells()) {
    if (view.codes.length(cell.window) >= r) {
      seen.emplace_back(row_of(cell.window) * d + cell.next, cell.weight);
    }
  }
  const std::size_t state = set.log_initial.empty() ? 0 : first_state(view, r);
  std::vector<double> weight;
  for (std::size_t i = 0; i < set.kernels.size(); ++i) {
    double sum = set.log_initial.empty() ? 0.0 : set.log_initial[i][state];
    for (const auto& [entry, times] : seen) sum += times * set.log_pi[i][entry];
    weight.push_back(sum);
  }
  if (!(*std::max_element(weight.begin(), weight.end()) >
        -std::numeric_limits<double>::infinity())) {
    throw InputError(fmt::format("prompt {} has probability 0 under every kernel of the prior",
                                 view.prompt + 1));
  }
  posterior(weight);
  std::fill(y.begin(), y.end(), 0.0);
  for (std::size_t q = 0; q < view.question_count; ++q) {
    const std::size_t row = row_of(view.questions()[q].query);
    for (std::size_t i = 0; i < set.kernels.size(); ++i) {
      const auto law = set.kernels[i].row(row);
      for (std::size_t k = 0; k < d; ++k) y[q * d + k] += weight[i] * law[k];
    }
  }
}

}  // namespace

Predictor make_bayes(const EstimatorSpec& spec, const Prompts& prompts) {
  const Subset R = parent_subset(spec, prompts.M);
  if (known_prior(spec).name == "file") {
    check_all_positions(prompts, false, "Bayes");
    return [set = kernel_set(spec, prompts)](const PromptView& view, std::span<double> y) {
      predict_from_kernels(set, view, y);
    };
  }
  return [prior = dirichlet_prior(spec, prompts), R](const PromptView& view, std::span<double> y) {
    const int d = view.codes.d();
    const LagCounts counts(view, R, largest_lag(R));
    for (std::size_t q = 0; q < view.question_count; ++q) {
      const auto row = counts.find(value_of(view.codes, view.questions()[q].query, R));
      const auto mean = row_posterior_mean(whole(row, d), prior.alpha, prior.floor);
      std::copy(mean.begin(), mean.end(), y.begin() + static_cast<std::ptrdiff_t>(q) * d);
    }
  };
}

std::vector<Subset> mixture_sets(const EstimatorSpec& spec, int M) {
  const int most =
      spec.most_parents > 0 ? spec.most_parents : static_cast<int>(spec.parents.size());
  if (most < 1) throw InputError("the number of parents is not known");
  return subsets(M, std::min(most, M), SubsetRule::at_most);
}

Predictor make_bayes_mixture(const EstimatorSpec& spec, const Prompts& prompts) {
  return [prior = dirichlet_prior(spec, prompts), sets = mixture_sets(spec, prompts.M)](
             const PromptView& view, std::span<double> y) {
    const int d = view.codes.d();
    std::vector<LagCounts> counts;
    std::vector<double> weight;
    for (const Subset R : sets) {
      counts.emplace_back(view, R, largest_lag(R));
      weight.push_back(log_evidence(prior, counts.back(), R, d));
    }
    posterior(weight);
    std::fill(y.begin(), y.end(), 0.0);
    for (std::size_t q = 0; q < view.question_count; ++q) {
      for (std::size_t i = 0; i < sets.size(); ++i) {
        const auto row = counts[i].find(value_of(view.codes, view.questions()[q].query, sets[i]));
        const auto mean = row_posterior_mean(whole(row, d), prior.alpha, prior.floor);
        for (std::size_t k = 0; k < mean.size(); ++k) y[q * mean.size() + k] += weight[i] * mean[k];
      }
    }
  };
}

double log_prompt_evidence(const EstimatorSpec& spec, Subset R, const Prompts& prompts,
                           std::size_t prompt) {
  const PriorSpec& prior = dirichlet_prior(spec, prompts);
  if (largest_lag(R) > prompts.M) {
    throw InputError(
        fmt::format("parent lag {}: must be at most the window M = {}", largest_lag(R), prompts.M));
  }
  const WindowCodes codes(prompts.d, prompts.M);
  const PromptView view{prompts, codes, prompt, 0, 0};
  return log_evidence(prior, LagCounts(view, R, largest_lag(R)), R, prompts.d);
}

}  // namespace gih
