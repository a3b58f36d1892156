#pragma once
// Random parameters and questions for tests of the model.

#include <random>
#include <vector>

#include "gih/model/reference_engine.hpp"

namespace gih::test {

/// A number in [low, high); the standard library's own distributions differ between libraries.
inline double uniform(std::mt19937_64& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
}

inline Parameters random_parameters(const ModelSpec& model, std::mt19937_64& random) {
  Parameters theta = zero_parameters(model);
  theta.w = Matrix::NullaryExpr(model.H, model.M, [&] { return uniform(random, -1.0, 2.0); });
  theta.c = Eigen::VectorXd::NullaryExpr(static_cast<Eigen::Index>(model.subsets().size()),
                                         [&] { return uniform(random, -1.0, 1.0); });
  theta.a = uniform(random, 0.2, 3.0);
  for (const WordMatrix& matrix : word_matrices) {
    for (double& entry : (theta.*matrix.member).reshaped()) entry = uniform(random, -1.0, 1.0);
  }
  return theta;
}

/// Prompts of L uniform tokens; targets are tokens, or laws when `soft`. Weights are equal.
inline std::vector<ReferenceQuestion> random_questions(const ModelSpec& model, std::size_t count,
                                                       std::size_t L, bool soft,
                                                       std::mt19937_64& random) {
  const auto d = static_cast<std::size_t>(model.d);
  std::vector<ReferenceQuestion> questions(count);
  for (ReferenceQuestion& question : questions) {
    question.prompt.resize(L);
    for (Token& token : question.prompt) token = static_cast<Token>(random() % d);
    question.target.assign(d, 0.0);
    if (soft) {
      double sum = 0.0;
      for (double& entry : question.target) sum += entry = uniform(random, 0.0, 1.0);
      for (double& entry : question.target) entry /= sum;
    } else {
      question.target[random() % d] = 1.0;
    }
    question.weight = 1.0 / static_cast<double>(count);
  }
  return questions;
}

/// y of every question by the reference engine, questions x d.
inline Matrix reference_predictions(const ModelSpec& model, const Parameters& theta,
                                    const std::vector<ReferenceQuestion>& questions) {
  Matrix y(static_cast<Eigen::Index>(questions.size()), model.d);
  for (std::size_t q = 0; q < questions.size(); ++q) {
    y.row(static_cast<Eigen::Index>(q)) =
        reference_trace(model, theta, questions[q].prompt).y.transpose();
  }
  return y;
}

}  // namespace gih::test
