#pragma once
// Sizes and parameters of the two-layer transformer TF(M, H, d, D), simplified variant (2.5).

#include <Eigen/Dense>
#include <vector>

#include "gih/base/subsets.hpp"

namespace gih {

struct ModelSpec {
  int d = 3;  ///< vocabulary size
  int M = 3;  ///< window of the relative positional embedding
  int H = 3;  ///< heads
  int D = 2;  ///< degree of the polynomial kernel, 1 <= D <= H
  SubsetRule rule = SubsetRule::at_most;
  bool mask = false;  ///< drop the first M positions from the second attention

  /// The subsets that c ranges over, ascending; nS of them.
  std::vector<Subset> subsets() const { return gih::subsets(H, D, rule); }
};

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Theta = {w, c, a}; also the type of a gradient.
struct Parameters {
  Matrix w;           ///< H x M: w(h-1, i-1) = w^(h)_{-i}, the RPE weight of head h at lag i
  Eigen::VectorXd c;  ///< nS: c_S, ascending subsets
  double a = 0.0;     ///< scalar of the second attention

  double C_D() const { return c.squaredNorm(); }               ///< C_D = sum_S c_S^2
  Eigen::VectorXd p() const { return c.cwiseAbs2() / C_D(); }  ///< p_S = c_S^2 / C_D
  bool all_finite() const;
};

/// Which blocks of Theta are trained, or differentiated.
struct Blocks {
  bool c = false, w = false, a = false;
  static Blocks all() { return {true, true, true}; }
  bool any() const { return c || w || a; }
};

/// InputError, naming value and range, unless the sizes are usable: M and H 1 to 31, 1 <= D <= H.
void check_model(const ModelSpec& model);

/// InputError unless w is H x M, c has one entry a subset and C_D > 0.
void check_parameters(const ModelSpec& model, const Parameters& theta);

}  // namespace gih
