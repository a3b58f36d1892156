#pragma once
// One sequence of an evaluation, and what answers it best.

#include <vector>

#include "gih/memory/evaluation.hpp"

namespace gih {

/// One sequence and what answers it.
struct Case {
  std::vector<Token> x;  // x_1 .. x_L
  Token next = 0;
  Kernel kernel;
  std::vector<double> truth;  // pi(. | parents)
};

Case draw_case(const MemoryTask& task, const DataSpec& data, Split split, std::size_t index);

/// Posterior mean of the query's row under a Dirichlet prior, parents known; nothing for other
/// laws.
std::vector<double> bayes(const Case& of, const DataSpec& data, double switching);

/// Prediction of the closed form for infinitely many slots; nothing where there is none.
std::vector<double> pooled(const MemoryTask& task, const Case& of);

/// How often the query's pattern occurs in the long run, against all patterns alike: "rare" below
/// half of that, "frequent" above twice, else "mid".
const char* frequency_of(const MemoryTask& task, const Case& of);

}  // namespace gih
