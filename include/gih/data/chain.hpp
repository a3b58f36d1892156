#pragma once
// The Markov chain of windows that a kernel defines: structure, stationary law, spectrum.
// States are the d^{r_n} windows of r_n tokens, coded as WindowCodes does (lag 1 least
// significant), without its offset: state 0 is the window of zeros.

#include <complex>
#include <span>
#include <vector>

#include "gih/data/kernel.hpp"

namespace gih {

/// Communicating classes of the window chain (1.1); an entry counts as a transition when it is
/// above 0.
struct ChainClasses {
  std::vector<int> of_state;    ///< class of each state
  std::vector<bool> recurrent;  ///< closed, by class
  std::vector<int> period;      ///< by class; 0 for a transient state without a loop
  int recurrent_count = 0;
};

class WindowChain {
 public:
  /// InputError when d^{r_n} exceeds `max_states`.
  explicit WindowChain(const Kernel& kernel);
  static constexpr std::size_t max_states = 4096;

  std::size_t states() const { return states_; }
  int d() const { return d_; }

  /// Probability of token k after state Z, and the state that follows (1.1).
  double next(std::size_t Z, int k) const {
    return next_[Z * static_cast<std::size_t>(d_) + static_cast<std::size_t>(k)];
  }
  std::size_t successor(std::size_t Z, int k) const;

  ChainClasses classes() const;

  /// Long-run average law of the windows from the law `start` (states() entries that sum to 1):
  /// the stationary law where it is unique, else the mixture over the recurrent classes weighted
  /// by where `start` ends up. State elimination without subtractions, so tiny probabilities keep
  /// their relative accuracy and periodic chains need no special care.
  std::vector<double> long_run_law(std::span<const double> start) const;

  /// The same from the uniform law.
  std::vector<double> long_run_law() const;

  /// Eigenvalues of P by descending modulus; the first is 1. |lambda_2| is the second's modulus.
  std::vector<std::complex<double>> eigenvalues() const;

  /// 1 - |lambda_2|.
  double spectral_gap() const;

 private:
  int d_;
  std::size_t states_;
  std::vector<double> next_;  // states x d
};

/// Law of windows of M tokens (d^M entries, WindowCodes order without offset) from the law of
/// windows of r_n tokens, M >= r_n: the oldest r_n tokens by `law`, the others by the kernel.
std::vector<double> extend_law(const Kernel& kernel, std::span<const double> law, int M);

}  // namespace gih
