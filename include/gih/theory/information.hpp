#pragma once
// The criterion by which the information set S* is chosen: modified chi-square mutual information
// (3.1), for a kernel and for a prior, with what training at given RPE weights sees of it (sec.
// E.2).

#include <functional>
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

/// The subset with the largest mean, and how far the others stay behind. Means and errors are those
/// of *paired* differences, sample by sample: subsets share their kernels, so their own errors say
/// little about their order.
struct Lead {
  std::size_t S_star = 0, runner_up = 0;     ///< indices into the subsets
  double gap = 0.0, gap_error = 0.0;         ///< over the subset that comes nearest (3.5)
  std::vector<double> behind, behind_error;  ///< one a subset; 0 for the winner
  /// Others equal the winner up to rounding in every sample. The first of them in the order of
  /// subsets is then S_star, and the gap is 0.
  bool tie = false;
  /// The winner leads every other subset by more than 3 standard errors, and by more than rounding.
  bool decided = false;
};

/// Values of every subset: mean over samples with standard error (0 for one sample).
struct Choice : Lead {
  std::vector<double> mean, error;
};

/// From values samples x nS (row-major).
Choice choose(const std::vector<double>& values, std::size_t nS);

/// Mean over kernels of a prior, or one kernel (errors 0). The lead is that of `modified`.
struct Information : Lead {
  std::vector<Subset> subsets;
  std::size_t kernels = 0;
  std::vector<double> modified, modified_error, standard, standard_error;
};

/// From values kernels x subsets (row-major).
Information choose(const std::vector<Subset>& subsets, const std::vector<double>& modified,
                   const std::vector<double>& standard);

/// Kernels 0 .. count-1 of the training split's streams. Bits do not depend on threads.
Information prior_information(const DataSpec& data, int M, const std::vector<Subset>& subsets,
                              std::size_t count, int threads);

struct PriorInformation {
  Information information;
  Choice weighted;  ///< g_{3,S}; empty unless w was given
};

/// The same with g_{3,S} at `w` (when given) of the same kernels. `done` hears now and then how
/// many kernels are finished; when it returns false, the result is empty.
PriorInformation prior_information(const DataSpec& data, const ModelSpec& model, const Matrix* w,
                                   std::size_t count, int threads,
                                   const std::function<bool(std::size_t)>& done = {});

/// Plug-in information of the empirical window law of each prompt (cells with full windows), mean
/// over prompts: what a sequence of length L shows of I~.
Information prompt_information(const Prompts& prompts, const std::vector<Subset>& subsets);

/// g_{3,S} of every subset at RPE weights w (sec. E.2): I~ with each head's soft look in place of
/// its lag. Equals I~(S) where every head h attends to lag h alone.
std::vector<double> weighted_information(const WindowLaw& law, const ModelSpec& model,
                                         const Matrix& w);

/// Multiplications that weighted_information takes, about.
double weighted_work(const ModelSpec& model);

/// g_{1,S} of every subset (sec. E.2), what gradient descent at a = 0 sees at finite length: mean
/// over sequences of (1/N') sum_l (1_l - ybar_q) / (ybar_q + eps) K_S(l). Each of the `sequences`
/// has as many prompts as the others. Prompts at L = inf and eps = 0 give g_{3,S}.
Choice finite_information(const Prompts& prompts, std::size_t sequences, const ModelSpec& model,
                          const Matrix& w, double eps);

}  // namespace gih
