#include "gih/model/reference_engine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/AutoDiff>
#include <utility>

#include "gih/base/error.hpp"

// Positions l, lags i and heads h count from 1, as in the paper; arrays count from 0. The scalar T
// is double, or a number that carries its derivatives along. Results of arithmetic go into a T at
// once and never into `auto`: an operation on Dual numbers yields an expression that refers to its
// operands. A Dual made from a plain number has an empty derivative vector, which stands for 0.

namespace gih {
namespace {

using Dual = Eigen::AutoDiffScalar<Eigen::VectorXd>;

double value_of(double x) {
  return x;
}
double value_of(const Dual& x) {
  return x.value();
}

/// Theta with scalars T.
template <typename T>
struct Theta {
  std::vector<std::vector<T>> w;  // H x M
  std::vector<T> c;               // nS
  T a;
};

/// The largest logit is subtracted as a plain number: no exponential overflows, and a shift of all
/// logits by a constant changes neither the softmax nor its derivative. No logits, no weights.
template <typename T>
std::vector<T> softmax(const std::vector<T>& logits) {
  using std::exp;
  double largest = -std::numeric_limits<double>::infinity();
  for (const T& logit : logits) largest = std::max(largest, value_of(logit));
  std::vector<T> weights;
  weights.reserve(logits.size());
  T sum(0.0);
  for (const T& logit : logits) {
    const T shifted = logit - largest;
    weights.push_back(T(exp(shifted)));
    sum += weights.back();
  }
  for (T& weight : weights) weight /= sum;
  return weights;
}

/// Row l of softmax(W_P^(h)) (2.2): W_P^(h)(l, l-i) = w^(h)_{-i} for the lags 1 <= i <= M that
/// exist, i <= l-1, and -infinity elsewhere. Entry i-1 belongs to lag i.
template <typename T>
std::vector<T> rpe_attention(const std::vector<T>& w_h, std::size_t l) {
  const std::size_t lags = std::min(l - 1, w_h.size());
  return softmax(std::vector<T>(w_h.begin(), w_h.begin() + static_cast<std::ptrdiff_t>(lags)));
}

/// v_l^(h) = sum_i sigma^(h)_{-i} x_{l-i} (2.2); l = L+1 is the query. A position without a lag
/// has v_1 = 0.
template <typename T>
std::vector<T> head_output(const std::vector<T>& w_h, std::span<const Token> x, std::size_t l,
                           int d) {
  const std::vector<T> sigma = rpe_attention(w_h, l);
  std::vector<T> v(static_cast<std::size_t>(d), T(0.0));
  for (std::size_t i = 1; i <= sigma.size(); ++i) v[x[l - i - 1]] += sigma[i - 1];
  return v;
}

/// v_l = (v_l^(1), ..., v_l^(H)), H x d.
template <typename T>
std::vector<std::vector<T>> first_layer(const Theta<T>& theta, std::span<const Token> x,
                                        std::size_t l, int d) {
  std::vector<std::vector<T>> v;
  v.reserve(theta.w.size());
  for (const std::vector<T>& w_h : theta.w) v.push_back(head_output(w_h, x, l, d));
  return v;
}

template <typename T>
T inner_product(const std::vector<T>& v, const std::vector<T>& v_prime) {
  T sum(0.0);
  for (std::size_t k = 0; k < v.size(); ++k) sum += T(v[k] * v_prime[k]);
  return sum;
}

/// <phi(v), phi(v')> = sum_S c_S^2 prod_{h in S} <v^(h), v'^(h)> (2.3), the empty product being 1.
template <typename T>
T ffn_kernel(const std::vector<Subset>& subsets, const std::vector<T>& c,
             const std::vector<std::vector<T>>& v, const std::vector<std::vector<T>>& v_prime) {
  std::vector<T> agreement;
  agreement.reserve(v.size());
  for (std::size_t h = 0; h < v.size(); ++h) agreement.push_back(inner_product(v[h], v_prime[h]));
  T sum(0.0);
  for (std::size_t S = 0; S < subsets.size(); ++S) {
    T term = c[S] * c[S];
    for (std::size_t h = 0; h < v.size(); ++h) {
      if (subsets[S] >> h & 1U) term *= agreement[h];
    }
    sum += term;
  }
  return sum;
}

/// C_D = sum_S c_S^2 (2.4).
template <typename T>
T normalisation(const std::vector<T>& c) {
  T sum(0.0);
  for (const T& c_S : c) sum += T(c_S * c_S);
  return sum;
}

/// The second attention of one prompt; entry 0 of s and sigma belongs to position `first_key`.
template <typename T>
struct Forward {
  std::size_t first_key = 1;
  std::vector<T> s, sigma, y;
};

/// s_l = <u_l, u_{L+1}>, u_l = phi(v_l) / sqrt(C_D), for the positions l that the second attention
/// sees: 1 .. L, masked M+1 .. L (2.4).
template <typename T>
std::vector<T> scores(const ModelSpec& model, const std::vector<Subset>& subsets,
                      const Theta<T>& theta, std::span<const Token> x, std::size_t first_key) {
  const std::size_t L = x.size();
  const auto v_query = first_layer(theta, x, L + 1, model.d);
  const T C_D = normalisation(theta.c);
  std::vector<T> s;
  s.reserve(L);
  for (std::size_t l = first_key; l <= L; ++l) {
    const auto v_l = first_layer(theta, x, l, model.d);
    const T kernel = ffn_kernel(subsets, theta.c, v_l, v_query);
    s.push_back(T(kernel / C_D));
  }
  return s;
}

/// y = sum_l softmax(a s)_l x_l (2.5).
template <typename T>
Forward<T> forward(const ModelSpec& model, const std::vector<Subset>& subsets,
                   const Theta<T>& theta, std::span<const Token> x) {
  Forward<T> result;
  result.first_key = model.mask ? static_cast<std::size_t>(model.M) + 1 : 1;
  result.s = scores(model, subsets, theta, x, result.first_key);
  std::vector<T> logits;
  logits.reserve(result.s.size());
  for (const T& s_l : result.s) logits.push_back(T(theta.a * s_l));
  result.sigma = softmax(logits);
  result.y.assign(static_cast<std::size_t>(model.d), T(0.0));
  for (std::size_t i = 0; i < result.sigma.size(); ++i) {
    result.y[x[result.first_key - 1 + i]] += result.sigma[i];
  }
  return result;
}

/// -sum_k t_k log(y_k + eps) (2.1). Tokens that cannot follow (t_k = 0) do not enter, so that
/// eps = 0 is usable.
template <typename T>
T cross_entropy(const std::vector<double>& target, const std::vector<T>& y, double eps) {
  using std::log;
  T sum(0.0);
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (target[k] == 0.0) continue;
    const T shifted = y[k] + eps;
    const T log_y = log(shifted);
    sum -= T(log_y * target[k]);
  }
  return sum;
}

Theta<double> plain(const Parameters& theta) {
  Theta<double> result;
  for (const auto row : theta.w.rowwise()) result.w.emplace_back(row.begin(), row.end());
  result.c.assign(theta.c.begin(), theta.c.end());
  result.a = theta.a;
  return result;
}

/// The variables in the order w (row by row), c, a; only blocks that are differentiated count.
Eigen::Index variables(const Parameters& theta, Blocks blocks) {
  return (blocks.w ? theta.w.size() : 0) + (blocks.c ? theta.c.size() : 0) + (blocks.a ? 1 : 0);
}

Theta<Dual> with_derivatives(const Parameters& theta, Blocks blocks) {
  const Eigen::Index n = variables(theta, blocks);
  Eigen::Index next = 0;
  const auto dual = [&](double value, bool active) {
    return active ? Dual(value, Eigen::VectorXd::Unit(n, next++))
                  : Dual(value, Eigen::VectorXd::Zero(n));
  };
  Theta<Dual> result;
  for (const auto row : theta.w.rowwise()) {
    auto& w_h = result.w.emplace_back();
    for (const double w : row) w_h.push_back(dual(w, blocks.w));
  }
  for (const double c_S : theta.c) result.c.push_back(dual(c_S, blocks.c));
  result.a = dual(theta.a, blocks.a);
  return result;
}

Parameters to_blocks(const Eigen::VectorXd& derivative, const Parameters& like, Blocks blocks) {
  Parameters gradient{Matrix::Zero(like.w.rows(), like.w.cols()),
                      Eigen::VectorXd::Zero(like.c.size()), 0.0};
  Eigen::Index next = 0;
  if (blocks.w) {
    for (double& entry : gradient.w.reshaped<Eigen::RowMajor>()) entry = derivative(next++);
  }
  if (blocks.c) {
    for (double& entry : gradient.c) entry = derivative(next++);
  }
  if (blocks.a) gradient.a = derivative(next);
  return gradient;
}

void check_prompt(const ModelSpec& model, std::span<const Token> prompt) {
  const std::size_t shortest = model.mask ? static_cast<std::size_t>(model.M) + 1 : 1;
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

  Evaluation evaluate(const Parameters& theta, Blocks blocks, bool with_loss) override {
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
    return {with_loss ? sum : std::numeric_limits<double>::quiet_NaN(),
            to_blocks(derivative, theta, blocks)};
  }

 private:
  template <typename T>
  T question_loss(const Theta<T>& theta, const ReferenceQuestion& question) const {
    const Forward<T> of_prompt = forward(model_, subsets_, theta, question.prompt);
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

}  // namespace gih
