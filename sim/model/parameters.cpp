#include "gih/model/parameters.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gih/base/error.hpp"

namespace gih {

bool Parameters::all_finite() const {
  return w.allFinite() && c.allFinite() && std::isfinite(a) &&
         std::all_of(word_matrices.begin(), word_matrices.end(),
                     [&](const WordMatrix& matrix) { return (this->*matrix.member).allFinite(); });
}

Parameters zero_parameters(const ModelSpec& model) {
  Parameters theta;
  theta.w.setZero(model.H, model.M);
  theta.c.setZero(static_cast<Eigen::Index>(model.subsets().size()));
  if (model.variant == Variant::full) {
    for (Matrix* W : {&theta.W_Q, &theta.W_K, &theta.W_V}) W->setZero(model.H * model.d, model.d);
  }
  if (model.head_norm == HeadNorm::layer) {
    for (Matrix* of_norm : {&theta.scale, &theta.shift}) of_norm->setZero(1, model.d);
  }
  return theta;
}

Matrix softmax_rows(const Matrix& w) {
  Matrix sigma = (w.colwise() - w.rowwise().maxCoeff()).array().exp();
  for (Eigen::Index h = 0; h < w.rows(); ++h) sigma.row(h) /= sigma.row(h).sum();
  return sigma;
}

void add(Parameters& theta, double factor, const Parameters& step, Blocks blocks) {
  if (blocks.c) theta.c += factor * step.c;
  if (blocks.w) theta.w += factor * step.w;
  if (blocks.a) theta.a += factor * step.a;
  if (!blocks.qkv) return;
  for (const WordMatrix& matrix : word_matrices) {
    theta.*matrix.member += factor * (step.*matrix.member);
  }
}

void check_model(const ModelSpec& model) {
  if (model.d < 2 || model.d > 65536) {
    throw InputError(fmt::format("vocabulary d = {}: must be 2 to 65536", model.d));
  }
  if (model.M < 1 || model.M > 31) {
    throw InputError(fmt::format("window M = {}: must be 1 to 31", model.M));
  }
  subsets(model.H, model.D, model.rule);
  if (model.reach() > 31) {
    throw InputError(
        fmt::format("H = {} heads with shifted windows of M = {} lags reach {} lags "
                    "back: must be at most 31",
                    model.H, model.M, model.reach()));
  }
  model.subsets();
}

void check_parameters(const ModelSpec& model, const Parameters& theta) {
  if (theta.w.rows() != model.H || theta.w.cols() != model.M) {
    throw InputError(fmt::format("w is {} x {}: must be heads x window = {} x {}", theta.w.rows(),
                                 theta.w.cols(), model.H, model.M));
  }
  const Parameters shapes = zero_parameters(model);
  if (theta.c.size() != shapes.c.size()) {
    throw InputError(fmt::format("c has {} entries: must be {}, one for each subset of {} {}",
                                 theta.c.size(), shapes.c.size(), model.blocks(),
                                 model.residual() ? "blocks" : "heads"));
  }
  for (const WordMatrix& matrix : word_matrices) {
    const Matrix& found = theta.*matrix.member;
    const Matrix& wanted = shapes.*matrix.member;
    if (found.rows() != wanted.rows() || found.cols() != wanted.cols()) {
      throw InputError(fmt::format("{} is {} x {}: must be {} x {} in this model", matrix.name,
                                   found.rows(), found.cols(), wanted.rows(), wanted.cols()));
    }
  }
  if (!theta.all_finite()) throw InputError("parameters must be finite");
  if (!(theta.C_D() > 0.0)) {
    throw InputError("c = 0 in every entry: C_D = sum c_S^2 must be above 0");
  }
}

}  // namespace gih
