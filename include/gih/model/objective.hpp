#pragma once
// What a training loop needs to know of a model on its data: one call, value and gradient.

#include "gih/model/parameters.hpp"

namespace gih {

enum class LossKind {
  cross_entropy,          ///< -log(y_k + eps) for target k (2.1)
  softmax_cross_entropy,  ///< log sum_j exp(y_j) - y_k: y taken as logits, as in the authors' code
};

struct LossSpec {
  double eps = 0.1;  ///< of cross_entropy
  LossKind kind = LossKind::cross_entropy;
};

struct Evaluation {
  double loss = 0.0;    ///< NaN unless it was asked for
  Parameters gradient;  ///< blocks that were asked for; the others are 0
};

class Objective {
 public:
  virtual ~Objective() = default;

  /// Mean loss over the questions.
  virtual double loss(const Parameters& theta) = 0;

  /// Gradient with respect to `blocks`; the loss too when `with_loss`.
  Evaluation evaluate(const Parameters& theta, Blocks blocks, bool with_loss) {
    Evaluation result;
    evaluate_into(theta, blocks, with_loss, result);
    return result;
  }
  /// The same, into a result of any contents; one of the last call needs no more memory.
  virtual void evaluate_into(const Parameters& theta, Blocks blocks, bool with_loss,
                             Evaluation& result) = 0;
};

}  // namespace gih
