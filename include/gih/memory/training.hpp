#pragma once
// Trains a compressor, and with it the transformer where it is asked for, by Adam on batches of
// evictions.

#include <functional>

#include "gih/data/dataset.hpp"
#include "gih/memory/losses.hpp"

namespace gih {

enum class TrainBy {
  none,  ///< the initial weights: mean pooling
  ar,    ///< attention reconstruction
  ar_z,  ///< the same with the partition function, and a trained slot bias
  ae,    ///< auto-encoding, with a linear decoder
  ce,    ///< cross-entropy through the memory
};

struct MemoryTraining {
  TrainBy by = TrainBy::ar;
  std::size_t steps = 1500, batch = 64;
  std::size_t sequences = 512;  ///< of the training split; batches are drawn from them
  double rate = 3e-3;           ///< Adam's step size
  double clip = 0.0;            ///< largest length of the gradient; 0: none
  double noise = 0.02;          ///< deviation of the initial weights around mean pooling
  double lambda = 1.0;          ///< ar_z
  LossNorm norm = LossNorm::mse;
  std::size_t segments = unlimited_slots;  ///< U of ce
  bool joint = false;  ///< the transformer too, by cross-entropy, its memory stopped
};

/// What is read with, besides the items.
struct MemoryReading {
  double a = 8.0;
  bool multiplicity = false;
  double eps = 1e-3;  ///< of the cross-entropy
};

struct MemoryCurve {
  std::vector<double> loss, log_Z_loss, gradient_norm;  ///< a step
  std::vector<double> transformer_loss;                 ///< joint
};

struct TrainedCompressor {
  Compressing compressor;
  Parameters theta{};  ///< joint: the transformer's
  MemoryCurve curve;
};

/// Weights start from (seed, memory_weights, 0), batches are drawn from (seed, memory_training, 0).
/// `done` hears of every step; where it returns false the result is what was reached. InputError
/// when nothing is evicted in a sequence of this length, for a compressor without weights, for
/// infinite a, and for joint training of a limiting reader.
TrainedCompressor train_compressor(const Reader& reader, const DataSpec& data,
                                   const StreamSpec& stream, const MemoryReading& reading,
                                   const MemoryTraining& training,
                                   const std::function<bool(std::size_t)>& done = {});

/// An eviction of whole blocks: queries of the segment that ends, the rows that are compressed at
/// its end, the rows before them. Ranges of positions, first and count.
struct Eviction {
  std::size_t sequence = 0;
  std::size_t query = 0, queries = 0, old = 0, rows = 0;
};
/// Those of a sequence of length L whose items start at `first`, leftover carry.
std::vector<Eviction> evictions(const StreamSpec& stream, std::size_t first, std::size_t L);

/// Adam (beta 0.9 and 0.999) on one vector.
class Adam {
 public:
  Adam(Eigen::Index size, double rate, double clip);
  void step(Eigen::VectorXd gradient, Eigen::VectorXd& at);

 private:
  Eigen::VectorXd mean_, square_;
  double rate_, clip_;
  int steps_ = 0;
};

}  // namespace gih
