#include "gih/theory/estimators.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "estimators_counts.hpp"
#include "gih/base/error.hpp"
#include "gih/base/parallel.hpp"

namespace gih {
namespace {

std::span<double> row_of(std::span<double> y, std::size_t q, int d) {
  const auto width = static_cast<std::size_t>(d);
  return y.subspan(q * width, width);
}

/// Weights to a law; their sum is above 0.
void normalise(std::span<const double> weights, std::span<double> law) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t k = 0; k < law.size(); ++k) law[k] = weights[k] / sum;
}

void check_gih(Subset S, int M) {
  if (largest_lag(S) > M) {
    throw InputError(fmt::format("GIH with lag {}: its lags must be at most the window M = {}",
                                 largest_lag(S), M));
  }
}

/// (3.3)
Predictor make_gih(const EstimatorSpec& spec, const Prompts& prompts) {
  check_gih(spec.S, prompts.M);
  return [S = spec.S](const PromptView& view, std::span<double> y) {
    const LagCounts counts(view, S, view.codes.M());
    for (std::size_t q = 0; q < view.question_count; ++q) {
      const auto match = counts.find(value_of(view.codes, view.questions()[q].query, S));
      normalise(match.empty() ? counts.total() : match, row_of(y, q, view.codes.d()));
    }
  };
}

/// What followed the last k tokens wherever they stand; where they are new, the last k - 1.
Predictor make_gram(int k, const Prompts& prompts) {
  if (k > prompts.M) {
    throw InputError(fmt::format("needs the last {} tokens: the window is M = {}", k, prompts.M));
  }
  check_all_positions(prompts, true, "an n-gram");
  return [k](const PromptView& view, std::span<double> y) {
    std::vector<LagCounts> counts;
    for (int j = 0; j <= k; ++j) counts.emplace_back(view, (Subset{1} << j) - 1U, j);
    for (std::size_t q = 0; q < view.question_count; ++q) {
      std::span<const double> match;
      for (int j = k; match.empty(); --j) {
        const Subset S = (Subset{1} << j) - 1U;
        match = counts[static_cast<std::size_t>(j)].find(
            value_of(view.codes, view.questions()[q].query, S));
      }
      normalise(match, row_of(y, q, view.codes.d()));
    }
  };
}

Predictor make_unigram(const EstimatorSpec&, const Prompts& p) {
  return make_gram(0, p);
}
Predictor make_bigram(const EstimatorSpec&, const Prompts& p) {
  return make_gram(1, p);
}
Predictor make_trigram(const EstimatorSpec&, const Prompts& p) {
  return make_gram(2, p);
}

Predictor make_conditional(const EstimatorSpec& spec, const Prompts& prompts) {
  if (static_cast<std::size_t>(spec.conditional.rows()) != prompts.questions.size() ||
      spec.conditional.cols() != prompts.d) {
    throw InputError("neither the kernels nor the conditional laws of the questions are known");
  }
  return [law = spec.conditional](const PromptView& view, std::span<double> y) {
    const auto first = law.data() + view.first_question * static_cast<std::size_t>(law.cols());
    std::copy(first, first + y.size(), y.begin());
  };
}

}  // namespace

const std::vector<EstimatorRow>& estimator_table() {
  static const std::vector<EstimatorRow> table{
      {"gih", "what followed the same values of the lags in S, at full windows (3.3)", make_gih},
      {"unigram", "how often each token occurs in the prompt", make_unigram},
      {"bigram", "what followed the last token in the prompt, else unigram", make_bigram},
      {"trigram", "what followed the last two tokens, else bigram", make_trigram},
      {"bayes", "posterior mean of pi(. | parents), parents and prior known", make_bayes},
      {"bayes-mixture", "the same when the prior leaves the parents open", make_bayes_mixture},
      {"conditional", "the true pi(. | parents)", make_conditional},
  };
  return table;
}

Matrix estimate(const EstimatorRow& row, const EstimatorSpec& spec, const Prompts& prompts,
                int threads) {
  const Predictor predict = row.make(spec, prompts);
  const WindowCodes codes(prompts.d, prompts.M);
  const auto d = static_cast<std::size_t>(prompts.d);
  // Questions are in the order of their prompts.
  std::vector<std::size_t> first(prompts.count() + 1, 0);
  for (const Question& question : prompts.questions) ++first[question.prompt + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  Matrix y(static_cast<Eigen::Index>(prompts.questions.size()), prompts.d);
  parallel_for(threads, prompts.count(), [&](std::size_t i) {
    const std::size_t count = first[i + 1] - first[i];
    if (count > 0)
      predict({prompts, codes, i, first[i], count}, {y.data() + first[i] * d, count * d});
  });
  return y;
}

Matrix estimate(const std::string& name, const EstimatorSpec& spec, const Prompts& prompts,
                int threads) {
  std::vector<std::string> names;
  for (const EstimatorRow& row : estimator_table()) {
    if (name == row.name) return estimate(row, spec, prompts, threads);
    names.emplace_back(row.name);
  }
  throw InputError(
      fmt::format("estimator \"{}\" is unknown: must be one of {}", name, fmt::join(names, ", ")));
}

GihAttention gih_attention(std::span<const Token> prompt, Subset S, int M) {
  check_gih(S, M);
  const std::size_t L = prompt.size();
  const auto first = static_cast<std::size_t>(M);  // position M+1, counted from 0
  if (L <= first) {
    throw InputError(
        fmt::format("GIH on a prompt of {} tokens: must have more than the window {}", L, M));
  }
  GihAttention found;
  const auto matches = [&](std::size_t l) {
    for (std::size_t lag = 1; lag <= first; ++lag) {
      if ((S >> (lag - 1) & 1U) && prompt[l - lag] != prompt[L - lag]) return false;
    }
    return true;
  };
  found.weights = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(L));
  for (std::size_t l = first; l < L; ++l) {
    if (matches(l)) found.matches.push_back(l + 1);
  }
  for (const std::size_t l : found.matches) {
    found.weights[static_cast<Eigen::Index>(l) - 1] =
        1.0 / static_cast<double>(found.matches.size());
  }
  if (found.matches.empty()) {
    const auto full = static_cast<Eigen::Index>(L - first);
    found.weights.tail(full).setConstant(1.0 / static_cast<double>(full));
  }
  return found;
}

Matrix true_conditional(const DataSpec& data, Split split, const Prompts& prompts) {
  Matrix law(static_cast<Eigen::Index>(prompts.questions.size()), prompts.d);
  const auto fill = [&](std::size_t q, std::span<const double> from) {
    std::copy(from.begin(), from.end(), law.row(static_cast<Eigen::Index>(q)).begin());
  };
  const auto& questions = prompts.questions;
  if (std::all_of(questions.begin(), questions.end(),
                  [](const Question& q) { return q.soft >= 0; })) {
    for (std::size_t q = 0; q < questions.size(); ++q) fill(q, prompts.target_law(questions[q]));
    return law;
  }
  // A sequence has one prompt, or as many as prefixes are asked.
  const std::size_t prompts_each = prompts.count() / data.count(split);
  if (data.table && data.table->kernels.empty()) {
    if (data.table->conditional.empty() || prompts_each != 1) return Matrix(0, prompts.d);
    const auto d = static_cast<std::size_t>(prompts.d);
    const std::size_t skip = split == Split::train ? 0 : data.train;
    for (std::size_t q = 0; q < questions.size(); ++q) {
      fill(q, {data.table->conditional.data() + (skip + questions[q].prompt) * d, d});
    }
    return law;
  }
  const WindowCodes codes(prompts.d, prompts.M);
  Kernel kernel;
  std::size_t drawn = data.count(split);
  for (std::size_t q = 0; q < questions.size(); ++q) {
    const std::size_t sequence = questions[q].prompt / prompts_each;
    if (sequence != drawn) kernel = sequence_kernel(data, split, drawn = sequence);
    if (kernel.largest_lag() > prompts.M) {
      throw InputError(
          fmt::format("window M = {}: must be at least the largest parent lag r_n = {}", prompts.M,
                      kernel.largest_lag()));
    }
    fill(q, kernel.row(kernel.parent_code(codes.decode(questions[q].query))));
  }
  return law;
}

}  // namespace gih
