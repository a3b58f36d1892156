#pragma once
// Streaming memory of one sequence: current segment, first-in first-out memory, items that wait to
// be compressed, compressed memory, and above it further levels. A segment is the positions
// (tau-1) n_s + 1 .. tau n_s; when it is full its items enter the memory, the oldest leave it, and
// what leaves is compressed.

#include <functional>
#include <memory>
#include <span>

#include "gih/memory/attend.hpp"
#include "gih/memory/compress.hpp"
#include "gih/memory/items.hpp"

namespace gih {

/// What happens to evicted items that fill no block.
enum class Leftover {
  carry,   ///< they wait, raw and visible
  floor,   ///< the newest E mod c of an eviction are lost
  pad,     ///< zero rows before the oldest fill the block
  ragged,  ///< the last block is smaller
};
enum class Start {
  empty,  ///< no slots
  zeros,  ///< full of null slots, key and value 0
};

struct StreamSpec {
  std::size_t segment = 20;              ///< n_s, 1 or more
  std::size_t n_mem = 20;                ///< n_m, slots of the memory
  std::size_t n_cmem = unlimited_slots;  ///< n_c, slots of each level of compressed memory
  int levels = 1;                        ///< J
  Leftover leftover = Leftover::carry;
  Start start = Start::empty;
  CompressorSpec compressor;
};

/// InputError, naming value and range, unless the parts fit each other.
void check_stream(const StreamSpec& spec);

class StreamingMemory {
 public:
  /// `weights` of the compressor as in weights.hpp; must outlive the stream.
  StreamingMemory(const StreamSpec& spec, const Eigen::VectorXd& weights, Eigen::Index d_e,
                  Eigen::Index d);

  /// What a query at position t is told by everything before t. With `track`, slots remember the
  /// attention that they received.
  Reading read(const double* u, std::size_t t, const ReadOptions& options, bool track = false);
  Reading read(const double* u, std::size_t t, const ReadOptions& options) const;

  /// Position t, which follows the last one, with its item, or without one.
  void write(std::size_t t, const double* u, Token x);
  void skip(std::size_t t);

  /// Slots in time order, oldest first: levels from the highest down, what waits before each, the
  /// memory, the current segment.
  std::vector<Block> blocks() const;
  const Slots& compressed(int level = 1) const { return levels_[index(level)].slots; }
  const Slots& pending() const { return levels_[0].waiting; }
  const Slots& memory() const { return memory_; }
  const Slots& current() const { return current_; }
  const LinearMemory* linear() const { return linear_.get(); }
  std::size_t compressions() const { return compressions_; }  ///< calls of the compressor so far
  double flops() const { return flops_; }  ///< multiply-adds of the compressor so far
  double bytes() const;                    ///< held by keys and values now

  /// Every slot gets a number, and the tape says which came from which.
  void record(Tape& tape) { tape_ = &tape; }

  /// Throws std::logic_error unless the positions before t are the ordered disjoint union of what
  /// was discarded, the levels, what waits, the memory and the current segment. For leftover carry
  /// and compressors of blocks.
  void check_partition(std::size_t first, std::size_t t) const;

 private:
  struct Level {
    Slots waiting, slots;
    Slots halo;  // rows before what waits, for dilated convolutions
  };
  static std::size_t index(int level) { return static_cast<std::size_t>(level - 1); }
  void end_segment();
  void evict();
  void compress_level(std::size_t level);

  StreamSpec spec_;
  const Eigen::VectorXd& weights_;
  Eigen::Index d_e_, d_;
  std::vector<Level> levels_;
  Slots memory_, current_;
  std::unique_ptr<LinearMemory> linear_;
  Tape* tape_ = nullptr;
  std::size_t compressions_ = 0;
  double flops_ = 0.0;
};

/// A stream that has seen x_1 .. x_L of the items, with `track` reading at every position.
/// `visit`, when given, hears each reading before its position is written.
void run_stream(StreamingMemory& stream, const Items& items, const ReadOptions& options, bool track,
                const std::function<void(std::size_t t, const Reading&)>& visit = {});

/// y of the query when every item is kept: one softmax over items first .. t-1.
Reading read_uncompressed(const Items& items, std::size_t t, const ReadOptions& options);

/// Positions back from a query that a full memory reaches (carry, one window of layer 1 aside):
/// |Cur| + n_m + |Pend| + sum_j c^j n_c.
double reach(const StreamSpec& spec, double current, double pending);

}  // namespace gih
