#include <algorithm>
#include <cmath>
#include <functional>

#include "claims_groups.hpp"
#include "gih/theory/information.hpp"
#include "kernel_families.hpp"

// When the chosen set S* is the parent set. I~ is over all sets of lags in [M], whatever D.

namespace gih {
namespace {

/// I~ of every set of lags, entry S.
std::vector<double> modified_of(const Kernel& kernel, int M) {
  return kernel_information(window_law(kernel, M), subsets(M, M, SubsetRule::at_most)).modified;
}

void superset_claim(const std::vector<Kernel>& kernels, int M, Tally& tally) {
  for (const Kernel& kernel : kernels) {
    const auto I = modified_of(kernel, M);
    const Subset pa = parents_of(kernel);
    for (Subset S = 0; S < I.size(); ++S) {
      if (S == pa || (S & pa) != pa) continue;
      tally.at_most(I[S], I[pa]);
      tally.require(I[S] < I[pa]);
    }
  }
}

/// The best set is among those that `allowed` admits.
void best_claim(const Kernel& kernel, int M, Tally& tally,
                const std::function<bool(Subset)>& allowed) {
  const auto I = modified_of(kernel, M);
  double best = 0.0, other = 0.0;
  std::size_t others = 0;
  for (Subset S = 0; S < I.size(); ++S) {
    (allowed(S) ? best : other) = std::max(allowed(S) ? best : other, I[S]);
    others += allowed(S) ? 0 : 1;
  }
  if (others > 0) tally.at_most(other, best);
}

void one_parent_claim(const World& world, Tally& tally) {
  if (world.kernels.front().parents.size() != 1) return;
  for (int r = 1; r <= world.M(); ++r) {
    std::vector<Kernel> kernels = kernel_family("dirichlet", world.d(), {r}, 100);
    if (world.parents() == Subset{1} << (r - 1)) {
      kernels.insert(kernels.end(), world.kernels.begin(), world.kernels.end());
    }
    for (const Kernel& kernel : kernels) {
      best_claim(kernel, world.M(), tally, [&](Subset S) { return S == parents_of(kernel); });
    }
  }
}

/// (C.6) for sets that span at most `span` lags: I~(S) d^|S| = I(S).
void entropy_claim(const Kernel& kernel, int M, int span, Tally& tally) {
  const WindowLaw law = window_law(kernel, M);
  for (const Subset S : subsets(M, M, SubsetRule::at_most)) {
    if (span_of(S) > span) continue;
    const std::vector<double> marginal = law.marginal(S);
    tally.equal(modified_information(marginal, law.d) * std::pow(law.d, subset_size(S)),
                standard_information(marginal, law.d));
  }
}

/// Sets of n lags that span at most `span` against the parents.
void fixed_size_claim(const Kernel& kernel, int M, int span, Tally& tally) {
  const auto I = modified_of(kernel, M);
  const Subset pa = parents_of(kernel);
  for (Subset S = 0; S < I.size(); ++S) {
    if (S != pa && subset_size(S) == subset_size(pa) && span_of(S) <= span) {
      tally.at_most(I[S], I[pa]);
    }
  }
}

void size_claim(const Kernel& kernel, int M, int n, Tally& tally) {
  best_claim(kernel, M, tally, [&](Subset S) { return subset_size(S) <= n; });
}

}  // namespace

std::vector<Claim> parent_claims() {
  const auto exact = Mode::exact;
  return {
      {"superset", "I~(S) < I~(pa) when S strictly contains pa and every entry of pi is positive",
       "ours", exact, true,
       [](const World& w, Tally& t) { superset_claim(general_kernels(w, 60), w.M(), t); },
       [](Tally& t) {
         superset_claim({{2, {1}, {0.0, 1.0, 1.0, 0.0}}}, 2, t);
       },
       "a chain that alternates for certain, where the larger set has as much"},
      {"n=1", "a single parent is the best set, under every kernel: I~(S) <= I~(pa)", "sec. C.7",
       exact, true, one_parent_claim,
       [](Tally& t) { best_claim(worlds()[0].kernels[0], 3, t, [](Subset S) { return S == 3; }); },
       "two parents, as in the worked example, where {2} is better than {1,2}"},
      {"C.6",
       "log I~(S) = log I(S) - |S| log d when all r_n-windows are equally likely and S fits into "
       "one",
       "(C.6)", exact, true,
       [](const World& w, Tally& t) {
         for (const Kernel& kernel : uniform_kernels(w, 40)) {
           entropy_claim(kernel, w.M(), w.largest_lag() - 1, t);
         }
       },
       [](Tally& t) { entropy_claim(worlds()[0].kernels[0], 3, 1, t); },
       "windows that are not equally likely"},
      {"C.6.printed",
       "the same for every S (fails already for two tokens of which the last repeats with "
       "probability 3/4: I~({1,2}) = 5/64, not 4/64)",
       "(C.6)", exact, false,
       [](const World& w, Tally& t) {
         for (const Kernel& kernel : uniform_kernels(w, 40)) entropy_claim(kernel, w.M(), w.M(), t);
       },
       [](Tally& t) { entropy_claim(repeating_kernel(), 2, 2, t); },
       "the smallest kernel on which it fails"},
      {"fixed n",
       "among sets of n lags that fit into one r_n-window the parents are best, when all "
       "r_n-windows are equally likely",
       "sec. C.7", exact, true,
       [](const World& w, Tally& t) {
         for (const Kernel& kernel : uniform_kernels(w, 100)) {
           fixed_size_claim(kernel, w.M(), w.largest_lag() - 1, t);
         }
       },
       [](Tally& t) { fixed_size_claim(uneven_kernel(), 3, 2, t); },
       "windows that are not equally likely"},
      {"fixed n.printed",
       "the same for every set of n lags (fails for a kernel of two tokens with parents 1 and 2: "
       "I~({2,4}) = 0.1842525 exceeds I~({1,2}) = 0.125)",
       "sec. C.7", exact, false,
       [](const World& w, Tally& t) {
         for (const Kernel& kernel : uniform_kernels(w, 100)) {
           fixed_size_claim(kernel, w.M(), w.M(), t);
         }
       },
       [](Tally& t) { fixed_size_claim(alternating_kernel(), 4, 4, t); },
       "a kernel on which it fails"},
      {"Cor D<=n",
       "no set of more than n lags is best (a conjecture: not proved for M > r_n, no violation "
       "found)",
       "Corollary in sec. C.7", exact, true,
       [](const World& w, Tally& t) {
         const auto n = static_cast<int>(w.kernels.front().parents.size());
         for (const Kernel& kernel : general_kernels(w, 1000)) size_claim(kernel, w.M(), n, t);
         for (const Kernel& kernel : uniform_kernels(w, 1000)) size_claim(kernel, w.M(), n, t);
       },
       [](Tally& t) { size_claim(parity_kernel(), 2, 1, t); },
       "two parents where the claim is told one, and neither says anything alone"},
  };
}

}  // namespace gih
