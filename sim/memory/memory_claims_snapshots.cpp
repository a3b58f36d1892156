// What snapshots of segments can represent.

#include <cmath>

#include "gih/memory/snapshot_rank.hpp"
#include "gih/memory/snaptra.hpp"
#include "memory_claims_groups.hpp"

namespace gih {
namespace {

using Index = Eigen::Index;
constexpr const char* snaptra = "SnapTra";

/// Attention of eight queries to 30 keys, and the values there.
struct Attended {
  Matrix A, values;
  Eigen::VectorXd mu;
};

Attended attended(const World& world) {
  const Items items = claim_soft_items(world, 40, 6);
  Attended found;
  Stream stream(43, Purpose::claims, 0);
  const Matrix queries = Matrix::NullaryExpr(8, 6, [&] { return 2.0 * stream.normal(); });
  found.A = attention_rows(queries, items.u.middleRows(8, 30));
  found.values = Matrix::Zero(30, items.d);
  for (Index i = 0; i < 30; ++i) found.values(i, items.x[static_cast<std::size_t>(i) + 8]) = 1.0;
  std::vector<double> law(8);
  stream.dirichlet(1.0, law);
  found.mu = Eigen::Map<const Eigen::VectorXd>(law.data(), 8);
  return found;
}

/// Some snapshots' weights: random, and the best one's.
std::vector<Eigen::RowVectorXd> some_weights(const Eigen::RowVectorXd& best) {
  std::vector<Eigen::RowVectorXd> all{best};
  Stream stream(44, Purpose::claims, 0);
  std::vector<double> alpha(static_cast<std::size_t>(best.size()));
  for (int trial = 0; trial < 40; ++trial) {
    stream.dirichlet(trial % 2 ? 0.3 : 3.0, alpha);
    all.push_back(Eigen::Map<const Eigen::RowVectorXd>(alpha.data(), best.size()));
  }
  return all;
}

void check_variance(const World& world, double share, Tally& tally) {
  const Attended of = attended(world);
  const double floor = output_variance(of.A * of.values, of.mu);
  for (const auto& alpha : some_weights(of.mu.transpose() * of.A)) {
    double error = 0.0;
    for (Index q = 0; q < 8; ++q) {
      error += of.mu[q] * ((of.A.row(q) - alpha) * of.values).squaredNorm();
    }
    tally.at_most(share * floor, error);
  }
}

void check_floor(const World& world, double share, Tally& tally) {
  const Attended of = attended(world);
  for (const std::size_t k : {0U, 4U, 12U}) {
    const Matrix before = of.A.leftCols(30 - static_cast<Index>(k));
    const double floor = free_floor(of.A, k);
    const SoftmaxFloor soft = softmax_floor(of.A, k);
    tally.at_most(share * floor, soft.floor);
    for (const auto& alpha : some_weights(soft.alpha.transpose())) {
      const Eigen::VectorXd beta = before * alpha.transpose() / alpha.squaredNorm();
      tally.at_most(share * floor, (before - beta * alpha).squaredNorm());
    }
  }
}

void check_rank(const World& world, int spare, Tally& tally) {
  const Attended of = attended(world);
  for (const Index k : {0, 1, 2, 5}) {
    Matrix beside = Matrix::Zero(8, 30);
    beside.leftCols(30 - k) = of.A.col(0) * of.A.row(0).head(30 - k);
    beside.rightCols(k) = of.A.rightCols(k);
    tally.at_most(static_cast<double>(numerical_rank(beside)), static_cast<double>(k + 1 - spare));
  }
}

Reading read(const SnapSpec& spec, const SnapWeights& weights, const Items& items, double a,
             bool multiplicity = false) {
  Stream none(1, Purpose::claims, 0);
  const auto segments = snap_segments(spec, items.length(), none);
  const ReadOptions options{.a = a, .multiplicity = multiplicity};
  const std::size_t t = items.length() + 1;
  return read_snapshots(snap_memory(spec, weights, items, segments, t, options), items, t, options);
}

void check_mean(const World& world, std::size_t rate, Tally& tally) {
  Items items = claim_soft_items(world, 50, 5);
  items.first = 1;
  SnapSpec spec;
  spec.segment = 8;
  StreamSpec stream;
  stream.segment = 8;
  stream.n_mem = 0;
  stream.compressor.rate = rate;
  const Eigen::VectorXd none;
  StreamingMemory memory(stream, none, 5, items.d);
  const ReadOptions options{.a = 1.5};
  run_stream(memory, items, options, false);
  const StreamingMemory& held = memory;
  same(read(spec, mean_weights(spec, 5), items, 1.5).y,
       held.read(items.u.row(50).data(), 51, options).y, tally);
}

void check_oracle(const World& world, bool log_Z, Tally& tally) {
  const Items items = claim_items(world, 60);
  SnapSpec spec;
  spec.segment = 7;
  spec.log_Z = log_Z;
  for (const double a : {0.5, 3.0, 9.0}) {
    same(read(spec, oracle_weights(items.d_e()), items, a).y,
         read_uncompressed(items, 61, {.a = a}).y, tally);
  }
}

void check_step(const World& world, double factor, Tally& tally) {
  Items items = claim_items(world, 60);
  items.first = 1;
  for (const std::size_t overlap : {0U, 3U, 7U}) {
    SnapSpec spec;
    spec.segment = 10;
    spec.overlap = overlap;
    Stream none(1, Purpose::claims, 0);
    const auto segments = snap_segments(spec, 60, none);
    const SnapMemory memory =
        snap_memory(spec, mean_weights(spec, items.d_e()), items, segments, 61, {});
    const double bound = factor * (1.0 - static_cast<double>(overlap) / 10.0);
    for (std::size_t j = 0; j + 1 < memory.snapshots.size(); ++j) {
      double step = 0.0;
      for (Index k = 0; k < items.d; ++k) {
        step += std::abs(memory.snapshots.value(j)[k] - memory.snapshots.value(j + 1)[k]);
      }
      tally.at_most(step, bound);
    }
  }
}

}  // namespace

std::vector<Claim> snapshot_claims() {
  return {
      {"snapshot variance",
       "one snapshot's answer is off, over queries, by at least the variance of their outputs",
       "ours", Mode::exact, true,
       [](const World& world, Tally& tally) { check_variance(world, 1.0, tally); },
       [](Tally& tally) { check_variance(small_world(), 2.0, tally); }, "twice the variance"},
      {"snapshot floor",
       "beside k local items one snapshot is off by at least the tail of singular values before "
       "them",
       "ours", Mode::exact, true,
       [](const World& world, Tally& tally) { check_floor(world, 1.0, tally); },
       [](Tally& tally) { check_floor(small_world(), 3.0, tally); }, "three times the tail"},
      {"snapshot rank", "beside k local items one snapshot has rank at most k + 1", snaptra,
       Mode::exact, true, [](const World& world, Tally& tally) { check_rank(world, 0, tally); },
       [](Tally& tally) { check_rank(small_world(), 1, tally); }, "rank k"},
      {"snapshot mean", "with even weights it is mean pooling of whole segments without a memory",
       "ours", Mode::exact, true,
       [](const World& world, Tally& tally) { check_mean(world, 8, tally); },
       [](Tally& tally) { check_mean(small_world(), 4, tally); }, "half segments"},
      {"snapshot oracle",
       "one exact snapshot a pattern, with log Z, answers as all items do, at any scale", "ours",
       Mode::exact, true,
       [](const World& world, Tally& tally) { check_oracle(world, true, tally); },
       [](Tally& tally) { check_oracle(small_world(), false, tally); }, "without log Z"},
      {"snapshot step",
       "means of neighbouring segments differ by at most 2 (1 - omega), omega the share they have "
       "in "
       "common",
       "ours", Mode::exact, true,
       [](const World& world, Tally& tally) { check_step(world, 2.0, tally); },
       [](Tally& tally) { check_step(small_world(), 0.2, tally); }, "a tenth of it"},
  };
}

}  // namespace gih
