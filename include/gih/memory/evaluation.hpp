#pragma once
// A memory held against what it replaces: on many sequences, its answer to the last position beside
// the one without compression, the generalised induction head, Bayes, and the truth.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gih/data/dataset.hpp"
#include "gih/memory/losses.hpp"
#include "gih/memory/snaptra.hpp"

namespace gih {

/// Snapshots in place of a streaming memory.
struct SnapTask {
  SnapSpec spec;
  SnapWeights weights;
};

struct MemoryTask {
  const Reader& reader;
  Subset S = 0;  ///< of the generalised induction head, lags at most reader.M()
  Halo halo = Halo::exact;
  StreamSpec stream;
  ReadOptions read;
  Compressing compressor;  ///< its weights and bias
  double eps = 1e-3;       ///< divergences are of (y + eps) / (1 + d eps), on both sides
  double switching = 0.0;  ///< probability of a new kernel at each segment
  std::optional<SnapTask> snap{};
};

/// One quantity, over the sequences where it is defined.
struct Measure {
  std::string name;
  double mean = 0.0, error = 0.0;  ///< standard error; NaN below two sequences
  std::size_t count = 0;
};

/// On every sequence of the split; docs/memory.md says what each measure is. The same bits for any
/// number of threads. Empty when `done`, which hears how many are finished, returns false.
/// InputError for L = inf, and for switching with tokens or kernels from a file.
std::vector<Measure> evaluate_memory(const MemoryTask& task, const DataSpec& data, Split split,
                                     int threads,
                                     const std::function<bool(std::size_t)>& done = {});

/// x_1 .. x_{L+1} into x, of a chain whose kernel is drawn anew with that probability at the end of
/// each segment; the kernel of x_{L+1}. From the stream (seed, memory_switching, 2 index + split).
Kernel draw_switching(const DataSpec& data, Split split, std::size_t index, std::size_t segment,
                      double switching, std::span<Token> x);

/// Ages of each part that attention is sorted by, the oldest first.
constexpr std::size_t age_buckets = 6;

}  // namespace gih
