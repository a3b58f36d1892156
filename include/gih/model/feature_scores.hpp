#pragma once
// Scores of every model that is not (2.5) itself: the full variant of B.2 and the conventions of
// the authors' code. First-layer outputs are computed once for each distinct place, and products
// once for each distinct pair of places. In the simplified variant a score does not change when
// the tokens of a pair are renamed, so pairs are renamed to one of their kind, which merges them.

#include <unordered_map>
#include <vector>

#include "gih/model/scores.hpp"

namespace gih {

class HeadFeatures;

class FeatureScores final : public Scores {
 public:
  explicit FeatureScores(const ModelSpec& model);
  ~FeatureScores() override;

  std::uint32_t class_of(WindowCode window, Token own, WindowCode query) override;
  std::size_t classes() const override { return pairs_.size(); }
  std::span<const double> forward(const Parameters& theta) override;
  void backward(std::span<const double> ds, Blocks blocks, Parameters& gradient) override;

 private:
  /// Two places, by number.
  struct Pair {
    std::uint32_t left, right;
  };
  struct Key {
    std::uint64_t first, second, third;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  std::uint32_t place_of(std::vector<Token> lags, int own);
  void update_products();
  template <int fixed>
  void backward_products(const std::vector<double>& dkernel, std::vector<double>& dv) const;
  const Pair& entry(std::size_t e) const;
  std::size_t entries() const { return pairs_.size() + (self_ ? places() : 0); }
  std::size_t places() const;

  ModelSpec model_;
  WindowCodes codes_;
  std::vector<Subset> subsets_;
  bool self_;  // whether s is divided by the lengths of phi at both places
  std::unique_ptr<HeadFeatures> features_;
  std::unordered_map<Key, std::uint32_t, KeyHash> class_of_question_, class_of_pair_, place_of_;
  std::vector<Pair> pairs_;   // by class
  std::vector<Pair> selves_;  // by place, itself twice

  // By entry: first the classes, then, when they count, each place with itself.
  Parameters at_;
  std::vector<double> inner_;    // blocks x entries: inner products of a block, rectified
  std::vector<double> product_;  // nS x entries: K_S
  std::vector<double> kernel_;   // entries: sum_S c_S^2 K_S
  std::vector<double> s_;        // classes
};

}  // namespace gih
