#pragma once
// One pass over packed questions: predictions, loss, and dL/dE summed over the questions by class.

#include <span>
#include <vector>

#include "gih/model/objective.hpp"
#include "question_blocks.hpp"

namespace gih {

struct PassMode {
  bool careful;   ///< each question takes its own maximum of a s
  bool loss;      ///< compute it
  bool gradient;  ///< compute dL/dE
};

/// What one thread needs. Keeps a reference to the blocks.
class BlockPass {
 public:
  BlockPass(const LossSpec& spec, const QuestionBlocks& blocks)
      : spec_(spec),
        blocks_(blocks),
        E_(blocks.most_slots),
        e_(blocks.largest_chunk),
        sum_(blocks.largest_chunk),
        y_(blocks.most_planes),
        g_(blocks.most_planes) {}

  /// Loss of chunk c. `e` holds exp(a s - m) by class, or a s when careful. `sum` receives, for
  /// each of the chunk's classes, dL/dE, or E dL/dE when careful.
  double run(std::size_t c, std::span<const double> e, PassMode mode, double* sum);

 private:
  template <class Count>
  void run_block(const QuestionBlock& block, const std::vector<Count>& counts);
  template <bool careful, class Count>
  void run_block(const QuestionBlock& block, const Count* n);
  void cross_entropy(const Lanes* weight, const Lanes& Z, std::size_t targets);
  void softmax_cross_entropy(const Lanes* weight, const Lanes& Z, std::size_t targets);
  template <class Count>
  void own_maximum(const QuestionBlock& block, const Count* n);

  LossSpec spec_;
  const QuestionBlocks& blocks_;
  PassMode mode_{};
  Lanes loss_{};
  std::vector<Lanes> E_;      // slots of a block: exp(a s - own maximum), when careful
  std::vector<double> e_;     // classes of the chunk
  std::vector<Lanes> sum_;    // classes of the chunk
  std::vector<Lanes> y_, g_;  // planes: N then y_t; -dL/dy_t / Z, then what n is multiplied with
};

}  // namespace gih
