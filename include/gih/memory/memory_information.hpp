#pragma once
// How far a memory's prediction is from Bayes, split into what the memory no longer holds and what
// its reading makes of it:
//   E KL(p(.|full) || y) = I(x; full | s, local) + E KL(p(.|s, local) || y).
// And the six conditions under which segments can stand for their tokens.

#include "gih/memory/sequence_law.hpp"
#include "gih/memory/stream.hpp"

namespace gih {

struct LossSplit {
  double total = 0.0;                                                      ///< E KL(p(.|full) || y)
  double information = 0.0;                                                ///< lost by the memory
  double reading = 0.0;                                                    ///< lost by the softmax
  double states = 0.0;                                                     ///< different (s, local)
  double total_error = 0.0, information_error = 0.0, reading_error = 0.0;  ///< standard errors
};

/// By summing over all prompts of n tokens. y is (y + eps) / (1 + d eps).
LossSplit split_loss(const SequenceLaw& law, const Reader& reader, const StreamSpec& stream,
                     const ReadOptions& options, int n, double eps,
                     std::size_t max_states = std::size_t{1} << 20);

/// By Monte Carlo over `samples` prompts of a mixture of kernels, posteriors exact (block_filter);
/// for compressors mean, sum, max, decimate and drop, leftover carry. One stream of random numbers
/// a sample, (seed, memory_sampling, index); the same bits for any number of threads.
LossSplit sample_loss(const SequenceLaw& law, Subset S, int M, const StreamSpec& stream,
                      const ReadOptions& options, int n, double eps, std::size_t samples,
                      std::uint64_t seed, int threads);

struct Conditions {
  double coherence_printed = 0.0;  ///< largest I(x_i; x_j | x_k), i, j in one segment, k in another
  double coherence_boundary = 0.0;  ///< largest I(x_i; x_j | last r tokens of i's segment)
  double within_over_cross = 0.0;   ///< mean I within a segment over mean I across segments
  double representativeness = 0.0;  ///< H(S | s) / H(S) of the first segment
  double task = 0.0;         ///< I(x; S | s, local) / I(x; S | local), x after three segments
  double flow = 0.0;         ///< I(S_1; S_3 | s_2)
  double decreasing = 0.0;   ///< share of lags whose information is below that of the lag before
  double overlap_one = 0.0;  ///< I(x_i; x_j | the token between), j = i + r + 1
  double overlap_r = 0.0;    ///< I(x_i; x_j | the r tokens between)
  double retention = 0.0;    ///< I(s; O) / H(O), O the last r tokens of a segment
};
/// Three segments of n tokens, the snapshot of each its token counts, local the last r tokens.
/// InputError when d^(3n) exceeds max_states.
Conditions conditions(const SequenceLaw& law, int n, std::size_t max_states = std::size_t{1} << 20);

}  // namespace gih
