#pragma once
// The criterion by which the information set S* is chosen: modified chi-square mutual information
// (3.1), for a kernel and for a prior.

#include <optional>
#include <string>
#include <vector>

#include "gih/data/dataset.hpp"
#include "gih/data/prompts.hpp"
#include "gih/model/parameters.hpp"
#include "gih/theory/window_law.hpp"

namespace gih {

/// I~(S) = sum_E { sum_k mu(k, E)^2 / mu(k) - mu(E)^2 }, from mu(Z_{-S} = E, z), d^|S| x d.
double modified_information(const std::vector<double>& marginal, int d);

/// I(S) = sum_{E,k} mu(E, k)^2 / (mu(E) mu(k)) - 1.
double standard_information(const std::vector<double>& marginal, int d);

struct KernelInformation {
  std::vector<double> modified, standard;  ///< one a subset
};

KernelInformation kernel_information(const WindowLaw& law, const std::vector<Subset>& subsets);

/// Mean over kernels of a prior, or one kernel (errors 0). Errors are standard errors of means.
struct Information {
  std::vector<Subset> subsets;
  std::size_t kernels = 0;
  std::vector<double> modified, modified_error, standard, standard_error;
  /// Winner and runner-up of the modified information; the gap is that of the *paired* difference
  /// with the subset that comes nearest (3.5), and its error that of the difference.
  std::size_t S_star = 0, runner_up = 0;  ///< indices into subsets
  double gap = 0.0, gap_error = 0.0;
  /// The winner leads every other subset by more than 3 standard errors of their difference (by
  /// more than rounding for one kernel).
  bool decided = false;
};

/// Chooses S* from values kernels x subsets (row-major).
Information choose(const std::vector<Subset>& subsets, const std::vector<double>& modified,
                   const std::vector<double>& standard);

/// Kernels 0 .. count-1 of the training split's streams. Bits do not depend on threads.
Information prior_information(const DataSpec& data, int M, const std::vector<Subset>& subsets,
                              std::size_t count, int threads);

/// Plug-in information of the empirical window law of each prompt (cells with full windows), mean
/// over prompts: what a sequence of length L shows of I~.
Information prompt_information(const Prompts& prompts, const std::vector<Subset>& subsets);

/// g_{3,S} of every subset at RPE weights w (4.6): I~ with each head's soft look in place of its
/// lag. Equals I~(S) where every head h attends to lag h alone.
std::vector<double> weighted_information(const WindowLaw& law, const ModelSpec& model,
                                         const Matrix& w);

}  // namespace gih
