#pragma once
// Exact Bayes from block summaries: the law of x_{n+1} given the summaries of the older blocks and
// the newer tokens themselves, under a mixture of finitely many kernels (one: quenched). Transfer
// matrices T_s per summary s, indexed by the window before the block.

#include <map>
#include <string>

#include "gih/base/subsets.hpp"
#include "gih/memory/sequence_law.hpp"

namespace gih {

enum class BlockSummary {
  nothing,   ///< the block is dropped
  mean,      ///< mean of the items: counts of keys X_{l-S}, and of values
  values,    ///< counts of values alone
  max,       ///< which keys and which values occur
  decimate,  ///< the last item: its key and value
  whole,     ///< every token, for tests
};

class BlockFilter {
 public:
  /// Blocks of c items with keys X_{l-S}. InputError when d^(w+c) exceeds `max_states`, w the
  /// larger of r and the largest lag of S, and for a Dirichlet law.
  BlockFilter(const SequenceLaw& law, Subset S, int c, BlockSummary summary,
              std::size_t max_states = default_max_states);

  int window() const { return w_; }

  /// p(x_{n+1} | summaries of the first `blocks` blocks, which start after the first `hidden`
  /// tokens (at least w), then the tokens after them). The hidden tokens are not known, but for
  /// those that lie a lag in `revealed` before the first token after the blocks.
  std::vector<double> predict(std::span<const Token> x, std::size_t hidden, std::size_t blocks,
                              Subset revealed = 0) const;
  /// p(x_{n+1} | every token).
  std::vector<double> predict_full(std::span<const Token> x) const;

 private:
  /// A string of the block: window before, window after, number of the string.
  struct Way {
    std::uint32_t from, to, path;
  };
  std::string summarise(std::span<const Token> window, std::span<const Token> block) const;
  std::vector<double> law_of(const std::vector<double>& alpha) const;

  const SequenceLaw law_;
  Subset S_;
  int c_, w_ = 0;
  BlockSummary summary_;
  std::size_t windows_ = 0;
  std::vector<double> start_;    // kernels x windows
  std::vector<double> next_;     // kernels x windows x d
  std::vector<double> product_;  // kernels x (windows d^c): probability of a path
  std::map<std::string, std::vector<Way>> ways_;
};

}  // namespace gih
