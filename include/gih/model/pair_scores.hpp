#pragma once
// Scores s of (window, query window) pairs in the simplified variant (2.5).
//
// <v^(h), v'^(h)> = sum_ij sigma_i sigma'_j 1(lag i of the window = lag j of the query), so a pair
// enters only through its *match pattern*: the two lengths and which lags agree. Pairs with the
// same pattern form a class; a step computes each class once, however many pairs, windows or tokens
// there are. A match of two lags is a *place*, and what a step does for a match is one sum over the
// heads side by side: of the places' products sigma_i sigma'_j on the way forward, and into the
// places' derivatives on the way back.

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
  std::size_t classes() const override { return first_match_.size() - 1; }

  /// (D.1).
  std::span<const double> forward(const Parameters& theta) override;

  /// (E.3) to (E.5), (E.13) to (E.15).
  void backward(std::span<const double> ds, Blocks blocks, Parameters& gradient) override;

 private:
  struct Lengths {
    std::uint8_t window, query;
  };

  /// Place of i = j = 1 for these lengths, which may be new.
  std::uint32_t first_place(Lengths lengths);
  template <class Body>
  void each_place(Body body) const;
  void update_products(const Matrix& w);
  void update_inner();
  std::size_t sigma_index(int length, int h) const {
    return static_cast<std::size_t>((length * H_ + h) * M_);
  }
  const double* sigma(int length, int h) const { return sigma_.data() + sigma_index(length, h); }

  int H_, M_;
  WindowCodes codes_;
  std::vector<Subset> subsets_;
  std::unordered_map<std::uint64_t, std::uint32_t> class_of_pair_;  // key: window * windows + query
  std::unordered_map<std::string, std::uint32_t> class_of_pattern_;
  std::vector<std::size_t> first_match_{0};  // by class, into match_; classes + 1
  std::vector<std::uint32_t> match_;         // places
  std::vector<Lengths> lengths_;             // that occur; M x M places each

  Parameters at_;                // of the last forward
  std::vector<double> sigma_;    // (M+1) x H x M: softmax of the first m lags, 0 beyond
  std::vector<double> inner_;    // H x classes: <v^(h), v'^(h)>
  std::vector<double> product_;  // nS x classes: K_S
  std::vector<double> s_;        // classes
  Eigen::VectorXd p_;            // p_S

  std::vector<double> place_;  // groups of heads x places x 8: sigma_i sigma'_j, or dL/d of it

  // Of a call of backward:
  Eigen::VectorXd along_;            // nS: sum over classes of dL/ds K_S
  std::vector<double> rate_, term_;  // H x classes: dL/d<v^(h), v'^(h)>; a subset's part of one
  std::vector<double> by_class_;     // classes x 8: rates of eight heads side by side
  std::vector<double> dsigma_;       // (M+1) x H x M
};

}  // namespace gih
