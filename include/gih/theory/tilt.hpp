#pragma once
// The growth of a once p is on S* and each head on its own lag: the law of a window, tilted towards
// those that agree with the query on S*, and the functions that stage III is made of (sec. E.4).

#include <Eigen/Dense>
#include <vector>

#include "gih/model/parameters.hpp"
#include "gih/theory/window_law.hpp"

namespace gih {

/// A kernel seen through the tokens X_{-S}, and the tilt of its law towards windows that agree.
class Tilt {
 public:
  Tilt(const WindowLaw& law, Subset S);

  std::size_t values() const { return m_.size(); }  ///< of X_{-S} with positive probability
  double m(std::size_t X) const { return m_[X]; }   ///< mu(X_{-S})
  double largest_m() const;
  double smallest_m() const;
  double r(std::size_t X, double a) const;  ///< 1 / (1 + m (e^a - 1))
  const Eigen::VectorXd& mu() const { return mu_; }
  /// mu(. | X_{-S}).
  Eigen::VectorXd given(std::size_t X) const { return given_.row(static_cast<Eigen::Index>(X)); }
  /// J~(X; r), r in [0, 1] (E.31).
  double J(std::size_t X, double r) const;
  double D_1(std::size_t X) const { return J(X, 1.0); }  ///< chi2(mu(.|X) || mu)
  double D_0(std::size_t X) const { return J(X, 0.0); }  ///< chi2(mu || mu(.|X))
  double D_plus(std::size_t X) const;                    ///< the larger of the two
  /// f_5 = E[e^a m r^3 J(X; r)] (Prop. E.4).
  double f5(double a) const;
  /// E[m D_1], which is I~(S): f_5 ~ I~(S) e^a for small a.
  double early() const;
  /// E[m^-2 D_0]: f_5 ~ E[m^-2 D_0] e^{-2a} for large a.
  double late() const;

 private:
  std::vector<double> m_;
  Matrix given_;  // values x d
  Eigen::VectorXd mu_;
};

std::vector<Tilt> tilts(const std::vector<WindowLaw>& laws, Subset S);
/// d_t a = E_pi f_5 (E.30), and the two constants, for equally likely kernels.
double mean_f5(const std::vector<Tilt>& kernels, double a);
double mean_early(const std::vector<Tilt>& kernels);
double mean_late(const std::vector<Tilt>& kernels);

/// mu~(Z, z | X): the law of a window and its token, e^a times more likely where Z_{-S} = X_{-S}
/// (E.27). `X` is a window; d^M x d entries.
std::vector<double> tilted_law(const WindowLaw& law, Subset S, std::size_t X, double a);

/// f_5 from its definition (E.28), as a sum over all pairs of windows and tokens.
double f5_by_definition(const WindowLaw& law, Subset S, double a);

}  // namespace gih
