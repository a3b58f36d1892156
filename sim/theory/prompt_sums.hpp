#pragma once
// Exact sums for the claims: over all sequences of a world, and over pairs of independent windows.
// Written from the definitions and shared with no engine, so that the claims judge the engines too.
//
// Under the mask a position l = M+1 .. L enters only through its window, coded 0 .. d^M-1 in the
// order of WindowLaw, and its token.

#include <functional>
#include <span>
#include <vector>

#include "gih/theory/worlds.hpp"

namespace gih {

/// A sequence as the second attention sees it.
struct Prompt {
  double probability = 0.0;
  std::vector<std::size_t> windows;  ///< X_l, by position
  std::vector<Token> tokens;         ///< x_l, by position
  std::size_t query = 0;             ///< X_{L+1}
  Token q = 0;                       ///< x_{L+1}

  std::size_t positions() const { return tokens.size(); }
};

/// Calls visit for every sequence of positive probability.
void each_prompt(const Kernel& kernel, std::span<const double> start, int M, int L,
                 const std::function<void(const Prompt&)>& visit);

/// The second attention with given scores; a = 0 is uniform attention.
struct Attention {
  std::vector<double> sigma;  ///< softmax(a s), by position
  std::vector<double> y;      ///< sum_l sigma_l x_l, d entries
  std::vector<double> rho;    ///< (1(x_l = q) - y_q) / (y_q + eps), by position
};

Attention attend(const Prompt& prompt, std::span<const double> scores, double a, int d, double eps);

/// Products of head outputs of two windows X and Z, the heads attending by w in X and by w~ in Z.
class WindowPairs {
 public:
  WindowPairs(int d, const Matrix& w, const Matrix& w_other);
  WindowPairs(int d, const Matrix& w) : WindowPairs(d, w, w) {}

  std::size_t windows() const { return windows_; }
  int digit(std::size_t X, int lag) const;

  /// prod_{h in S} <v^(h)(X), v~^(h)(Z)>.
  double K(Subset S, std::size_t X, std::size_t Z) const;
  /// Entry of lag i of b(X, Z) = Z v^(h)(X) + X v~^(h)(Z) (E.14), with the plus sign.
  double b(int h, int lag, std::size_t X, std::size_t Z) const;
  /// sigma^(h)_{-i} of w, and of w~.
  double sigma(int h, int lag) const { return sigma_(h - 1, lag - 1); }
  double sigma_other(int h, int lag) const { return sigma_other_(h - 1, lag - 1); }
  /// Scores sum_S p_S K_S of every position.
  std::vector<double> scores(const Prompt& prompt, const ModelSpec& model,
                             const Eigen::VectorXd& p) const;

 private:
  int d_, H_, M_;
  std::size_t windows_;
  Matrix sigma_, sigma_other_;               // H x M
  std::vector<int> digits_;                  // windows x M
  std::vector<double> looks_, looks_other_;  // H x windows x d: v^(h)(X), v~^(h)(X)
  std::vector<double> inner_;                // H x windows x windows
};

/// 1(X_{l-S} = X_{L+1-S}) of every position.
std::vector<double> matches(const Prompt& prompt, const std::vector<std::uint32_t>& restricted);

/// E over (x,X), (z,Z) independent from mu of (sum_k 1(x = z = e_k) / mu(e_k) - 1) f(X, Z).
double independent_sum(const WindowLaw& law,
                       const std::function<double(std::size_t X, std::size_t Z)>& f);

/// D_chi2(P || Q), infinite when P has mass where Q has none.
double chi_square(std::span<const double> P, std::span<const double> Q);
double total_variation(std::span<const double> P, std::span<const double> Q);

/// mu~(z, E' | E) of (E.27), d^|S| x d, from mu(Z_{-S} = E', z).
std::vector<double> tilted(std::span<const double> marginal, int d, std::size_t E, double a);

/// D_chi2( (1/N') sum_l 1((x_l, X_{l-S}) = .) || mu ) of a sequence, mu = law.marginal(S).
double empirical_chi_square(const Prompt& prompt, const std::vector<std::uint32_t>& restricted,
                            std::span<const double> marginal, int d);

}  // namespace gih
