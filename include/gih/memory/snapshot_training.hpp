#pragma once
// Trains what snapshots attend to, by the cross-entropy of the answer at the last position: their
// queries q and biases rho alone, with the feed-forward weights c and the scores w frozen
// (attention only), or everything.

#include <functional>

#include "gih/data/dataset.hpp"
#include "gih/memory/snaptra.hpp"

namespace gih {

/// loss = -log(y_next + eps) at position L + 1.
struct SnapGradient {
  double loss = 0.0;
  Matrix dq;             ///< R x d_e
  Eigen::VectorXd drho;  ///< as rho
  double dscale = 0.0;   ///< of a_s
  double da = 0.0;       ///< of options.a
  Matrix du;             ///< of the features, as Items::u
};

/// InputError for infinite scales, and for overlap logits, which are not differentiated.
SnapGradient snapshot_cross_entropy(const SnapSpec& spec, const SnapWeights& weights,
                                    const Items& items, const std::vector<SnapSegment>& segments,
                                    Token next, const ReadOptions& options, double eps);

struct SnapTraining {
  std::size_t steps = 1500, batch = 64;
  std::size_t sequences = 512;  ///< of the training split
  double rate = 3e-3, clip = 0.0, noise = 0.02, eps = 1e-3;
  bool all = false;  ///< c, w and a of a trained reader too
};
struct TrainedSnapshots {
  SnapWeights weights;
  Parameters theta{};  ///< moved by `all` alone
  double a = 0.0;
  std::vector<double> loss{};  ///< a step
};
/// Queries start as noise, rho at 0: means of segments. InputError for `all` with a limiting
/// reader.
TrainedSnapshots train_snapshots(const Reader& reader, const DataSpec& data, const SnapSpec& spec,
                                 const ReadOptions& options, const SnapTraining& training,
                                 const std::function<bool(std::size_t)>& done = {});

/// Stream of the segments of a sequence.
Stream segment_stream(const DataSpec& data, Split split, std::size_t index);

}  // namespace gih
