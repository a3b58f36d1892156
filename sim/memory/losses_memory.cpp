// The cross-entropy through the memory: one hop from a query to the slots, then from each slot
// through the compressor to the items it was made of, newest compression first.
#include <fmt/format.h>

#include <cmath>

#include "gih/base/error.hpp"
#include "gih/memory/losses.hpp"

namespace gih {
namespace {

using Index = Eigen::Index;

class Pass {
 public:
  Pass(const Items& items, const StreamSpec& stream, const Compressing& compressor,
       const ThroughMemory& through)
      : items_(items),
        spec_(stream),
        compressor_(compressor),
        through_(through),
        d_e_(items.d_e()),
        p_(d_e_ + items.d) {
    result_.dweights = Eigen::VectorXd::Zero(compressor.weights.size());
    result_.du = Matrix::Zero(items.u.rows(), d_e_);
  }

  MemoryGradient run() {
    StreamingMemory memory(spec_, compressor_.weights, d_e_, items_.d);
    memory.record(tape_);
    const bool track = compressor_row(spec_.compressor.kind).uses_usage;
    ReadOptions read = through_.read;
    read.compressed_bias = compressor_.bias;
    const auto count =
        static_cast<double>(items_.length() - std::min(items_.length(), items_.first));
    for (std::size_t t = 1; t <= items_.length(); ++t) {
      if (t < items_.first) {
        memory.skip(t);
        continue;
      }
      const double* u = items_.u.row(static_cast<Index>(t) - 1).data();
      if (track) memory.read(u, t, read, true);
      if (t > items_.first) ask(memory, t, 1.0 / count);
      memory.write(t, u, items_.x[t - 1]);
    }
    back_through_compressions();
    for (std::size_t id = 1; id < gradient_.size(); ++id) {
      const std::size_t position = tape_.positions[id];
      if (position == 0 || gradient_[id].size() == 0) continue;
      result_.du.row(static_cast<Index>(position) - 1) += gradient_[id].head(d_e_);
    }
    return result_;
  }

 private:
  Eigen::RowVectorXd& gradient(std::size_t id) {
    if (gradient_.size() <= id) gradient_.resize(tape_.positions.size());
    if (gradient_[id].size() == 0) gradient_[id].setZero(p_);
    return gradient_[id];
  }

  /// Segment at whose end a slot was made, or of a raw item.
  std::size_t segment(std::size_t id) {
    if (tape_.positions[id] > 0) return (tape_.positions[id] - 1) / spec_.segment;
    for (; steps_seen_ < tape_.steps.size(); ++steps_seen_) {
      for (const std::size_t output : tape_.steps[steps_seen_].outputs) {
        made_.resize(std::max(made_.size(), output + 1));
        made_[output] = (tape_.steps[steps_seen_].made - 1) / spec_.segment;
      }
    }
    return made_[id];
  }

  void ask(const StreamingMemory& memory, std::size_t t, double share) {
    const std::vector<Block> blocks = memory.blocks();
    std::size_t m = 0;
    for (const Block& block : blocks) m += block.slots->size();
    Matrix K(static_cast<Index>(m), d_e_), V(static_cast<Index>(m), items_.d),
        bias(1, static_cast<Index>(m));
    Index at = 0;
    for (const Block& block : blocks) {
      for (std::size_t i = 0; i < block.slots->size(); ++i, ++at) {
        const SlotInfo& info = block.slots->info(i);
        std::copy(block.slots->key(i), block.slots->key(i) + d_e_, K.row(at).data());
        std::copy(block.slots->value(i), block.slots->value(i) + items_.d, V.row(at).data());
        K.row(at) *= info.gain;
        bias(0, at) = (through_.read.multiplicity && info.n != 1.0 ? std::log(info.n) : 0.0) +
                      (block.compressed ? compressor_.bias : 0.0);
      }
    }
    const auto u = items_.u.row(static_cast<Index>(t) - 1);
    const Matrix Q = through_.read.a * u;
    const Attention forward = attention(Q, K, V, bias);
    const Index x = items_.x[t - 1];
    const double y = forward.O(0, x), shifted = std::max(y, 0.0) + through_.eps;
    result_.loss -= share * std::log(shifted);
    ++result_.questions;
    Matrix G = Matrix::Zero(1, items_.d);
    if (y > 0.0) G(0, x) = -share / shifted;  // below 0 the prediction is clipped
    const AttentionGradient back = attention_backward(G, {}, Q, K, V, forward);
    result_.da += back.dQ.row(0).dot(u);
    result_.du.row(static_cast<Index>(t) - 1) += through_.read.a * back.dQ.row(0);
    at = 0;
    for (const Block& block : blocks) {
      for (std::size_t i = 0; i < block.slots->size(); ++i, ++at) {
        const SlotInfo& info = block.slots->info(i);
        if (block.compressed) result_.dbias += back.dE(0, at);
        if (info.id == 0) continue;
        const bool current = block.slots == &memory.current();
        const bool live = block.compressed
                              ? through_.live_compressed &&
                                    (t - 1) / spec_.segment - segment(info.id) <= through_.segments
                              : current || through_.live_memory;
        if (!live) continue;
        Eigen::RowVectorXd& row = gradient(info.id);
        row.head(d_e_) += info.gain * back.dK.row(at);
        row.tail(items_.d) += back.dV.row(at);
      }
    }
  }

  void back_through_compressions() {
    for (auto step = tape_.steps.rbegin(); step != tape_.steps.rend(); ++step) {
      CompressorSpec spec = spec_.compressor;
      spec.rate = step->inputs.size() / step->outputs.size();
      Matrix dz(static_cast<Index>(step->outputs.size()), p_);
      for (Index j = 0; j < dz.rows(); ++j) {
        dz.row(j) = gradient(step->outputs[static_cast<std::size_t>(j)]);
      }
      Matrix dold = Matrix::Zero(step->old.rows(), p_);
      Matrix dhalo = Matrix::Zero(step->halo.rows(), p_);
      compress_rows_backward(spec, compressor_.weights, d_e_, step->old, step->halo, dz,
                             result_.dweights, &dold, &dhalo);
      give(step->inputs, dold);
      give(step->before, dhalo);
    }
  }

  void give(const std::vector<std::size_t>& ids, const Matrix& rows) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] > 0) gradient(ids[i]) += rows.row(static_cast<Index>(i));
    }
  }

  const Items& items_;
  const StreamSpec& spec_;
  const Compressing& compressor_;
  const ThroughMemory& through_;
  Index d_e_, p_;
  Tape tape_;
  std::vector<Eigen::RowVectorXd> gradient_;  // by id; of the row [key ; value]
  std::vector<std::size_t> made_;             // by id
  std::size_t steps_seen_ = 0;
  MemoryGradient result_;
};

}  // namespace

MemoryGradient cross_entropy(const Items& items, const StreamSpec& stream,
                             const Compressing& compressor, const ThroughMemory& through) {
  const CompressorRow& row = compressor_row(stream.compressor.kind);
  if (!row.blocks || !std::isfinite(through.read.a) || through.read.combine != Combine::concat ||
      through.read.distance != Distance::none) {
    throw InputError(
        fmt::format("the cross-entropy through the memory needs a finite a, one "
                    "softmax without positions, and a compressor of blocks, not a = "
                    "{} with {}",
                    through.read.a, row.name));
  }
  return Pass(items, stream, compressor, through).run();
}

}  // namespace gih
