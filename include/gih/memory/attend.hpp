#pragma once
// Attention of one query over compressed memory, memory and current segment, and the one backward
// pass that every loss uses.
//   e_i = a g_i <u, kappa_i> + b_i + chi log n_i + rho(delta_i),  P = softmax(e),  y = sum_i P_i
//   nu_i

#include <span>
#include <vector>

#include "gih/memory/slots.hpp"
#include "gih/model/parameters.hpp"

namespace gih {

/// delta, the distance of a slot from the query at t.
enum class Distance {
  none,      ///< no term rho
  slot,      ///< rank from the query in the concatenated list, newest 1
  c_offset,  ///< t - mean position of the slot
  nearest,   ///< t - last position of the slot
};
/// How what the compressed memory says and what the rest says become one answer.
enum class Combine {
  concat,  ///< one softmax over all slots
  mean,    ///< half each
  fixed,   ///< `gamma` for the compressed memory
  count,   ///< in proportion to the numbers of slots
};

struct ReadOptions {
  double a = 1.0;             ///< scale of the scores, >= 0; infinite: the slots of the top score
  bool multiplicity = false;  ///< chi: add log n_i
  Distance distance = Distance::none;
  double slope = 0.0;           ///< eta >= 0: rho = -eta delta
  std::vector<double> table{};  ///< rho(delta) instead, by rounded distance; beyond it: the last
  Combine combine = Combine::concat;
  double gamma = 0.5;            ///< of Combine::fixed, 0 .. 1
  double compressed_bias = 0.0;  ///< b_e, added to the logit of compressed slots
  bool convex = true;            ///< values lie in the simplex; else y is clipped and renormalised
};

/// Sums over all items instead of slots: keys of 0 and 1 need no more, since then
/// exp(a s) = 1 + (e^a - 1) s. With decay below 1 older items fade, as in a state-space model.
struct LinearMemory {
  LinearMemory(Eigen::Index d_e, Eigen::Index d, double decay);
  void add(const double* u, const double* x);

  Matrix A;           ///< sum u x^T, d_e x d
  Eigen::VectorXd z;  ///< sum u
  Eigen::VectorXd m;  ///< sum x
  double n = 0.0;     ///< items, faded
  double decay = 1.0;
};

/// Some slots, oldest first; those of the compressed memory are told apart.
struct Block {
  const Slots* slots;
  bool compressed;
};

struct Reading {
  Eigen::VectorXd y;      ///< d entries that sum to 1; 1/d where there is no slot
  std::vector<double> P;  ///< a slot, blocks in their order; with `linear` they sum to 1
  double linear = 0.0;    ///< mass of the linear memory
  double gamma = 0.0;     ///< mass of the compressed memory, linear part included
  double log_Z_compressed = 0.0, log_Z_rest = 0.0;  ///< -inf where there is no slot
  double null_mass = 0.0;  ///< mass that lay on values of no token, before y was renormalised
  bool clipped = false;    ///< y had negative entries
};

/// Ties at a = infinity.
constexpr double tie = 1e-12;

/// Blocks in time order, oldest first; u of d_e entries, query at position t.
Reading attend(const double* u, std::size_t t, std::span<const Block> blocks,
               const LinearMemory* linear, const ReadOptions& options, Eigen::Index d);

/// The same over matrices, for losses: queries Q (T x d_e, a included), keys K (m x d_e), values V
/// (m x d), logit offsets `bias` (m, or T x m).
struct Attention {
  Matrix P;               ///< T x m
  Matrix O;               ///< T x d
  Eigen::VectorXd log_Z;  ///< T
};
Attention attention(const Matrix& Q, const Matrix& K, const Matrix& V, const Matrix& bias);

struct AttentionGradient {
  Matrix dQ, dK, dV;
  Matrix dE;  ///< T x m, also the gradient of the offsets; rows sum to 0
};
/// From G = dl/dO (T x d), and dl/dlog_Z (T entries, or none).
AttentionGradient attention_backward(const Matrix& G, const Eigen::VectorXd& dlog_Z,
                                     const Matrix& Q, const Matrix& K, const Matrix& V,
                                     const Attention& forward);

}  // namespace gih
