#pragma once
// Sizes, conventions and parameters of the two-layer transformer: TF(M, H, d, D), the simplified
// variant (2.5), and the full variant of B.2. The members after `mask` say where a model leaves
// (2.5), the last ones only in order to repeat the authors' published runs.

#include <Eigen/Dense>
#include <array>
#include <optional>
#include <vector>

#include "gih/base/subsets.hpp"

namespace gih {

enum class Variant {
  simplified,  ///< (2.5): heads attend by position alone and copy tokens
  full,        ///< B.2: W_Q, W_K, W_V in each head, residual block, l2 layer norm of phi
};
enum class HeadNorm {
  none,
  l2,     ///< v^(h) of unit length (0 stays 0)
  layer,  ///< mean removed, unit variance, then a trained scale and shift, the same for all heads
};
enum class HeadWindow {
  common,   ///< every head sees lags 1 .. M
  shifted,  ///< head h sees lags h .. h+M-1
};
enum class FeatureNorm {
  automatic,  ///< sqrt_C_D in the simplified variant, l2 in the full one
  sqrt_C_D,   ///< u = phi(v) / sqrt(C_D) (2.4)
  l2,         ///< u = phi(v) / ||phi(v)|| (B.2); phi(v) = 0 stays 0
};

struct ModelSpec {
  int d = 3;  ///< vocabulary size
  int M = 3;  ///< window of the relative positional embedding
  int H = 3;  ///< heads
  int D = 2;  ///< degree of the polynomial kernel, 1 <= D <= H
  SubsetRule rule = SubsetRule::at_most;
  bool mask = false;  ///< drop the first positions, as many as the reach, from the second attention
  Variant variant = Variant::simplified;
  bool residual_in_kernel = true;  ///< full: subsets range over the residual block too
  HeadNorm head_norm = HeadNorm::none;
  HeadWindow head_window = HeadWindow::common;
  FeatureNorm feature_norm = FeatureNorm::automatic;
  std::optional<double> self_score{};  ///< heads attend to lag 0 too, with this RPE score
  bool rectify = false;                ///< inner products <v^(h), v'^(h)> below 0 count as 0

  bool residual() const { return variant == Variant::full && residual_in_kernel; }
  bool l2_features() const {
    return feature_norm == FeatureNorm::l2 ||
           (feature_norm == FeatureNorm::automatic && variant == Variant::full);
  }
  /// Whether this is (2.5) itself, the model that the theory is about.
  bool is_simplified() const {
    return variant == Variant::simplified && head_norm == HeadNorm::none &&
           head_window == HeadWindow::common && !l2_features() && !self_score && !rectify;
  }

  /// Lag of w(h, i), h and i from 0, and the largest of all.
  int lag(int h, int i) const { return (head_window == HeadWindow::shifted ? h : 0) + i + 1; }
  int reach() const { return lag(H - 1, M - 1); }
  /// Positions that a head attends to: its M lags, and itself where there is a self_score.
  int head_lags() const { return M + (self_score ? 1 : 0); }

  /// Blocks that a subset chooses from: H heads, and before them (bit 0) the residual block.
  int blocks() const { return H + (residual() ? 1 : 0); }
  /// The subsets that c ranges over, ascending; nS of them.
  std::vector<Subset> subsets() const { return gih::subsets(blocks(), D, rule); }
  /// The heads of S, bit h-1 for head h; each head starts at the lag of its own number.
  Subset heads_of(Subset S) const { return residual() ? S >> 1 : S; }
};

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Theta; also the type of a gradient. What a model lacks is empty.
struct Parameters {
  Matrix w;           ///< H x M: w(h-1, i-1), the RPE weight of head h at lag i (shifted: h+i-1)
  Eigen::VectorXd c;  ///< nS: c_S, ascending subsets
  double a = 0.0;     ///< scalar of the second attention
  // Full variant: (H d) x d, head h at rows (h-1) d to h d - 1.
  Matrix W_Q{}, W_K{}, W_V{};
  // Head norm `layer`: 1 x d, one norm that all heads share.
  Matrix scale{}, shift{};

  double C_D() const { return c.squaredNorm(); }               ///< C_D = sum_S c_S^2
  Eigen::VectorXd p() const { return c.cwiseAbs2() / C_D(); }  ///< p_S = c_S^2 / C_D
  bool all_finite() const;
};

/// The matrices that are trained together as block qkv.
struct WordMatrix {
  const char* name;
  Matrix Parameters::*member;
};
constexpr std::array<WordMatrix, 5> word_matrices{{{"W_Q", &Parameters::W_Q},
                                                   {"W_K", &Parameters::W_K},
                                                   {"W_V", &Parameters::W_V},
                                                   {"scale", &Parameters::scale},
                                                   {"shift", &Parameters::shift}}};

/// Which blocks of Theta are trained, or differentiated.
struct Blocks {
  bool c = false, w = false, a = false, qkv = false;
  static Blocks all() { return {true, true, true, true}; }
  bool any() const { return c || w || a || qkv; }
};

/// Parameters of this model's shapes, all 0.
Parameters zero_parameters(const ModelSpec& model);

/// sigma^(h) of every head over its M lags, where all of them exist (2.2): H x M.
Matrix softmax_rows(const Matrix& w);

/// theta += factor * step, in the given blocks.
void add(Parameters& theta, double factor, const Parameters& step, Blocks blocks);

/// InputError, naming value and range, unless the sizes are usable: M and H 1 to 31, 1 <= D <= H,
/// a reach of at most 31.
void check_model(const ModelSpec& model);

/// InputError unless the shapes are those of the model, all entries are finite and C_D > 0.
void check_parameters(const ModelSpec& model, const Parameters& theta);

}  // namespace gih
