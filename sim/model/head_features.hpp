#pragma once
// Outputs of the first layer, one vector of d entries for each distinct place (a window and, where
// the model looks at it, the token of the position itself) and head, and the way back from their
// derivatives to the parameters: (2.2) and B.2.

#include <span>
#include <vector>

#include "gih/base/window.hpp"
#include "gih/model/parameters.hpp"

namespace gih {

/// What a head can see from a position.
struct Place {
  std::vector<Token> lags;  ///< nearest first
  int own;                  ///< token of the position, -1 for the query, which has none yet
};

class HeadFeatures {
 public:
  explicit HeadFeatures(const ModelSpec& model);

  void add(Place place) { places_.push_back(std::move(place)); }
  std::size_t count() const { return places_.size(); }
  const Place& place(std::size_t b) const { return places_[b]; }

  /// Computes v of all places.
  void forward(const Parameters& theta);

  /// v_b^(h), after the head norm: places x H x d.
  const double* v() const { return v_.data(); }

  /// Adds to the gradient, in w and qkv where `blocks` has them, given dL/dv, laid out as v is.
  void backward(std::span<const double> dv, Blocks blocks, Parameters& gradient) const;

  std::size_t size() const { return places_.size() * H_ * d_; }

 private:
  /// Number of (place, head).
  std::size_t at(std::size_t b, int h) const { return b * H_ + static_cast<std::size_t>(h); }
  /// Token that entry i of a head's attention looks at: entries 0 .. M-1 are the head's lags, entry
  /// M is the position itself. -1: there is none, the value is 0.
  int token(const Place& place, int h, int i) const;
  bool sees(const Place& place, int h, int i) const;

  void attend(const Place& place, int h, double* sigma) const;
  void normalise(const double* raw, double* out, double& length) const;
  void normalise_back(const double* raw, double length, const double* dout, double* draw,
                      Parameters* gradient) const;

  ModelSpec model_;
  std::size_t H_, d_, entries_;  // entries of a head's attention: M + 1
  std::vector<Place> places_;

  Parameters theta_;             // of the last forward
  std::vector<Matrix> content_;  // by head, W_Q W_K^T
  std::vector<double> sigma_;    // places x H x (M+1)
  std::vector<double> raw_;      // places x H x d: the head's output before its norm
  std::vector<double> length_;   // places x H: what the norm divides by
  std::vector<double> v_;        // places x H x d
};

}  // namespace gih
