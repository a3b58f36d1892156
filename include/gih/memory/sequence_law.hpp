#pragma once
// Laws of short sequences, summed over all of them: one kernel (quenched), a mixture of finitely
// many, or the Dirichlet mixture (annealed). And information between what labels see of them.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gih/data/kernel.hpp"

namespace gih {

class SequenceLaw {
 public:
  /// Kernels with equal weights, each from its long-run law; one kernel: quenched. InputError when
  /// there is none or when they differ in d or parents.
  static SequenceLaw kernels(std::vector<Kernel> kernels);
  /// Every row Dirichlet(alpha), the first r tokens uniform.
  static SequenceLaw dirichlet(int d, std::vector<int> parents, double alpha);

  int d() const { return d_; }
  int r() const { return r_; }  ///< largest lag
  bool is_dirichlet() const { return kernels_.empty(); }
  bool is_quenched() const { return kernels_.size() == 1; }
  double alpha() const { return alpha_; }
  const std::vector<int>& parents() const { return parents_; }
  const std::vector<Kernel>& mixed() const { return kernels_; }

  /// Calls visit(x, P(x), p) for every x of n tokens with P(x) > 0; p(k) is the probability of
  /// token k after it (d entries). InputError when n < r or d^n exceeds `max_states`.
  void each(int n, std::size_t max_states,
            const std::function<void(std::span<const Token>, double, std::span<const double>)>&
                visit) const;

 private:
  int d_ = 0, r_ = 0;
  std::vector<int> parents_;
  std::vector<Kernel> kernels_;
  std::vector<std::vector<double>> starts_;  // long-run laws of r tokens
  double alpha_ = 0.0;
};

constexpr std::size_t default_max_states = std::size_t{1} << 24;

/// sum pq [(1+e) log(1+e) - e], e = P/(pq) - 1, from a joint law (rows x columns, nats). Every term
/// is >= 0, so small informations keep their digits.
double mutual_information(std::span<const double> joint, std::size_t rows, std::size_t columns);
/// sum (P - pq)^2 / pq.
double chi_square_information(std::span<const double> joint, std::size_t rows, std::size_t columns);

/// Tokens as a text, two bytes each, so that equal texts are equal tokens.
std::string token_text(std::span<const Token> x);

/// What is seen of a sequence, as a text that is the same where the same is seen.
using Label = std::function<std::string(std::span<const Token>)>;

/// Probabilities of all sequences of n tokens.
struct SequenceTable {
  int n = 0;
  std::vector<Token> tokens;  ///< sequences x n
  std::vector<double> P;      ///< sums to 1
  std::size_t count() const { return P.size(); }
  std::span<const Token> row(std::size_t i) const {
    return {tokens.data() + i * static_cast<std::size_t>(n), static_cast<std::size_t>(n)};
  }
};
SequenceTable sequence_table(const SequenceLaw& law, int n, std::size_t max_states);

/// I(A; B | C) in nats, by the formula above within each value of C.
double conditional_information(const SequenceTable& table, const Label& A, const Label& B,
                               const Label& C);
/// H(A) and H(A | C) in nats.
double entropy(const SequenceTable& table, const Label& A);
double conditional_entropy(const SequenceTable& table, const Label& A, const Label& C);

/// Positions `first`, .., `last` (counted from 1) as they are; nothing where last < first.
Label tokens_label(int first, int last);

}  // namespace gih
