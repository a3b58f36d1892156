#pragma once
// Kernels on which claims about the information criterion are tried, beside those of the worlds.

#include <string>
#include <vector>

#include "gih/theory/worlds.hpp"

namespace gih {

/// `count` kernels of a prior ("dirichlet", "uniform-stationary") with entries above a floor of
/// 1e-3; the concentrations 0.03, 0.1, 0.3 and 1 take turns, so that some are nearly deterministic.
/// Those with I~(pa) < 1e-4, whose tokens are nearly independent, are left out.
std::vector<Kernel> kernel_family(const std::string& prior, int d, const std::vector<int>& parents,
                                  std::size_t count);

/// The kernels of a world and `count` of kernel_family with its vocabulary and parents.
std::vector<Kernel> general_kernels(const World& world, std::size_t count);

/// `count` kernels with the vocabulary and parents of a world under which all r_n-windows are
/// equally likely.
std::vector<Kernel> uniform_kernels(const World& world, std::size_t count);

/// Two tokens; the next repeats the last with probability 3/4. With M = 2 the smallest kernel on
/// which (C.6) fails: I~({1,2}) = 5/64, while I({1,2}) / d^2 = 4/64.
Kernel repeating_kernel();

/// Two tokens, parents 1 and 2: the next differs from the one before the last with probability
/// 1/10 after a 0 and 1/5 after a 1. All windows of two tokens are equally likely, and with M = 4
/// I~({2,4}) = 73701/400000 exceeds I~({1,2}) = 50000/400000.
Kernel alternating_kernel();

/// Two tokens, parents 1 and 3, windows that are not equally likely: I~({1,2}) exceeds I~({1,3}).
Kernel uneven_kernel();

/// Two tokens, parents 1 and 2: the next is their sum modulo 2 with probability 9/10, so that
/// neither parent alone says anything.
Kernel parity_kernel();

/// Bit mask of the parents' lags.
Subset parents_of(const Kernel& kernel);

/// Largest lag of S minus the smallest; 0 when S is empty.
int span_of(Subset S);

}  // namespace gih
