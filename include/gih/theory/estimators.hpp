#pragma once
// Predictors to hold the transformer against: the generalised induction head (3.3), in-context
// n-grams, the Bayes-optimal ones and the truth. They act on prompts, as the model does.
// docs/estimators.md has the formulas. Adding one: a row in the table of estimators.cpp.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gih/data/dataset.hpp"
#include "gih/data/prompts.hpp"
#include "gih/model/parameters.hpp"

namespace gih {

/// What an estimator is told besides the prompt; each uses its part.
struct EstimatorSpec {
  Subset S = 0;                        ///< of the GIH: bit i-1 is lag i
  std::vector<int> parents{};          ///< r_1 < ... < r_n; empty: not known
  std::optional<PriorSpec> prior{};    ///< the law P of kernels; none: not known
  Initial initial = Initial::uniform;  ///< law of the first r_n tokens
  int most_parents = 0;  ///< largest parent set of the mixture; 0: the number of parents
  Matrix conditional{};  ///< pi(. | parents) of every question; no rows: not known
};

/// One prompt with its questions.
struct PromptView {
  const Prompts& prompts;
  const WindowCodes& codes;
  std::size_t prompt;
  std::size_t first_question, question_count;

  std::span<const Cell> cells() const { return prompts.cells_of(prompt); }
  std::span<const Question> questions() const {
    return {prompts.questions.data() + first_question, question_count};
  }
};

/// Fills y, questions of the prompt x d.
using Predictor = std::function<void(const PromptView&, std::span<double> y)>;

struct EstimatorRow {
  const char* name;
  const char* meaning;
  /// InputError, saying what is missing, when these prompts cannot be answered.
  Predictor (*make)(const EstimatorSpec&, const Prompts&);
};

const std::vector<EstimatorRow>& estimator_table();

/// y of every question, questions x d. The same bits for any number of threads.
Matrix estimate(const EstimatorRow& row, const EstimatorSpec& spec, const Prompts& prompts,
                int threads);
/// By name; InputError when there is none.
Matrix estimate(const std::string& name, const EstimatorSpec& spec, const Prompts& prompts,
                int threads);

/// The GIH (3.3) on one prompt, position by position.
struct GihAttention {
  std::vector<std::size_t> matches;  ///< l = M+1 .. L, counted from 1, with X_{l-S} = X_{L+1-S}
  Eigen::VectorXd weights;           ///< L entries: 1/N on the matches; none: even on M+1 .. L
};

/// InputError unless the lags of S are at most M, and M below the length of the prompt.
GihAttention gih_attention(std::span<const Token> prompt, Subset S, int M);

/// pi(. | parents) of every question: its soft target, else from the sequences' kernels, else from
/// the conditional laws of a token table. No rows when none of them is known.
Matrix true_conditional(const DataSpec& data, Split split, const Prompts& prompts);

// ---- Bayes, in pieces ---------------------------------------------------------------------------

/// log of the probability that a row of pi gives these tokens in their order, n_k times token k,
/// when theta is Dirichlet(alpha, ..., alpha) and the row is gamma + (1 - d gamma) theta, gamma the
/// floor. A sum of positive terms alone, relative error a few times n roundings; time n with gamma
/// = 0, n^2 without.
double log_row_evidence(std::span<const std::size_t> counts, double alpha, double floor);

/// The row's posterior mean, the ratio of two such evidences.
std::vector<double> row_posterior_mean(std::span<const std::size_t> counts, double alpha,
                                       double floor);

/// Logarithm of the probability of a whole prompt x_1 .. x_l when its parent lags are R: the first
/// max(R) tokens are uniform, the others have the rows' evidences. The prior is spec.prior, which
/// must be "dirichlet"; InputError as for the estimator "bayes".
double log_prompt_evidence(const EstimatorSpec& spec, Subset R, const Prompts& prompts,
                           std::size_t prompt);

/// Parent sets of the mixture for windows of M lags, ascending.
std::vector<Subset> mixture_sets(const EstimatorSpec& spec, int M);

}  // namespace gih
