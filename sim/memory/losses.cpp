#include "gih/memory/losses.hpp"

#include <cmath>

namespace gih {
namespace {

using Index = Eigen::Index;
using Map = Eigen::Map<const Matrix>;
using MutableMap = Eigen::Map<Matrix>;

/// Value and gradient of a residual's norm.
double norm_of(const Matrix& R, LossNorm norm, Matrix& G) {
  const double squares = R.squaredNorm(), count = static_cast<double>(R.size());
  if (norm == LossNorm::mse) {
    G = 2.0 / count * R;
    return squares / count;
  }
  const double length = std::sqrt(squares);
  G = length > 0.0 ? Matrix(R / length) : Matrix(Matrix::Zero(R.rows(), R.cols()));
  return length;
}

}  // namespace

CompressorGradient attention_reconstruction(const Compressing& compressor, const Detached& queries,
                                            const Detached& old, const Detached& halo,
                                            const ReconstructionSpec& spec) {
  const Matrix &Q = queries.value(), &h = old.value();
  const Index d_e = compressor.d_e, p = h.cols(), d = p - d_e, T = Q.rows();
  const auto c = static_cast<double>(compressor.spec.rate);
  const double gain = compressor.spec.kind == Compressor::sum ? c : 1.0;
  const Matrix z = compress_rows(compressor.spec, compressor.weights, d_e, h, halo.value());
  const Matrix K = gain * z.leftCols(d_e), V = z.rightCols(d);
  const Matrix bias =
      Matrix::Constant(1, z.rows(), compressor.bias + (spec.multiplicity ? std::log(c) : 0.0));
  const Attention now = attention(Q, K, V, bias);
  const Attention target = attention(Q, h.leftCols(d_e), h.rightCols(d), Matrix::Zero(1, h.rows()));

  CompressorGradient result;
  result.dweights = Eigen::VectorXd::Zero(compressor.weights.size());
  Matrix G;
  result.loss = norm_of(now.O - target.O, spec.norm, G);
  const Eigen::VectorXd off = now.log_Z - target.log_Z;
  result.log_Z_loss = off.squaredNorm() / static_cast<double>(T);
  Eigen::VectorXd dlog_Z;
  if (spec.lambda > 0.0) {
    result.loss += spec.lambda * result.log_Z_loss;
    dlog_Z = 2.0 * spec.lambda / static_cast<double>(T) * off;
  }
  const AttentionGradient back = attention_backward(G, dlog_Z, Q, K, V, now);
  result.dbias = back.dE.sum();
  Matrix dz(z.rows(), p);
  dz << gain * back.dK, back.dV;
  compress_rows_backward(compressor.spec, compressor.weights, d_e, h, halo.value(), dz,
                         result.dweights, nullptr);
  return result;
}

Index decoder_count(const CompressorSpec& spec, Index p) {
  return static_cast<Index>(spec.rate) * (p * p + p);
}

Eigen::VectorXd initial_decoder(const CompressorSpec& spec, Index p) {
  Eigen::VectorXd decoder = Eigen::VectorXd::Zero(decoder_count(spec, p));
  for (Index i = 0; i < static_cast<Index>(spec.rate); ++i) {
    for (Index k = 0; k < p; ++k) decoder[i * p * p + k * (p + 1)] = 1.0;
  }
  return decoder;
}

AutoencodingGradient autoencoding(const Compressing& compressor, const Eigen::VectorXd& decoder,
                                  const Detached& old, const Detached& halo, LossNorm norm) {
  const Matrix& h = old.value();
  const Index p = h.cols(), c = static_cast<Index>(compressor.spec.rate), m = h.rows() / c;
  const Matrix z =
      compress_rows(compressor.spec, compressor.weights, compressor.d_e, h, halo.value());
  Matrix residual(h.rows(), p);  // decoded less old
  for (Index i = 0; i < c; ++i) {
    const Map G_i(decoder.data() + i * p * p, p, p);
    const Matrix decoded = z * G_i.transpose();
    for (Index j = 0; j < m; ++j) {
      residual.row(j * c + i) =
          decoded.row(j) - h.row(j * c + i) + decoder.segment(c * p * p + i * p, p).transpose();
    }
  }
  AutoencodingGradient result;
  result.dweights = Eigen::VectorXd::Zero(compressor.weights.size());
  result.ddecoder = Eigen::VectorXd::Zero(decoder.size());
  Matrix E;
  result.loss = norm_of(residual, norm, E);
  Matrix dz = Matrix::Zero(m, p);
  for (Index i = 0; i < c; ++i) {
    Matrix E_i(m, p);
    for (Index j = 0; j < m; ++j) E_i.row(j) = E.row(j * c + i);
    MutableMap(result.ddecoder.data() + i * p * p, p, p) = E_i.transpose() * z;
    result.ddecoder.segment(c * p * p + i * p, p) = E_i.colwise().sum().transpose();
    dz += E_i * Map(decoder.data() + i * p * p, p, p);
  }
  compress_rows_backward(compressor.spec, compressor.weights, compressor.d_e, h, halo.value(), dz,
                         result.dweights, nullptr);
  return result;
}

}  // namespace gih
