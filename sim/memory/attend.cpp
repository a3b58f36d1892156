#include "gih/memory/attend.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gih {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double dot(const double* a, const double* b, Eigen::Index n) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

double offset(const ReadOptions& options, const SlotInfo& info, std::size_t t, std::size_t rank) {
  if (options.distance == Distance::none) return 0.0;
  double delta = static_cast<double>(rank);
  if (options.distance == Distance::c_offset) delta = static_cast<double>(t) - info.cen;
  if (options.distance == Distance::nearest) {
    delta = static_cast<double>(t) - static_cast<double>(info.hi);
  }
  if (options.table.empty()) return -options.slope * delta;
  const auto at = static_cast<std::size_t>(std::max(0.0, std::round(delta)));
  return options.table[std::min(at, options.table.size() - 1)];
}

/// Score of a slot, which a multiplies, and what is added to its logit.
struct Logit {
  double score, rest;
};

/// Weight of a logit: finite a, exp(a s + r - top); infinite a, exp(r - top) at the top score.
class Weigh {
 public:
  explicit Weigh(double a) : a_(a) {}
  void see(const Logit& logit) {
    if (!std::isinf(a_)) {
      top_ = std::max(top_, a_ * logit.score + logit.rest);
    } else if (logit.score > best_) {
      best_ = logit.score;
    }
  }
  double operator()(const Logit& logit) const {
    if (!std::isinf(a_)) return std::exp(a_ * logit.score + logit.rest - top_);
    return logit.score >= best_ - tie ? std::exp(logit.rest) : 0.0;
  }
  double top() const { return std::isinf(a_) ? 0.0 : top_; }

 private:
  double a_, top_ = -infinity, best_ = -infinity;
};

/// The linear memory as two slots: all items at score 0, and the matches once more at score 1 with
/// weight 1 - e^-a. At infinite a only one of them counts.
struct LinearPart {
  Logit all, matches;
  double match_count = 0.0;
};

LinearPart linear_part(const LinearMemory& linear, const double* u, double a) {
  LinearPart part{{0.0, std::log(linear.n)}, {1.0, -infinity}};
  part.match_count = dot(linear.z.data(), u, linear.z.size());
  if (part.match_count > 0.0)
    part.matches.rest = std::log(part.match_count) + std::log1p(-std::exp(-a));
  return part;
}

/// Shares of the compressed memory and of the rest in the answer.
std::pair<double, double> shares(const ReadOptions& options, double Z_compressed, double Z_rest,
                                 double count_compressed, double count_rest) {
  if (options.combine == Combine::concat || Z_compressed <= 0.0 || Z_rest <= 0.0) {
    const double Z = Z_compressed + Z_rest;
    return {1.0 / Z, 1.0 / Z};
  }
  double gamma = options.gamma;
  if (options.combine == Combine::mean) gamma = 0.5;
  if (options.combine == Combine::count) {
    gamma = count_compressed / (count_compressed + count_rest);
  }
  return {gamma / Z_compressed, (1.0 - gamma) / Z_rest};
}

void to_simplex(Reading& reading, bool convex) {
  Eigen::VectorXd& y = reading.y;
  if (!convex) {
    for (Eigen::Index k = 0; k < y.size(); ++k) {
      if (y[k] < 0.0) {
        y[k] = 0.0;
        reading.clipped = true;
      }
    }
  }
  const double sum = y.sum();
  if (convex) reading.null_mass = std::max(0.0, 1.0 - sum);
  if (convex && reading.null_mass <= tie) {
    reading.null_mass = 0.0;
  } else if (sum > 0.0) {
    y /= sum;
  } else {
    y.setConstant(1.0 / static_cast<double>(y.size()));
  }
}

}  // namespace

LinearMemory::LinearMemory(Eigen::Index d_e, Eigen::Index d, double decay)
    : A(Matrix::Zero(d_e, d)),
      z(Eigen::VectorXd::Zero(d_e)),
      m(Eigen::VectorXd::Zero(d)),
      decay(decay) {}

void LinearMemory::add(const double* u, const double* x) {
  if (decay < 1.0) {
    A *= decay;
    z *= decay;
    m *= decay;
    n *= decay;
  }
  for (Eigen::Index e = 0; e < z.size(); ++e) {
    if (u[e] == 0.0) continue;
    z[e] += u[e];
    for (Eigen::Index k = 0; k < m.size(); ++k) A(e, k) += u[e] * x[k];
  }
  for (Eigen::Index k = 0; k < m.size(); ++k) m[k] += x[k];
  n += 1.0;
}

Reading attend(const double* u, std::size_t t, std::span<const Block> blocks,
               const LinearMemory* linear, const ReadOptions& options, Eigen::Index d) {
  Reading reading;
  std::size_t count = 0;
  for (const Block& block : blocks) count += block.slots->size();
  const bool has_linear = linear != nullptr && linear->n > 0.0;
  reading.log_Z_compressed = reading.log_Z_rest = -infinity;
  if (count == 0 && !has_linear) {
    reading.y = Eigen::VectorXd::Constant(d, 1.0 / static_cast<double>(d));
    return reading;
  }
  std::vector<Logit> logits;
  logits.reserve(count);
  Weigh weigh(options.a);
  for (const Block& block : blocks) {
    const Slots& slots = *block.slots;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const SlotInfo& info = slots.info(i);
      double rest = info.bias + (block.compressed ? options.compressed_bias : 0.0) +
                    offset(options, info, t, count - logits.size());
      if (options.multiplicity && info.n != 1.0) rest += std::log(info.n);
      logits.push_back({info.gain * dot(slots.key(i), u, slots.d_e()), rest});
      weigh.see(logits.back());
    }
  }
  LinearPart part{};
  if (has_linear) {
    part = linear_part(*linear, u, options.a);
    weigh.see(part.all);
    if (part.match_count > 0.0) weigh.see(part.matches);
  }
  double Z[2] = {0.0, 0.0}, counts[2] = {0.0, 0.0};  // rest, compressed
  reading.P.resize(count);
  std::size_t at = 0;
  for (const Block& block : blocks) {
    for (std::size_t i = 0; i < block.slots->size(); ++i, ++at) {
      reading.P[at] = weigh(logits[at]);
      Z[block.compressed] += reading.P[at];
      counts[block.compressed] += 1.0;
    }
  }
  double all = 0.0, matches = 0.0;
  if (has_linear) {
    all = weigh(part.all);
    if (part.match_count > 0.0) matches = weigh(part.matches);
    Z[1] += all + matches;
    counts[1] += linear->n;
  }
  const auto [of_compressed, of_rest] = shares(options, Z[1], Z[0], counts[1], counts[0]);
  reading.y = Eigen::VectorXd::Zero(d);
  at = 0;
  for (const Block& block : blocks) {
    for (std::size_t i = 0; i < block.slots->size(); ++i, ++at) {
      reading.P[at] *= block.compressed ? of_compressed : of_rest;
      const double* value = block.slots->value(i);
      for (Eigen::Index k = 0; k < d; ++k) reading.y[k] += reading.P[at] * value[k];
    }
  }
  if (has_linear) {
    reading.y += all * of_compressed / linear->n * linear->m;
    if (matches > 0.0) {
      const double weight = matches * of_compressed / part.match_count;
      for (Eigen::Index e = 0; e < linear->z.size(); ++e) {
        for (Eigen::Index k = 0; u[e] != 0.0 && k < d; ++k) {
          reading.y[k] += weight * u[e] * linear->A(e, k);
        }
      }
    }
    reading.linear = (all + matches) * of_compressed;
  }
  reading.gamma = Z[1] * of_compressed;
  reading.log_Z_compressed = std::log(Z[1]) + weigh.top();
  reading.log_Z_rest = std::log(Z[0]) + weigh.top();
  to_simplex(reading, options.convex);
  return reading;
}

Attention attention(const Matrix& Q, const Matrix& K, const Matrix& V, const Matrix& bias) {
  Attention result;
  result.P = Q * K.transpose();
  if (bias.rows() == Q.rows() && bias.cols() == K.rows()) {
    result.P += bias;
  } else if (bias.size() == K.rows()) {
    const Eigen::Map<const Eigen::RowVectorXd> row(bias.data(), bias.size());
    result.P.rowwise() += row;
  }
  result.log_Z.resize(Q.rows());
  for (Eigen::Index t = 0; t < Q.rows(); ++t) {
    const double top = result.P.row(t).maxCoeff();
    double sum = 0.0;
    for (Eigen::Index i = 0; i < K.rows(); ++i) {
      result.P(t, i) = std::exp(result.P(t, i) - top);
      sum += result.P(t, i);
    }
    result.P.row(t) /= sum;
    result.log_Z[t] = top + std::log(sum);
  }
  result.O = result.P * V;
  return result;
}

AttentionGradient attention_backward(const Matrix& G, const Eigen::VectorXd& dlog_Z,
                                     const Matrix& Q, const Matrix& K, const Matrix& V,
                                     const Attention& forward) {
  AttentionGradient back;
  back.dV = forward.P.transpose() * G;
  back.dE = G * V.transpose();
  for (Eigen::Index t = 0; t < Q.rows(); ++t) {
    const double mean = G.row(t).dot(forward.O.row(t));
    for (Eigen::Index i = 0; i < K.rows(); ++i) {
      back.dE(t, i) = forward.P(t, i) * (back.dE(t, i) - mean);
      if (dlog_Z.size() > 0) back.dE(t, i) += dlog_Z[t] * forward.P(t, i);
    }
  }
  back.dK = back.dE.transpose() * Q;
  back.dQ = back.dE * K;
  return back;
}

}  // namespace gih
