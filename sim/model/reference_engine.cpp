#include "gih/model/reference_engine.hpp"

#include <fmt/core.h>

#include <limits>
#include <utility>

#include "gih/base/error.hpp"
#include "reference_formulas.hpp"

namespace gih {
namespace {

using namespace literal;

/// The rows of a matrix, each entry turned into a T.
template <typename T, class Turn>
Rows<T> rows_of(const Matrix& matrix, Turn turn) {
  Rows<T> rows;
  for (const auto row : matrix.rowwise()) {
    auto& entries = rows.emplace_back();
    for (const double entry : row) entries.push_back(turn(entry));
  }
  return rows;
}

/// Theta with each entry of a block turned into a T by turn(entry, whether the block is asked for),
/// in the order w, c, a, qkv.
template <typename T, class Turn>
Theta<T> turned(const Parameters& theta, Blocks blocks, Turn turn) {
  const auto rows = [&](const Matrix& matrix, bool active) {
    return rows_of<T>(matrix, [&](double entry) { return turn(entry, active); });
  };
  Theta<T> result;
  result.w = rows(theta.w, blocks.w);
  for (const double c_S : theta.c) result.c.push_back(turn(c_S, blocks.c));
  result.a = turn(theta.a, blocks.a);
  result.W_Q = rows(theta.W_Q, blocks.qkv);
  result.W_K = rows(theta.W_K, blocks.qkv);
  result.W_V = rows(theta.W_V, blocks.qkv);
  result.scale = rows(theta.scale, blocks.qkv);
  result.shift = rows(theta.shift, blocks.qkv);
  return result;
}

Theta<double> plain(const Parameters& theta) {
  return turned<double>(theta, {}, [](double entry, bool) { return entry; });
}

/// How many variables there are; only blocks that are differentiated count.
Eigen::Index variables(const Parameters& theta, Blocks blocks) {
  Eigen::Index count =
      (blocks.w ? theta.w.size() : 0) + (blocks.c ? theta.c.size() : 0) + (blocks.a ? 1 : 0);
  for (const WordMatrix& matrix : word_matrices) {
    if (blocks.qkv) count += (theta.*matrix.member).size();
  }
  return count;
}

Theta<Dual> with_derivatives(const Parameters& theta, Blocks blocks) {
  const Eigen::Index n = variables(theta, blocks);
  Eigen::Index next = 0;
  return turned<Dual>(theta, blocks, [&](double value, bool active) {
    return active ? Dual(value, Eigen::VectorXd::Unit(n, next++))
                  : Dual(value, Eigen::VectorXd::Zero(n));
  });
}

Parameters to_blocks(const Eigen::VectorXd& derivative, Parameters gradient, Blocks blocks) {
  Eigen::Index next = 0;
  if (blocks.w) {
    for (double& entry : gradient.w.reshaped<Eigen::RowMajor>()) entry = derivative(next++);
  }
  if (blocks.c) {
    for (double& entry : gradient.c) entry = derivative(next++);
  }
  if (blocks.a) gradient.a = derivative(next++);
  for (const WordMatrix& matrix : word_matrices) {
    if (!blocks.qkv) continue;
    for (double& entry : (gradient.*matrix.member).reshaped<Eigen::RowMajor>()) {
      entry = derivative(next++);
    }
  }
  return gradient;
}

void check_prompt(const ModelSpec& model, std::span<const Token> prompt) {
  const std::size_t shortest = model.mask ? static_cast<std::size_t>(model.reach()) + 1 : 1;
  if (prompt.size() < shortest) {
    throw InputError(
        fmt::format("prompt of {} tokens: must have {} or more, so that the second "
                    "attention has a position to see",
                    prompt.size(), shortest));
  }
  for (const Token token : prompt) {
    if (token >= model.d) {
      throw InputError(fmt::format("token {}: must be 0 to {}", token, model.d - 1));
    }
  }
}

class ReferenceEngine : public Objective {
 public:
  ReferenceEngine(const ModelSpec& model, const LossSpec& loss,
                  std::vector<ReferenceQuestion> questions)
      : model_(model), loss_(loss), questions_(std::move(questions)) {
    check_model(model);
    subsets_ = model.subsets();
    for (const ReferenceQuestion& question : questions_) {
      check_prompt(model, question.prompt);
      if (question.target.size() != static_cast<std::size_t>(model.d)) {
        throw InputError(fmt::format("target law has {} entries: must be the vocabulary size {}",
                                     question.target.size(), model.d));
      }
    }
  }

  double loss(const Parameters& theta) override {
    check_parameters(model_, theta);
    const Theta<double> numbers = plain(theta);
    double sum = 0.0;
    for (const ReferenceQuestion& question : questions_) {
      sum += question.weight * question_loss(numbers, question);
    }
    return sum;
  }

  void evaluate_into(const Parameters& theta, Blocks blocks, bool with_loss,
                     Evaluation& result) override {
    check_parameters(model_, theta);
    double sum = 0.0;
    Eigen::VectorXd derivative = Eigen::VectorXd::Zero(variables(theta, blocks));
    const Theta<Dual> numbers = with_derivatives(theta, blocks);
    for (const ReferenceQuestion& question : questions_) {
      const Dual value = question_loss(numbers, question);
      sum += question.weight * value.value();
      // Empty when the target law is 0 everywhere: a constant.
      if (value.derivatives().size() > 0) derivative += question.weight * value.derivatives();
    }
    result = {with_loss ? sum : std::numeric_limits<double>::quiet_NaN(),
              to_blocks(derivative, zero_parameters(model_), blocks)};
  }

 private:
  template <typename T>
  T question_loss(const Theta<T>& theta, const ReferenceQuestion& question) const {
    const Forward<T> of_prompt = forward(model_, subsets_, theta, question.prompt);
    if (loss_.kind == LossKind::softmax_cross_entropy) {
      return softmax_cross_entropy(question.target, of_prompt.y);
    }
    return cross_entropy(question.target, of_prompt.y, loss_.eps);
  }

  ModelSpec model_;
  LossSpec loss_;
  std::vector<ReferenceQuestion> questions_;
  std::vector<Subset> subsets_;
};

}  // namespace

std::unique_ptr<Objective> make_reference_engine(const ModelSpec& model, const LossSpec& loss,
                                                 std::vector<ReferenceQuestion> questions) {
  return std::make_unique<ReferenceEngine>(model, loss, std::move(questions));
}

ReferenceTrace reference_trace(const ModelSpec& model, const Parameters& theta,
                               std::span<const Token> prompt) {
  check_model(model);
  check_parameters(model, theta);
  check_prompt(model, prompt);
  const Forward<double> found = forward(model, model.subsets(), plain(theta), prompt);
  const auto L = static_cast<Eigen::Index>(prompt.size());
  const auto seen = static_cast<Eigen::Index>(found.s.size());
  ReferenceTrace trace;
  trace.s = Eigen::VectorXd::Constant(L, std::numeric_limits<double>::quiet_NaN());
  trace.sigma = Eigen::VectorXd::Zero(L);
  trace.s.tail(seen) = Eigen::VectorXd::Map(found.s.data(), seen);
  trace.sigma.tail(seen) = Eigen::VectorXd::Map(found.sigma.data(), seen);
  trace.y = Eigen::VectorXd::Map(found.y.data(), model.d);
  return trace;
}

std::vector<Matrix> reference_head_attention(const ModelSpec& model, const Parameters& theta,
                                             std::span<const Token> prompt) {
  check_model(model);
  check_parameters(model, theta);
  check_prompt(model, prompt);
  const Theta<double> numbers = plain(theta);
  std::vector<Matrix> heads;
  for (int h = 0; h < model.H; ++h) {
    Matrix& weights = heads.emplace_back(
        Matrix::Zero(static_cast<Eigen::Index>(prompt.size()) + 1, model.head_lags()));
    for (std::size_t l = 1; l <= prompt.size() + 1; ++l) {
      const auto seen = head_attention(model, numbers, prompt, static_cast<std::size_t>(h), l);
      for (std::size_t i = 0; i < seen.sigma.size(); ++i) {
        const auto lag = static_cast<int>(l - seen.position[i]);
        weights(static_cast<Eigen::Index>(l) - 1, lag == 0 ? model.M : lag - model.lag(h, 0)) =
            seen.sigma[i];
      }
    }
  }
  return heads;
}

}  // namespace gih
