#include "gih/memory/weights.hpp"

#include <cmath>

namespace gih {
namespace {

using Index = Eigen::Index;
using Map = Eigen::Map<const Matrix>;
using MutableMap = Eigen::Map<Matrix>;

Index rate(const CompressorSpec& spec) {
  return static_cast<Index>(spec.rate);
}

Eigen::VectorXd softmax(const Eigen::VectorXd& logits) {
  const double top = logits.maxCoeff();
  Eigen::VectorXd P(logits.size());
  for (Index i = 0; i < P.size(); ++i) P[i] = std::exp(logits[i] - top);
  return P / P.sum();
}

Eigen::VectorXd softmax_backward(const Eigen::VectorXd& P, const Eigen::VectorXd& dP) {
  return P.cwiseProduct((dP.array() - P.dot(dP)).matrix());
}

/// Taps of one number each, for values (conv_kv) or whole rows (conv_scalar).
Eigen::VectorXd taps(const CompressorSpec& spec, const Eigen::VectorXd& weights) {
  const Eigen::VectorXd omega = weights.tail(rate(spec));
  const bool soft = spec.kind == Compressor::conv_kv || spec.softmax_taps;
  return soft ? softmax(omega) : omega;
}

/// Attention weights of a block's rows from the first key weights (snap_att).
Eigen::VectorXd snapshot_weights(const Eigen::VectorXd& weights, const Matrix& u) {
  return softmax(u * weights.head(u.cols()) + weights.tail(u.rows()));
}

/// A causal layer on rows: y_t = sum_j T_j h_{t - j step}, zeros before the first row.
Matrix dilate(const double* T, int width, Index step, const Matrix& h) {
  const Index p = h.cols();
  Matrix y = Matrix::Zero(h.rows(), p);
  for (int j = 0; j < width; ++j) {
    const Map tap(T + j * p * p, p, p);
    const Index shift = j * step, rows = h.rows() - shift;
    if (rows > 0) y.bottomRows(rows) += h.topRows(rows) * tap.transpose();
  }
  return y;
}

/// Rows with the halo before them, and the output of each dilated layer, the rows first.
std::vector<Matrix> dilated_layers(const CompressorSpec& spec, const Eigen::VectorXd& weights,
                                   const Matrix& old, const Matrix& halo) {
  Matrix rows(halo.rows() + old.rows(), old.cols());
  if (halo.rows() > 0) rows.topRows(halo.rows()) = halo;
  rows.bottomRows(old.rows()) = old;
  std::vector<Matrix> layers{rows};
  const Index size = spec.width * old.cols() * old.cols();
  Index step = 1;
  for (int layer = 0; layer < spec.layers; ++layer, step *= spec.width) {
    layers.push_back(dilate(weights.data() + layer * size, spec.width, step, layers.back()));
  }
  return layers;
}

/// c consecutive rows as one row of c p entries.
Map stacked(const CompressorSpec& spec, const Matrix& rows) {
  return {rows.data(), rows.rows() / rate(spec), rate(spec) * rows.cols()};
}

/// W_1 .. W_c side by side (p x c p): one product for all blocks.
Matrix side_by_side(const double* W, Index c, Index p) {
  Matrix all(p, c * p);
  for (Index i = 0; i < c; ++i) all.middleCols(i * p, p) = Map(W + i * p * p, p, p);
  return all;
}

Matrix conv(const CompressorSpec& spec, const double* W, const Matrix& rows) {
  const Index p = rows.cols(), c = rate(spec);
  Matrix z = stacked(spec, rows) * side_by_side(W, c, p).transpose();
  z.rowwise() += Eigen::Map<const Eigen::RowVectorXd>(W + c * p * p, p);
  return z;
}

Matrix conv_backward(const CompressorSpec& spec, const double* W, const Matrix& rows,
                     const Matrix& dz, double* dW) {
  const Index p = rows.cols(), c = rate(spec);
  const Matrix dall = dz.transpose() * stacked(spec, rows);
  for (Index i = 0; i < c; ++i) MutableMap(dW + i * p * p, p, p) += dall.middleCols(i * p, p);
  Eigen::Map<Eigen::RowVectorXd>(dW + c * p * p, p) += dz.colwise().sum();
  const Matrix drows = dz * side_by_side(W, c, p);
  return Map(drows.data(), rows.rows(), p);
}

/// Row of a block where entry k is largest; the first of equals.
Index largest(const Matrix& old, Index first, Index c, Index k) {
  Index at = first;
  for (Index i = first; i < first + c; ++i) {
    if (old(i, k) > old(at, k)) at = i;
  }
  return at;
}

}  // namespace

Index weight_count(const CompressorSpec& spec, Index d_e, Index d) {
  const Index p = d_e + d, c = rate(spec);
  switch (spec.kind) {
    case Compressor::conv:
      return c * p * p + p;
    case Compressor::conv_dw:
      return c * p + p;
    case Compressor::conv_scalar:
      return c;
    case Compressor::conv_kv:
      return c * d_e * d_e + c;
    case Compressor::dilated:
      return spec.layers * spec.width * p * p + c * p * p + p;
    case Compressor::snap_att:
      return d_e + c;
    default:
      return 0;
  }
}

Eigen::VectorXd initial_weights(const CompressorSpec& spec, Index d_e, Index d, double noise,
                                Stream& stream) {
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(weight_count(spec, d_e, d));
  const Index p = d_e + d, c = rate(spec);
  const double share = 1.0 / static_cast<double>(c);
  const auto identities = [&](Index first, Index count, Index size, double scale) {
    for (Index i = 0; i < count; ++i) {
      for (Index k = 0; k < size; ++k) weights[first + i * size * size + k * (size + 1)] = scale;
    }
  };
  if (spec.kind == Compressor::conv) identities(0, c, p, share);
  if (spec.kind == Compressor::conv_kv) identities(0, c, d_e, share);
  if (spec.kind == Compressor::conv_dw) weights.head(c * p).setConstant(share);
  if (spec.kind == Compressor::conv_scalar && !spec.softmax_taps) weights.setConstant(share);
  if (spec.kind == Compressor::dilated) {
    for (int layer = 0; layer < spec.layers; ++layer) {
      identities(layer * spec.width * p * p, 1, p, 1.0);  // T_0 = 1, older taps 0
    }
    identities(spec.layers * spec.width * p * p, c, p, share);
  }
  for (Index i = 0; noise > 0.0 && i < weights.size(); ++i) weights[i] += noise * stream.normal();
  return weights;
}

Matrix compress_rows(const CompressorSpec& spec, const Eigen::VectorXd& weights, Index d_e,
                     const Matrix& old, const Matrix& halo) {
  const Index p = old.cols(), c = rate(spec), m = old.rows() / c, d = p - d_e;
  Matrix z = Matrix::Zero(m, p);
  switch (spec.kind) {
    case Compressor::conv:
      return conv(spec, weights.data(), old);
    case Compressor::dilated: {
      const Matrix last = dilated_layers(spec, weights, old, halo).back().bottomRows(old.rows());
      return conv(spec, weights.data() + spec.layers * spec.width * p * p, last);
    }
    default:
      break;
  }
  for (Index j = 0; j < m; ++j) {
    const auto block = old.middleRows(j * c, c);
    switch (spec.kind) {
      case Compressor::conv_dw:
        z.row(j) = weights.tail(p).transpose();
        for (Index i = 0; i < c; ++i) {
          z.row(j) += block.row(i).cwiseProduct(weights.segment(i * p, p).transpose());
        }
        break;
      case Compressor::conv_scalar:
        z.row(j) = taps(spec, weights).transpose() * block;
        break;
      case Compressor::conv_kv:
        for (Index i = 0; i < c; ++i) {
          z.row(j).head(d_e) +=
              block.row(i).head(d_e) * Map(weights.data() + i * d_e * d_e, d_e, d_e).transpose();
        }
        z.row(j).tail(d) = taps(spec, weights).transpose() * block.rightCols(d);
        break;
      case Compressor::snap_att:
        z.row(j) = snapshot_weights(weights, block.leftCols(d_e)).transpose() * block;
        break;
      case Compressor::max: {
        for (Index k = 0; k < p; ++k) z(j, k) = old(largest(old, j * c, c, k), k);
        const double sum = z.row(j).tail(d).sum();
        if (spec.max_value == MaxValue::norm && sum > 0.0) z.row(j).tail(d) /= sum;
        if (spec.max_value == MaxValue::mean)
          z.row(j).tail(d) = block.rightCols(d).colwise().mean();
        break;
      }
      case Compressor::decimate:
        z.row(j) = block.row(spec.keep_first ? 0 : c - 1);
        break;
      default:  // mean and sum, whose keys have gain c
        for (Index i = 0; i < c; ++i) z.row(j) += block.row(i);
        z.row(j) /= static_cast<double>(c);
    }
  }
  return z;
}

void compress_rows_backward(const CompressorSpec& spec, const Eigen::VectorXd& weights, Index d_e,
                            const Matrix& old, const Matrix& halo, const Matrix& dz,
                            Eigen::VectorXd& dweights, Matrix* dold, Matrix* dhalo) {
  const Index p = old.cols(), c = rate(spec), m = old.rows() / c, d = p - d_e;
  Matrix drows = Matrix::Zero(old.rows(), p);
  if (spec.kind == Compressor::conv) {
    drows = conv_backward(spec, weights.data(), old, dz, dweights.data());
  } else if (spec.kind == Compressor::dilated) {
    const std::vector<Matrix> layers = dilated_layers(spec, weights, old, halo);
    const Index size = spec.width * p * p, taps_at = spec.layers * size;
    const Matrix last = layers.back().bottomRows(old.rows());
    Matrix dh = Matrix::Zero(layers[0].rows(), p);
    dh.bottomRows(old.rows()) =
        conv_backward(spec, weights.data() + taps_at, last, dz, dweights.data() + taps_at);
    Index step = 1;
    for (int layer = 1; layer < spec.layers; ++layer) step *= spec.width;
    for (int layer = spec.layers - 1; layer >= 0; --layer, step /= spec.width) {
      const Matrix& h = layers[static_cast<std::size_t>(layer)];
      Matrix below = Matrix::Zero(h.rows(), p);
      for (int j = 0; j < spec.width; ++j) {
        const Index shift = j * step, rows = h.rows() - shift, at = layer * size + j * p * p;
        if (rows <= 0) continue;
        MutableMap(dweights.data() + at, p, p) += dh.bottomRows(rows).transpose() * h.topRows(rows);
        below.topRows(rows) += dh.bottomRows(rows) * Map(weights.data() + at, p, p);
      }
      dh = below;
    }
    drows = dh.bottomRows(old.rows());
    if (dhalo != nullptr && halo.rows() > 0) *dhalo += dh.topRows(halo.rows());
  }
  for (Index j = 0; j < m; ++j) {
    const auto block = old.middleRows(j * c, c);
    auto dblock = drows.middleRows(j * c, c);
    switch (spec.kind) {
      case Compressor::conv:
      case Compressor::dilated:
        break;
      case Compressor::conv_dw:
        dweights.tail(p) += dz.row(j).transpose();
        for (Index i = 0; i < c; ++i) {
          dweights.segment(i * p, p) += dz.row(j).cwiseProduct(block.row(i)).transpose();
          dblock.row(i) = dz.row(j).cwiseProduct(weights.segment(i * p, p).transpose());
        }
        break;
      case Compressor::conv_scalar: {
        const Eigen::VectorXd omega = taps(spec, weights), domega = block * dz.row(j).transpose();
        dweights += spec.softmax_taps ? softmax_backward(omega, domega) : domega;
        dblock = omega * dz.row(j);
        break;
      }
      case Compressor::conv_kv: {
        for (Index i = 0; i < c; ++i) {
          MutableMap(dweights.data() + i * d_e * d_e, d_e, d_e) +=
              dz.row(j).head(d_e).transpose() * block.row(i).head(d_e);
          dblock.row(i).head(d_e) =
              dz.row(j).head(d_e) * Map(weights.data() + i * d_e * d_e, d_e, d_e);
        }
        const Eigen::VectorXd omega = taps(spec, weights);
        dweights.tail(c) +=
            softmax_backward(omega, block.rightCols(d) * dz.row(j).tail(d).transpose());
        dblock.rightCols(d) = omega * dz.row(j).tail(d);
        break;
      }
      case Compressor::snap_att: {
        const Matrix u = block.leftCols(d_e);
        const Eigen::VectorXd P = snapshot_weights(weights, u);
        const Eigen::VectorXd dE = softmax_backward(P, block * dz.row(j).transpose());
        dweights.head(d_e) += u.transpose() * dE;
        dweights.tail(c) += dE;
        dblock = P * dz.row(j);
        dblock.leftCols(d_e) += dE * weights.head(d_e).transpose();
        break;
      }
      case Compressor::max: {
        Eigen::RowVectorXd raw(d);
        for (Index k = 0; k < d; ++k) raw[k] = old(largest(old, j * c, c, d_e + k), d_e + k);
        const double sum = raw.sum();
        Eigen::RowVectorXd dvalue = dz.row(j).tail(d);
        if (spec.max_value == MaxValue::norm && sum > 0.0) {
          const double along = dvalue.dot(raw) / (sum * sum);
          dvalue = (dvalue / sum).array() - along;
        }
        for (Index k = 0; k < p; ++k) {
          if (k >= d_e && spec.max_value == MaxValue::mean) {
            dblock.col(k).array() += dz(j, k) / static_cast<double>(c);
          } else {
            drows(largest(old, j * c, c, k), k) += k < d_e ? dz(j, k) : dvalue[k - d_e];
          }
        }
        break;
      }
      case Compressor::decimate:
        dblock.row(spec.keep_first ? 0 : c - 1) = dz.row(j);
        break;
      default:
        for (Index i = 0; i < c; ++i) dblock.row(i) = dz.row(j) / static_cast<double>(c);
    }
  }
  if (dold != nullptr) *dold += drows;
}

}  // namespace gih
