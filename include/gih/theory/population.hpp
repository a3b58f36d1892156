#pragma once
// The dynamics that training follows as L grows, for a prior of a few equally likely kernels: what
// the first two stages of training do to c and w, as functions of the laws mu^pi. The third is in
// tilt.hpp.

#include <functional>
#include <memory>
#include <vector>

#include "gih/data/kernel.hpp"
#include "gih/model/objective.hpp"
#include "gih/model/parameters.hpp"
#include "gih/theory/window_law.hpp"

namespace gih {

/// S* of a prior that consists of these kernels and no others (3.2), so without a sampling error.
struct ExactChoice {
  std::vector<double> information;  ///< I~(S), one a subset of the model
  std::size_t index = 0;            ///< of S*
  Subset S_star = 0;
  double I_star = 0.0;  ///< I~(S*)
  double gap = 0.0;     ///< dI (3.5)
  /// S* is not empty, and no other subset comes within rounding of it.
  bool decided = false;
};
ExactChoice choose_exactly(const std::vector<WindowLaw>& laws, const ModelSpec& model);

/// Least Dw that (3.6) demands with the constant k: (1 + (M-1) e^{-Dw})^{2M} = 1 + dI / (k I*).
double required_gap(double k, int M, double gap, double I_star);

/// min over the heads h of S and lags j != h of w^(h)_{-h} - w^(h)_{-j}.
double smallest_gap(const Matrix& w, Subset S);

/// prod_{h in S} (sigma^(h)_{-h})^2.
double focus(const Matrix& w, Subset S);

/// Attention of each head over its lags, softmax of each row of w.
Matrix lag_attention(const Matrix& w);

/// The loss of these kernels, equally likely, at L = inf and eps = 0: the exact second attention,
/// where the formulas below keep its first order in a.
std::unique_ptr<Objective> limit_objective(const std::vector<Kernel>& kernels,
                                           const ModelSpec& model);

// ---- integration ------------------------------------------------------------------------------

using Rate = std::function<void(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy)>;

/// y at 0, T/points, ..., T by the classical Runge-Kutta method of order 4, its steps halved until
/// no entry moves by more than `tolerance`. RunError when 2^14 steps a point are not enough.
std::vector<Eigen::VectorXd> runge_kutta(const Rate& rate, const Eigen::VectorXd& y, double T,
                                         int points, double tolerance);

// ---- stage I: c, at fixed w -------------------------------------------------------------------

/// G_S = E_pi g_{3,S}, one a subset.
std::vector<double> stage_one_gain(const std::vector<WindowLaw>& laws, const ModelSpec& model,
                                   const Matrix& w);

/// d_t c_S = (2a / C_D) c_S (G_S - sum p G), the limit of (E.7).
Eigen::VectorXd stage_one_rate(const Eigen::VectorXd& c, const std::vector<double>& gain, double a);

/// Its solution: p_S(t) proportional to p_S(0) exp(4 a G_S t / C_D).
Eigen::VectorXd stage_one_weights(const Eigen::VectorXd& c, const std::vector<double>& gain,
                                  double a, double t);

// ---- stage II: w, with p on S* alone ----------------------------------------------------------

class StageTwo {
 public:
  /// InputError when M > 8.
  StageTwo(const std::vector<WindowLaw>& laws, Subset S_star);

  /// E_pi g_{h,4}, one entry a lag (sec. E.3).
  Eigen::VectorXd gain(const Matrix& w, int h) const;
  /// E of (..) prod_{h' in S* \ h} <v^(h')(X), v^(h')(Z)> <v^(h)(X), z_{-i}>: tau_{h,1} where i =
  /// h, tau_{h,2} for the lag i elsewhere.
  double tau(const Matrix& w, int h, int i) const;
  /// E of (..) prod_{h' in S* \ h} 1(x_{-h'} = z_{-h'}) 1(x_{-h} = z_{-i}).
  double psi(int h, int i) const;
  /// g_{3,S} over windows that enter through their matches alone.
  double gain_of_set(const Matrix& w, Subset S) const;
  /// d_t w (E.15); the rows of heads outside S* are 0.
  Matrix rate(const Matrix& w, double a) const;

  Subset S_star() const { return S_star_; }

 private:
  /// Pairs of windows with the same matches, and E_pi of (sum_k 1(x=z=e_k)/mu(e_k) - 1) over them.
  struct Pattern {
    std::uint64_t match;  ///< bit (i-1) M + j-1: lag i of X equals lag j of Z
    double excess;
  };
  bool matches(const Pattern& pattern, int i, int j) const {
    return pattern.match >> ((i - 1) * M_ + j - 1) & 1U;
  }
  double inner(const Pattern& pattern, const Matrix& sigma, int h) const;
  double others(const Pattern& pattern, const Matrix& sigma, int h) const;

  int M_;
  Subset S_star_;
  std::vector<Pattern> patterns_;
};

}  // namespace gih
