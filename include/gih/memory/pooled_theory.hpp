#pragma once
// What attention over pooled (key, value) pairs computes in the limit of training, where a position
// matches the query's pattern Q or does not. docs/memory.md derives the formulas.

#include <vector>

#include "gih/base/subsets.hpp"
#include "gih/data/kernel.hpp"

namespace gih {

/// log of the exact mass of a block over that of its slot, per item (chi = 1), when a share f of
/// its items matches: J(f) = log(1 + f (e^a - 1)) - a f >= 0.
double jensen_deficit(double a, double f);
/// Where J is largest, f* = 1/a - 1/(e^a - 1), and its value log((e^a - 1)/a) - 1 + a/(e^a - 1).
double jensen_share(double a);
double jensen_maximum(double a);

/// Weight of pi_Q in y = pi_bar + rho (pi_Q - pi_bar) when matches are independent with
/// probability q and blocks of c are mean-pooled: a becomes a/c.
double independent_weight(double q, double a, int c);

/// Stationary law of an order-r chain, by tilting: y(k) = E[e^{theta sum m} x-bar_k] / E[e^{theta
/// sum m}] over blocks of c positions, m the match of a position's parents `S` with `query` (the
/// lags of S, nearest first). theta = a/c for mean pooling, a for sum pooling; c = 1 and theta = a
/// without a memory. Infinitely many slots. InputError when the largest lag of S exceeds 12.
std::vector<double> pooled_prediction(const Kernel& kernel, Subset S,
                                      const std::vector<Token>& query, double theta, int c);
/// The same by enumeration of all blocks, for tests: d^(c + w) of them.
std::vector<double> pooled_by_enumeration(const Kernel& kernel, Subset S,
                                          const std::vector<Token>& query, double theta, int c);

/// Smallest tau >= 1 for which the pattern agrees with itself shifted by tau (its length when it
/// never does): a contiguous pattern matches at most ceil(c / tau) positions of a block of c.
int smallest_period(const std::vector<Token>& pattern);

/// Rank of the centred blocks of c items of hard features: sum over T of (d-1)^|T|, T ranging over
/// the non-empty subsets of l - S (S active) and {l}, for each position l of the block.
std::size_t block_rank(int d, const std::vector<Subset>& active, int c);

/// Random-energy estimate of freezing: with m slots of blocks of c items that match with
/// probability q the mean share of matches under weights e^{theta n}, n matches of a block.
/// The largest reachable share solves c kl(rho || q) = log m.
double frozen_share(double q, int c, double slots);

}  // namespace gih
