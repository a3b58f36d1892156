#pragma once
// The formulas of the reference engine, on a scalar T.
//
// Positions l, lags i and heads h count from 1, as in the paper; arrays count from 0. The scalar T
// is double, or a number that carries its derivatives along. Results of arithmetic go into a T at
// once and never into `auto`: an operation on Dual numbers yields an expression that refers to its
// operands. A Dual made from a plain number has an empty derivative vector, which stands for 0.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <unsupported/Eigen/AutoDiff>
#include <utility>
#include <vector>

#include "gih/base/window.hpp"
#include "gih/model/parameters.hpp"

namespace gih::literal {

using Dual = Eigen::AutoDiffScalar<Eigen::VectorXd>;

inline double value_of(double x) {
  return x;
}
inline double value_of(const Dual& x) {
  return x.value();
}

template <typename T>
using Rows = std::vector<std::vector<T>>;

/// Theta with scalars T; the matrices of the heads one after the other, as in Parameters.
template <typename T>
struct Theta {
  Rows<T> w;         // H x M
  std::vector<T> c;  // nS
  T a;
  Rows<T> W_Q, W_K, W_V, scale, shift;
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

/// What head h attends to from position l: the lags i of its window that exist, i <= l-1, with RPE
/// score w^(h)_{-i} (2.2), and lag 0 where the model has a score for it. W_P^(h) is -infinity
/// elsewhere. Positions count from 1; L+1 is the query, a row of zeros in X~.
template <typename T>
struct Attended {
  std::vector<std::size_t> position;
  std::vector<T> score;
};

template <typename T>
Attended<T> attended(const ModelSpec& model, const Theta<T>& theta, std::size_t h, std::size_t l) {
  Attended<T> found;
  for (int i = 0; i < model.M; ++i) {
    const auto lag = static_cast<std::size_t>(model.lag(static_cast<int>(h), i));
    if (lag >= l) continue;
    found.position.push_back(l - lag);
    found.score.push_back(theta.w[h][static_cast<std::size_t>(i)]);
  }
  if (model.self_score) {
    found.position.push_back(l);
    found.score.push_back(T(*model.self_score));
  }
  return found;
}

/// Row `from` of W_Q^(h) times row `to` of W_K^(h): x_from^T W_Q W_K^T x_to for one-hot x (B.2).
template <typename T>
T content_score(const ModelSpec& model, const Theta<T>& theta, std::size_t h, Token from,
                Token to) {
  const std::size_t first = h * static_cast<std::size_t>(model.d);
  T sum(0.0);
  for (std::size_t k = 0; k < static_cast<std::size_t>(model.d); ++k) {
    sum += T(theta.W_Q[first + from][k] * theta.W_K[first + to][k]);
  }
  return sum;
}

/// The head norm of v^(h).
template <typename T>
std::vector<T> head_norm(const ModelSpec& model, const Theta<T>& theta, std::vector<T> v) {
  using std::sqrt;
  const auto d = static_cast<double>(v.size());
  if (model.head_norm == HeadNorm::l2) {
    T squares(0.0);
    for (const T& entry : v) squares += T(entry * entry);
    if (value_of(squares) == 0.0) return v;
    const T length = sqrt(squares);
    for (T& entry : v) entry /= length;
  }
  if (model.head_norm == HeadNorm::layer) {
    T mean(0.0);
    for (const T& entry : v) mean += T(entry / d);
    T variance(1e-5);
    for (const T& entry : v) variance += T((entry - mean) * (entry - mean) / d);
    const T deviation = sqrt(variance);
    for (std::size_t k = 0; k < v.size(); ++k) {
      const T unit = (v[k] - mean) / deviation;
      v[k] = T(unit * theta.scale[0][k]) + theta.shift[0][k];
    }
  }
  return v;
}

/// Head h's attention from position l (2.2), with W_Q and W_K in the full variant (B.2).
template <typename T>
struct HeadAttention {
  std::vector<std::size_t> position;
  std::vector<T> sigma;
};

template <typename T>
HeadAttention<T> head_attention(const ModelSpec& model, const Theta<T>& theta,
                                std::span<const Token> x, std::size_t h, std::size_t l) {
  const bool full = model.variant == Variant::full;
  const bool is_query = l == x.size() + 1;
  Attended<T> seen = attended(model, theta, h, l);
  for (std::size_t i = 0; full && !is_query && i < seen.score.size(); ++i) {
    seen.score[i] += content_score(model, theta, h, x[l - 1], x[seen.position[i] - 1]);
  }
  return {seen.position, softmax(seen.score)};
}

/// v_l^(h) (2.2), with W_V in the full variant (B.2). A position that sees nothing has v_1 = 0.
template <typename T>
std::vector<T> head_output(const ModelSpec& model, const Theta<T>& theta, std::span<const Token> x,
                           std::size_t h, std::size_t l) {
  const bool full = model.variant == Variant::full;
  const HeadAttention<T> seen = head_attention(model, theta, x, h, l);
  const std::vector<T>& sigma = seen.sigma;
  const auto d = static_cast<std::size_t>(model.d);
  std::vector<T> v(d, T(0.0));
  for (std::size_t i = 0; i < sigma.size(); ++i) {
    if (seen.position[i] == x.size() + 1) continue;  // the query's own row is 0
    const Token token = x[seen.position[i] - 1];
    if (!full) {
      v[token] += sigma[i];
      continue;
    }
    for (std::size_t k = 0; k < d; ++k) v[k] += T(sigma[i] * theta.W_V[h * d + token][k]);
  }
  return head_norm(model, theta, std::move(v));
}

/// v_l as blocks that subsets choose from: v_l^(1), ..., v_l^(H), and before them the residual
/// block x~_l where the kernel sees it.
template <typename T>
Rows<T> first_layer(const ModelSpec& model, const Theta<T>& theta, std::span<const Token> x,
                    std::size_t l) {
  Rows<T> v;
  if (model.residual()) {
    auto& own = v.emplace_back(static_cast<std::size_t>(model.d), T(0.0));
    if (l <= x.size()) own[x[l - 1]] = T(1.0);
  }
  for (std::size_t h = 0; h < theta.w.size(); ++h) {
    v.push_back(head_output(model, theta, x, h, l));
  }
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
T ffn_kernel(const ModelSpec& model, const std::vector<Subset>& subsets, const std::vector<T>& c,
             const Rows<T>& v, const Rows<T>& v_prime) {
  std::vector<T> agreement;
  agreement.reserve(v.size());
  for (std::size_t h = 0; h < v.size(); ++h) {
    agreement.push_back(inner_product(v[h], v_prime[h]));
    if (model.rectify && value_of(agreement.back()) < 0.0) agreement.back() = T(0.0);
  }
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

/// s_l = <u_l, u_{L+1}> for the positions l that the second attention sees: 1 .. L, masked M+1 ..
/// L; u_l is phi(v_l) / sqrt(C_D) (2.4), or phi(v_l) / ||phi(v_l)|| (B.2).
template <typename T>
std::vector<T> scores(const ModelSpec& model, const std::vector<Subset>& subsets,
                      const Theta<T>& theta, std::span<const Token> x, std::size_t first_key) {
  using std::sqrt;
  const std::size_t L = x.size();
  const auto v_query = first_layer(model, theta, x, L + 1);
  const auto kernel = [&](const Rows<T>& v, const Rows<T>& v_prime) {
    return ffn_kernel(model, subsets, theta.c, v, v_prime);
  };
  const T C_D = normalisation(theta.c);
  std::vector<T> s;
  s.reserve(L);
  for (std::size_t l = first_key; l <= L; ++l) {
    const auto v_l = first_layer(model, theta, x, l);
    const T together = kernel(v_l, v_query);
    if (!model.l2_features()) {
      s.push_back(T(together / C_D));
      continue;
    }
    const T squares = kernel(v_l, v_l) * kernel(v_query, v_query);
    if (value_of(squares) == 0.0) {
      s.push_back(T(0.0));
      continue;
    }
    const T lengths = sqrt(squares);
    s.push_back(T(together / lengths));
  }
  return s;
}

/// y = sum_l softmax(a s)_l x_l (2.5).
template <typename T>
Forward<T> forward(const ModelSpec& model, const std::vector<Subset>& subsets,
                   const Theta<T>& theta, std::span<const Token> x) {
  Forward<T> result;
  result.first_key = model.mask ? static_cast<std::size_t>(model.reach()) + 1 : 1;
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

/// log sum_j exp(y_j) - sum_k t_k y_k, the t_k summing to 1: y taken as logits.
template <typename T>
T softmax_cross_entropy(const std::vector<double>& target, const std::vector<T>& y) {
  using std::exp;
  using std::log;
  T sum(0.0), expected(0.0);
  double mass = 0.0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    sum += T(exp(y[k]));
    expected += T(y[k] * target[k]);
    mass += target[k];
  }
  const T log_sum = log(sum);
  return T(log_sum * mass) - expected;
}

}  // namespace gih::literal
