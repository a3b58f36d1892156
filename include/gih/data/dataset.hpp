#pragma once
// Sequences of a mixture of n-gram chains, each with its own kernel, drawn one at a time: a
// sequence depends on (seed, split, index) alone, so none has to be stored.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gih/data/kernel.hpp"
#include "gih/data/prior.hpp"

namespace gih {

enum class Split { train, validation };
enum class Initial { uniform, stationary };

/// Tokens given from outside: row i is x_1 .. x_{L+1} of sequence i.
struct TokenTable {
  int d = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;          ///< L + 1
  std::vector<Token> tokens;        ///< rows x columns
  std::vector<Kernel> kernels;      ///< empty, or one a row
  std::vector<double> conditional;  ///< empty, or rows x d: pi(. | parents of x_{L+1})
  std::vector<int> parents{};       ///< parent lags; empty where the file does not tell
  std::span<const Token> row(std::size_t i) const { return {tokens.data() + i * columns, columns}; }
};

struct DataSpec {
  int d = 3;
  std::vector<int> parents{1, 2};
  std::optional<std::size_t> L = 100;  ///< prompt length; none: the population limit L = inf
  PriorSpec prior;
  Initial initial = Initial::uniform;  ///< law of the first r_n tokens
  std::size_t train = 9000;
  std::size_t validation = 1000;
  std::uint64_t seed = 1;
  /// When set, the first `train` rows are the training sequences and the next `validation` rows
  /// the validation sequences; prior, seed and initial law are not used.
  std::shared_ptr<const TokenTable> table;

  std::size_t count(Split split) const { return split == Split::train ? train : validation; }
};

/// InputError, naming value and accepted range, unless every field is usable.
void check_data(const DataSpec& data);

/// Kernel of a sequence. From a token table: its kernel there, InputError when it has none.
Kernel sequence_kernel(const DataSpec& data, Split split, std::size_t index);

/// x_1 .. x_{L+1} of a sequence into `x` (L + 1 tokens), drawn with its kernel.
void draw_sequence(const DataSpec& data, const Kernel& kernel, Split split, std::size_t index,
                   std::span<Token> x);

}  // namespace gih
