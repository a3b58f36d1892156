#pragma once
// The protocol of Figure 3, at which everything is timed.

#include "gih/data/prompts.hpp"
#include "gih/model/objective.hpp"

namespace gih::benchmark_protocol {

inline DataSpec data(std::size_t train = 9000, std::size_t L = 100) {
  DataSpec spec;
  spec.train = train;
  spec.L = L;
  return spec;
}

inline Parameters start() {
  Parameters theta;
  theta.w = Matrix::Constant(3, 3, 0.01);
  theta.w.diagonal().setConstant(3.0);
  theta.c = Eigen::VectorXd::Constant(7, 0.01);
  theta.a = 0.01;
  return theta;
}

}  // namespace gih::benchmark_protocol
