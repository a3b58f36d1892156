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
        E_(group * blocks.most_entries),
        e_(blocks.largest_chunk),
        sum_(2 * blocks.largest_chunk),
        planes_(group * blocks.most_planes),
        exp_y_(blocks.most_planes) {}

  /// Loss of chunk c. `e` holds exp(a s - m) by class, or a s when careful. `sum` receives, for
  /// each of the chunk's classes, dL/dE, or E dL/dE when careful.
  double run(std::size_t c, std::span<const double> e, PassMode mode, double* sum);

 private:
  static constexpr std::size_t group = 8;  // blocks

  template <bool careful, class Count>
  void run_blocks(const BlockChunk& chunk, const Count* counts);
  template <bool careful, class Count>
  void forward(const QuestionBlock& block, const Count* counts, Lanes* planes, Lanes* E);
  template <bool careful, class Count>
  void backward(const QuestionBlock& block, const Count* counts, const Lanes* planes,
                const Lanes* E);
  template <class Count>
  void own_maximum(std::size_t first, std::size_t last, const Count* counts, Lanes* E);
  // Of N of each plane: the loss.
  void add_cross_entropy(const QuestionBlock& block, const Lanes* planes);
  void add_softmax_cross_entropy(const QuestionBlock& block, const Lanes* planes);
  // Of N of each plane make what n is multiplied with to give dL/dE.
  void differentiate_cross_entropy(const QuestionBlock& block, Lanes* planes);
  void differentiate_softmax_cross_entropy(const QuestionBlock& block, Lanes* planes);

  LossSpec spec_;
  const QuestionBlocks& blocks_;
  PassMode mode_{};
  Lanes loss_{};
  std::vector<Lanes> E_;       // group x most entries of a block, filled when careful
  std::vector<double> e_;      // classes of the chunk
  std::vector<Lanes> sum_;     // 2 x classes of the chunk
  std::vector<Lanes> planes_;  // group x most planes
  std::vector<Lanes> exp_y_;   // planes
};

}  // namespace gih
