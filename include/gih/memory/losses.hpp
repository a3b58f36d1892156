#pragma once
// What a compressor is trained by: attention reconstruction, auto-encoding, and the cross-entropy
// through the memory. The first two know queries and old items only as copies without a gradient.

#include "gih/memory/stream.hpp"
#include "gih/memory/weights.hpp"

namespace gih {

/// A copy through which no gradient flows: a loss that takes it can give none for it.
class Detached {
 public:
  explicit Detached(Matrix copy) : copy_(std::move(copy)) {}
  const Matrix& value() const { return copy_; }

 private:
  Matrix copy_;
};

/// A compressor as it is trained: what changes is `weights` and, where it is trained, `bias`.
struct Compressing {
  CompressorSpec spec;
  Eigen::Index d_e = 0;
  Eigen::VectorXd weights{};
  double bias = 0.0;  ///< b_e, added to the logit of a compressed slot
};

enum class LossNorm {
  mse,  ///< mean square over all entries
  fro,  ///< Frobenius norm, not squared, as printed
};

struct ReconstructionSpec {
  LossNorm norm = LossNorm::mse;
  bool multiplicity = false;  ///< chi: log c on the logits of compressed slots
  double lambda = 0.0;        ///< weight of the partition function's error (ar_z)
};

struct CompressorGradient {
  double loss = 0.0;        ///< lambda's part included
  double log_Z_loss = 0.0;  ///< mean over queries of (log Z - log Z*)^2
  Eigen::VectorXd dweights;
  double dbias = 0.0;
};

/// l = ||O - O*||^2 / (T d) or ||O - O*||_F, where O* is the attention of `queries` (T x d_e, a
/// included) to `old` (n x p) and O that to the compressed rows; plus lambda (log Z - log Z*)^2.
CompressorGradient attention_reconstruction(const Compressing& compressor, const Detached& queries,
                                            const Detached& old, const Detached& halo,
                                            const ReconstructionSpec& spec);

/// Decoder: row i of a block is G_i z + g_i; G_1 .. G_c (p x p row-major), then g_1 .. g_c.
Eigen::Index decoder_count(const CompressorSpec& spec, Eigen::Index p);
Eigen::VectorXd initial_decoder(const CompressorSpec& spec, Eigen::Index p);

struct AutoencodingGradient {
  double loss = 0.0;
  Eigen::VectorXd dweights, ddecoder;
};
/// l = ||old - decoded||^2 / (n p), or the norm.
AutoencodingGradient autoencoding(const Compressing& compressor, const Eigen::VectorXd& decoder,
                                  const Detached& old, const Detached& halo, LossNorm norm);

/// Where the cross-entropy's gradient may go.
struct ThroughMemory {
  ReadOptions read;             ///< finite a
  double eps = 1e-3;            ///< loss -log(y_x + eps)
  bool live_memory = true;      ///< through raw items of memory and pending
  bool live_compressed = true;  ///< through compressed slots to the compressor and its items
  std::size_t segments = unlimited_slots;  ///< U: compressed slots older than this are constants
};
struct MemoryGradient {
  double loss = 0.0;         ///< mean over positions
  Eigen::VectorXd dweights;  ///< of the compressor
  double dbias = 0.0, da = 0.0;
  Matrix du;  ///< of the features, as Items::u
  std::size_t questions = 0;
};
/// Mean over positions t = first+1 .. L of -log(y_t[x_t] + eps). Every level of a cascade is
/// differentiated. InputError for infinite a and for compressors that keep no slots of blocks.
MemoryGradient cross_entropy(const Items& items, const StreamSpec& stream,
                             const Compressing& compressor, const ThroughMemory& through);

}  // namespace gih
