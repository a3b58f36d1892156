#pragma once
// The trained blocks as one vector of coordinates x, and the flow's velocity in them.

#include <vector>

#include "gih/model/objective.hpp"

namespace gih {

using FlowState = std::vector<double>;

/// The loss depends on c_S^2 alone, so no c_S changes its sign along the flow, and in its place
/// stands log(c_S^2 / C_D), with C_D at the start, which the flow conserves (Lemma E.1). There a
/// lost subset is not stiff: while p_S falls by hundreds of orders of magnitude, its logarithm
/// falls on a straight line. w, a and the word matrices stand for themselves, in rows.
class FlowCoordinates {
 public:
  FlowCoordinates(Blocks trains, const Parameters& start) : trains_(trains), start_(start) {}

  FlowState pack(const Parameters& theta) const;

  /// The parameters at x; of theta the blocks that are not trained stay.
  void unpack(const FlowState& x, Parameters& theta) const;

  /// d_t x at x: d_t theta = -grad L, and d_t log c_S^2 = 2 d_t c_S / c_S. `theta` is scratch that
  /// holds the blocks that are not trained.
  void velocity(Objective& objective, const FlowState& x, Parameters& theta, FlowState& v) const;

 private:
  void unpack(const FlowState& x, Parameters& theta, double least) const;

  Blocks trains_;
  Parameters start_;
};

}  // namespace gih
