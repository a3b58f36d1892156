#pragma once
// SnapTra: each segment of a sequence is summed up by R snapshots, attention-weighted means of its
// items, and a query sees the snapshots of earlier segments and some recent items as they are.
//   alpha^(r) = softmax_i(a_s <q_r, u_i> + rho_i),   s^(r) = sum_i alpha_i^(r) [u_i ; x_i]

#include <vector>

#include "gih/base/random.hpp"
#include "gih/memory/attend.hpp"
#include "gih/memory/items.hpp"

namespace gih {

enum class SegmentSizes {
  fixed,      ///< n tokens
  uniform,    ///< from n - v to n + v, all as likely
  geometric,  ///< mean n
};
enum class Local {
  in_segment,  ///< the items of the segment under way
  last_k,      ///< the last k items, wherever they lie
};

struct SnapSpec {
  std::size_t segment = 20;  ///< n, 1 or more
  SegmentSizes sizes = SegmentSizes::fixed;
  std::size_t spread = 0;     ///< v, below n
  std::size_t snapshots = 1;  ///< R, 1 or more
  Local local = Local::in_segment;
  std::size_t k = 0;           ///< of last_k
  bool inclusive = true;       ///< snapshots hold local items too
  std::size_t overlap = 0;     ///< |O|, tokens that neighbouring segments share, below n (- v)
  bool share_overlap = false;  ///< an item of m segments counts 1/m in each
  std::size_t skip = 0;        ///< items at the start of a segment that its snapshots leave out
  bool log_Z = false;          ///< logits of snapshots have log sum_i e^{..} added
  double overlap_logit = 0.0;  ///< eta_O: + eta_O (gamma_- + gamma_+), log-mean-exp of the scores
                               ///< in the overlaps with both neighbours
};

/// InputError, naming value and range, unless the parts fit each other.
void check_snaptra(const SnapSpec& spec);

struct SnapWeights {
  Matrix q;               ///< R x d_e, the snapshots' queries
  Eigen::VectorXd rho{};  ///< by place in the segment; beyond its end 0
  double scale = 1.0;     ///< a_s >= 0; infinite: even weights on the items of the top score
};
/// Even weights: means.
SnapWeights mean_weights(const SnapSpec& spec, Eigen::Index d_e);
/// One snapshot a pattern, exact matches alone. With spec.log_Z, d_e snapshots and hard features
/// nothing is lost. Scores count from that of a match, <q, q>.
SnapWeights oracle_weights(Eigen::Index d_e);

/// Positions lo .. hi, counted from 1.
struct SnapSegment {
  std::size_t lo, hi;
  bool is_whole = true;  ///< not cut by the end of the sequence: then it has snapshots
  std::size_t size() const { return hi - lo + 1; }
};
/// Segments that cover 1 .. L, in order; the last may be short. Sizes from the stream, unless
/// fixed.
std::vector<SnapSegment> snap_segments(const SnapSpec& spec, std::size_t L, Stream& stream);

/// Var|S| / E|S|^2 of all but the last, which the end of the sequence cuts.
double size_variation(const std::vector<SnapSegment>& segments);

/// Weights alpha of snapshot r on the items of a segment: their positions and weights, which sum to
/// 1, the items that it stands for, and log sum_i e^{..}. Empty where the segment has no item, and
/// where an exact match is asked for and there is none.
struct SnapWeight {
  std::vector<std::size_t> positions;
  std::vector<double> alpha;
  double items = 0.0, log_Z = 0.0;
};
SnapWeight snap_weight(const SnapSpec& spec, const SnapWeights& weights, const Items& items,
                       const std::vector<SnapSegment>& segments, std::size_t segment, std::size_t r,
                       std::size_t t);

/// What a query at position t sees: snapshots of the segments before t, oldest first, and local
/// items.
struct SnapMemory {
  Slots snapshots, local;
  std::vector<std::size_t> segment_of;  ///< of each snapshot
};
SnapMemory snap_memory(const SnapSpec& spec, const SnapWeights& weights, const Items& items,
                       const std::vector<SnapSegment>& segments, std::size_t t,
                       const ReadOptions& options);

Reading read_snapshots(const SnapMemory& memory, const Items& items, std::size_t t,
                       const ReadOptions& options);

}  // namespace gih
