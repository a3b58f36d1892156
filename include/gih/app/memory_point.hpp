#pragma once
// One configuration of the compression laboratory: its reader, its memory, its compressor.

#include <functional>
#include <vector>

#include "gih/app/settings.hpp"
#include "gih/memory/memory_information.hpp"

namespace gih {

class MemoryPoint {
 public:
  /// Nothing is drawn yet. InputError, naming keys, values and ranges, unless they fit each other.
  explicit MemoryPoint(const Settings& settings);

  Subset S() const;  ///< of the induction head
  /// There are weights, of a compressor or of snapshots, and a key says how they come about.
  bool is_trained() const;
  /// By memory.train; what it went through. `done` hears of every step.
  MemoryCurve train(const std::function<bool(std::size_t)>& done = {});
  /// Of the validation sequences; empty when `done` returned false.
  std::vector<Measure> evaluate(const std::function<bool(std::size_t)>& done = {}) const;
  /// Of the law that mixes the kernels of the first `kernels` training sequences, by as many
  /// prompts as there are validation sequences.
  LossSplit split(std::size_t kernels) const;
  /// Upper bound in bytes of what evaluating or training holds.
  double bytes() const;

 private:
  SnapTask start_snapshots() const;
  MemoryCurve train_snaptra(const std::function<bool(std::size_t)>& done);
  MemoryTask task() const;

  Settings settings_;
  Reader reader_;
  ReadOptions read_;
  Compressing compressor_;
  std::optional<SnapTask> snap_;
};

}  // namespace gih
