#pragma once
// The paper's formulas written position by position on token sequences, gradients by automatic
// differentiation. Slow, literal, and the judge of the table engine, with which it shares only the
// parameters, the subsets and the token type.

#include <memory>
#include <span>
#include <vector>

#include "gih/base/window.hpp"
#include "gih/model/objective.hpp"

namespace gih {

/// One prediction of a sequence: the prompt is x_1 .. x_l, the target law is over x_{l+1}.
struct ReferenceQuestion {
  std::vector<Token> prompt;   ///< x_1 .. x_l
  std::vector<double> target;  ///< d entries
  double weight = 1.0;         ///< share in the loss; the weights sum to 1
};

/// s_l, sigma_l, y of one prompt as plain numbers, for tests and explanations.
struct ReferenceTrace {
  Eigen::VectorXd s;      ///< l entries; positions that the mask drops hold NaN
  Eigen::VectorXd sigma;  ///< attention of the second layer, 0 where masked
  Eigen::VectorXd y;      ///< d entries
};

std::unique_ptr<Objective> make_reference_engine(const ModelSpec& model, const LossSpec& loss,
                                                 std::vector<ReferenceQuestion> questions);

ReferenceTrace reference_trace(const ModelSpec& model, const Parameters& theta,
                               std::span<const Token> prompt);

/// The first layer's attention of each head: row l-1 is from position l, 1 .. L+1 (the query last),
/// column i is on lag(h, i), and with self_score column M on the position itself. A row sums to 1,
/// and to 0 where there is no lag yet.
std::vector<Matrix> reference_head_attention(const ModelSpec& model, const Parameters& theta,
                                             std::span<const Token> prompt);

}  // namespace gih
