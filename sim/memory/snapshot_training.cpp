#include "gih/memory/snapshot_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gih/base/error.hpp"
#include "gih/memory/training.hpp"

namespace gih {
namespace {

using Index = Eigen::Index;

/// Everything that moves, as one vector.
struct Flat {
  static Eigen::VectorXd of(const Matrix& q, const Eigen::VectorXd& rho, double scale,
                            const Parameters* theta, double a) {
    const Index moved = theta ? theta->c.size() + theta->w.size() + 1 : 0;
    Eigen::VectorXd all(q.size() + rho.size() + 1 + moved);
    all.head(q.size()) = Eigen::Map<const Eigen::VectorXd>(q.data(), q.size());
    all.segment(q.size(), rho.size()) = rho;
    all[q.size() + rho.size()] = scale;
    if (theta) {
      all.tail(moved) << theta->c,
          Eigen::Map<const Eigen::VectorXd>(theta->w.data(), theta->w.size()), a;
    }
    return all;
  }
  static void to(const Eigen::VectorXd& all, SnapWeights& weights, Parameters* theta, double& a) {
    Index at = weights.q.size();
    weights.q = Eigen::Map<const Matrix>(all.data(), weights.q.rows(), weights.q.cols());
    weights.rho = all.segment(at, weights.rho.size());
    at += weights.rho.size();
    weights.scale = std::max(0.0, all[at++]);
    if (!theta) return;
    theta->c = all.segment(at, theta->c.size());
    at += theta->c.size();
    theta->w = Eigen::Map<const Matrix>(all.data() + at, theta->w.rows(), theta->w.cols());
    a = theta->a = std::max(0.0, all[all.size() - 1]);
  }
};

}  // namespace

Stream segment_stream(const DataSpec& data, Split split, std::size_t index) {
  return Stream(data.seed, Purpose::snapshot_segments, 2 * index + (split == Split::train ? 0 : 1));
}

SnapGradient snapshot_cross_entropy(const SnapSpec& spec, const SnapWeights& weights,
                                    const Items& items, const std::vector<SnapSegment>& segments,
                                    Token next, const ReadOptions& options, double eps) {
  if (std::isinf(weights.scale) || std::isinf(options.a)) {
    throw InputError("scale = inf: snapshots are trained at finite scales");
  }
  if (spec.overlap_logit != 0.0) {
    throw InputError("snapshots are trained without overlap logits");
  }
  const std::size_t t = items.length() + 1;
  const SnapMemory memory = snap_memory(spec, weights, items, segments, t, options);
  const auto snapshots = static_cast<Index>(memory.snapshots.size());
  const auto slots = snapshots + static_cast<Index>(memory.local.size());
  SnapGradient found{0.0,
                     Matrix::Zero(weights.q.rows(), weights.q.cols()),
                     Eigen::VectorXd::Zero(weights.rho.size()),
                     0.0,
                     0.0,
                     Matrix::Zero(items.u.rows(), items.u.cols())};
  if (slots == 0) {
    found.loss = -std::log(1.0 / items.d + eps);
    return found;
  }
  Matrix K(slots, items.d_e()), V(slots, items.d), bias(slots, 1);
  for (Index i = 0; i < slots; ++i) {
    const Slots& from = i < snapshots ? memory.snapshots : memory.local;
    const auto at = static_cast<std::size_t>(i < snapshots ? i : i - snapshots);
    K.row(i) = Eigen::Map<const Eigen::RowVectorXd>(from.key(at), items.d_e());
    V.row(i) = Eigen::Map<const Eigen::RowVectorXd>(from.value(at), items.d);
    const SlotInfo& info = from.info(at);
    bias(i, 0) = info.bias + (options.multiplicity ? std::log(info.n) : 0.0) +
                 (i < snapshots ? options.compressed_bias : 0.0);
  }
  const Eigen::RowVectorXd u = items.u.row(static_cast<Index>(t) - 1);
  const Matrix Q = options.a * u;
  const Attention forward = attention(Q, K, V, bias);
  const double y = forward.O(0, next);
  found.loss = -std::log(y + eps);
  Matrix G = Matrix::Zero(1, items.d);
  G(0, next) = -1.0 / (y + eps);
  const AttentionGradient back = attention_backward(G, {}, Q, K, V, forward);
  found.da = back.dQ.row(0).dot(u);
  found.du.row(static_cast<Index>(t) - 1) += options.a * back.dQ.row(0);
  for (Index i = snapshots; i < slots; ++i) {
    const std::size_t l = memory.local.info(static_cast<std::size_t>(i - snapshots)).lo;
    found.du.row(static_cast<Index>(l) - 1) += back.dK.row(i);
  }
  // Which snapshot of its segment a slot is: snapshots without items have none.
  std::size_t r = 0;
  for (Index i = 0; i < snapshots; ++i) {
    const std::size_t j = memory.segment_of[static_cast<std::size_t>(i)];
    r = i > 0 && memory.segment_of[static_cast<std::size_t>(i) - 1] == j ? r + 1 : 0;
    const SnapWeight weight = snap_weight(spec, weights, items, segments, j, r, t);
    const auto row = static_cast<Index>(r);
    const Eigen::RowVectorXd q = weights.q.row(row);
    std::vector<double> dalpha;
    double mean = 0.0;
    for (std::size_t k = 0; k < weight.positions.size(); ++k) {
      const std::size_t l = weight.positions[k];
      dalpha.push_back(back.dK.row(i).dot(items.u.row(static_cast<Index>(l) - 1)) +
                       back.dV(i, items.x[l - 1]));
      mean += weight.alpha[k] * dalpha.back();
    }
    for (std::size_t k = 0; k < weight.positions.size(); ++k) {
      const std::size_t l = weight.positions[k];
      const auto at = static_cast<Index>(l) - 1;
      const double dscore =
          weight.alpha[k] * (dalpha[k] - mean + (spec.log_Z ? back.dE(0, i) : 0.0));
      const Eigen::RowVectorXd key = items.u.row(at);
      found.dq.row(row) += weights.scale * dscore * (spec.log_Z ? key - 2.0 * q : key);
      found.dscale += dscore * (q.dot(key) - (spec.log_Z ? q.squaredNorm() : 0.0));
      const auto place = static_cast<Index>(l - segments[j].lo);
      if (place < weights.rho.size()) found.drho[place] += dscore;
      found.du.row(at) += weights.scale * dscore * q + weight.alpha[k] * back.dK.row(i);
    }
  }
  return found;
}

TrainedSnapshots train_snapshots(const Reader& reader, const DataSpec& data, const SnapSpec& spec,
                                 const ReadOptions& options, const SnapTraining& training,
                                 const std::function<bool(std::size_t)>& done) {
  check_snaptra(spec);
  if (!data.L) throw InputError("data.length = inf: snapshots need a finite length");
  if (training.all && reader.is_limit()) {
    throw InputError("training everything needs a trained transformer, not its limit");
  }
  Stream stream(data.seed, Purpose::snapshot_training, 0);
  TrainedSnapshots found;
  found.weights = mean_weights(spec, reader.d_e());
  for (Index i = 0; i < found.weights.q.size(); ++i) {
    found.weights.q.data()[i] = training.noise * stream.normal();
  }
  found.weights.rho = Eigen::VectorXd::Zero(static_cast<Index>(spec.segment));
  found.theta = reader.theta();
  found.a = options.a;
  const std::size_t count = std::min(training.sequences, data.train);
  std::vector<std::vector<Token>> tokens(count);
  std::vector<Token> next(count);
  std::vector<Items> items;
  std::vector<std::vector<SnapSegment>> segments;
  for (std::size_t i = 0; i < count; ++i) {
    tokens[i].resize(*data.L + 1);
    draw_sequence(data, sequence_kernel(data, Split::train, i), Split::train, i, tokens[i]);
    next[i] = tokens[i].back();
    tokens[i].pop_back();
    items.push_back(reader.items(tokens[i]));
    Stream sizes = segment_stream(data, Split::train, i);
    segments.push_back(snap_segments(spec, *data.L, sizes));
  }
  Parameters* const theta = training.all ? &found.theta : nullptr;
  Eigen::VectorXd at =
      Flat::of(found.weights.q, found.weights.rho, found.weights.scale, theta, found.a);
  Adam adam(at.size(), training.rate, training.clip);
  const double share = 1.0 / static_cast<double>(training.batch);
  for (std::size_t step = 0; step < training.steps; ++step) {
    Reader here = reader;
    if (training.all) here = Reader::trained(reader.model(), found.theta);
    ReadOptions read = options;
    read.a = found.a;
    Parameters dtheta = zero_parameters(reader.model());
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(at.size());
    double loss = 0.0;
    for (std::size_t b = 0; b < training.batch; ++b) {
      const auto i = static_cast<std::size_t>(stream.uniform() * static_cast<double>(count));
      if (training.all) items[i] = here.items(tokens[i]);
      const SnapGradient one = snapshot_cross_entropy(spec, found.weights, items[i], segments[i],
                                                      next[i], read, training.eps);
      loss += share * one.loss;
      Parameters own = zero_parameters(reader.model());
      if (training.all) here.backward(tokens[i], one.du, own);
      gradient += share * Flat::of(one.dq, one.drho, one.dscale, theta ? &own : nullptr, one.da);
    }
    if (!std::isfinite(loss)) {
      throw RunError(fmt::format(
          "training of snapshots, step {}: the loss is not finite; use a smaller step size", step));
    }
    found.loss.push_back(loss);
    adam.step(gradient, at);
    Flat::to(at, found.weights, theta, found.a);
    if (done && !done(step + 1)) break;
  }
  return found;
}

}  // namespace gih
