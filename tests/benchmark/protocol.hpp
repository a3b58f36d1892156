#pragma once
// The protocol of Figure 3, at which everything is timed.

#include <benchmark/benchmark.h>

#include "../../sim/model/question_blocks.hpp"
#include "gih/base/parallel.hpp"
#include "gih/data/prompts.hpp"
#include "gih/model/objective.hpp"
#include "gih/model/scores.hpp"

namespace gih::benchmark_protocol {

inline DataSpec data(std::size_t train = 9000, std::size_t L = 100) {
  DataSpec spec;
  spec.train = train;
  spec.L = L;
  return spec;
}

inline Parameters start() {
  Parameters theta;
  theta.w = Matrix::Constant(3, 3, 0.01);
  theta.w.diagonal().setConstant(3.0);
  theta.c = Eigen::VectorXd::Constant(7, 0.01);
  theta.a = 0.01;
  return theta;
}

inline QuestionBlocks layout(const ModelSpec& model, const Prompts& prompts) {
  const auto scores = make_scores(model);
  return pack_questions(prompts, false, available_threads(),
                        [&](WindowCode window, Token own, WindowCode query) {
                          return scores->class_of(window, own, query);
                        });
}

/// Of a pass: forward and backward a product and a sum for each lane of an entry.
inline double flops(const QuestionBlocks& blocks) {
  return 4.0 * static_cast<double>(lanes * blocks.entry_class.size());
}

/// Counters: what one pass over the table engine's layout has to read and to do.
inline void count_layout(benchmark::State& state, const ModelSpec& model, const Prompts& prompts) {
  const QuestionBlocks blocks = layout(model, prompts);
  state.counters["bytes"] = blocks.bytes();
  state.counters["entries"] = static_cast<double>(blocks.entry_class.size());
  state.counters["blocks"] = static_cast<double>(blocks.blocks.size());
  state.counters["classes"] = static_cast<double>(blocks.chunk_class.size());
  state.counters["flops"] = flops(blocks);
}

}  // namespace gih::benchmark_protocol
