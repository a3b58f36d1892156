#pragma once
// Scores s of (window, query window) pairs in the simplified variant (2.5).
//
// <v^(h), v'^(h)> = sum_ij sigma_i sigma'_j 1(lag i of the window = lag j of the query), so a pair
// enters only through its *match pattern*: the two lengths and which lags agree. Pairs with the
// same pattern form a class; a step computes each class once, however many pairs, windows or tokens
// there are.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "gih/model/scores.hpp"

namespace gih {

class PairScores final : public Scores {
 public:
  explicit PairScores(const ModelSpec& model);

  /// A pattern that is seen for the first time becomes the next class; `own` plays no part.
  std::uint32_t class_of(WindowCode window, Token own, WindowCode query) override;
  std::size_t classes() const override { return length_.size(); }

  /// (D.1).
  std::span<const double> forward(const Parameters& theta) override;

  /// (E.3) to (E.5), (E.13) to (E.15).
  void backward(std::span<const double> ds, Blocks blocks, Parameters& gradient) override;

 private:
  struct Match {
    std::uint8_t window_lag, query_lag;  // i-1, j-1
  };
  struct Lengths {
    std::uint8_t window, query;
  };

  void update_products(const Matrix& w);
  const double* sigma(int length, int h) const {
    return sigma_.data() + static_cast<std::size_t>((length * H_ + h) * M_);
  }

  int H_, M_;
  WindowCodes codes_;
  std::vector<Subset> subsets_;
  std::unordered_map<std::uint64_t, std::uint32_t> class_of_pair_;  // key: window * windows + query
  std::unordered_map<std::string, std::uint32_t> class_of_pattern_;
  std::vector<Lengths> length_;           // by class
  std::vector<std::size_t> first_match_;  // by class, into match_; classes + 1
  std::vector<Match> match_;

  Parameters at_;                // of the last forward
  std::vector<double> sigma_;    // (M+1) x H x M: softmax of the first m lags, 0 beyond
  std::vector<double> inner_;    // H x classes: <v^(h), v'^(h)>
  std::vector<double> product_;  // nS x classes: K_S
  std::vector<double> s_;        // classes

  // Of a call of backward:
  std::vector<double> rate_, term_;  // classes: dL/d<v^(h), v'^(h)> over dL/ds, and a subset's part
  std::vector<double> dsigma_;       // (M+1) x M
};

}  // namespace gih
