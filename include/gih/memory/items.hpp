#pragma once
// What the second attention layer stores of a sequence. Position l becomes the item [u_l ; x_l]:
// its feature is the key, its token the value. A reader says how features come about: from trained
// parameters, or in the limit of training, where u_l is the one-hot code of X_{l-S*}.

#include <optional>
#include <span>
#include <vector>

#include "gih/base/window.hpp"
#include "gih/model/parameters.hpp"

namespace gih {

/// Items of one sequence x_1 .. x_L and the query of x_{L+1}.
struct Items {
  int d = 0;              ///< vocabulary; values have d entries
  std::size_t first = 1;  ///< first position with an item, counted from 1
  Matrix u;               ///< (L+1) x d_e, row l-1: u_l; the last row belongs to the query
  std::vector<Token> x;   ///< L tokens

  std::size_t length() const { return x.size(); }
  Eigen::Index d_e() const { return u.cols(); }
};

/// How the first layer sees the tokens before a segment.
enum class Halo {
  exact,  ///< it keeps the M tokens before the segment: every window is whole
  none,   ///< windows are cut where their segment starts
};

class Reader {
 public:
  /// The limit of training: u_l one-hot over the d^|S| values of X_{l-S}, lags of S at most M.
  /// Positions l <= M have no item. InputError when S is empty, reaches beyond M, or d^|S| > 4096.
  static Reader limit(int d, int M, Subset S);
  /// The simplified model (2.5) at theta; d_e = sum_S d^|S|. Positions l <= M have items unless the
  /// model masks them. InputError for other variants and for d_e > 4096.
  static Reader trained(const ModelSpec& model, const Parameters& theta);

  int d() const { return model_.d; }
  int M() const { return model_.M; }
  Eigen::Index d_e() const { return d_e_; }
  /// theta.a of a trained reader; infinite in the limit.
  double a() const;
  bool is_limit() const { return subset_.has_value(); }
  const ModelSpec& model() const { return model_; }
  const Parameters& theta() const { return theta_; }

  /// Items of x_1 .. x_L. With halo none, `segment` (at least 1) is the length of segments.
  Items items(std::span<const Token> x, Halo halo = Halo::exact, std::size_t segment = 0) const;

  /// Adds to `gradient` what dL/du ((L+1) x d_e) says of c and w of a trained reader.
  void backward(std::span<const Token> x, const Matrix& du, Parameters& gradient) const;

 private:
  void feature(std::span<const Token> x, std::size_t l, std::size_t start, double* u) const;
  void heads(std::span<const Token> x, std::size_t l, std::size_t start, Matrix& v) const;

  ModelSpec model_;
  Parameters theta_;
  std::vector<Subset> subsets_;
  Matrix sigma_;  // H x M
  std::optional<Subset> subset_;
  Eigen::Index d_e_ = 0;
};

}  // namespace gih
