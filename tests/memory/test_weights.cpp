#include "gih/memory/weights.hpp"

#include <doctest/doctest.h>

#include "support/memory_cases.hpp"

using namespace gih;
using namespace gih::test;

namespace {

CompressorSpec spec_of(Compressor kind, std::size_t rate) {
  CompressorSpec spec;
  spec.kind = kind;
  spec.rate = rate;
  return spec;
}

}  // namespace

TEST_CASE("T4: trained compressors start as the mean") {
  Stream stream(1, Purpose::claims, 4);
  const Matrix old = random_matrix(12, 7, stream);
  for (const std::size_t c : {1UL, 2UL, 4UL}) {
    const Matrix mean = compress_rows(spec_of(Compressor::mean, c), {}, 4, old, {});
    for (const Compressor kind : {Compressor::conv, Compressor::conv_dw, Compressor::conv_scalar,
                                  Compressor::conv_kv, Compressor::dilated, Compressor::snap_att}) {
      const CompressorSpec spec = spec_of(kind, c);
      const Eigen::VectorXd weights = initial_weights(spec, 4, 3, 0.0, stream);
      const Matrix z = compress_rows(spec, weights, 4, old, {});
      CHECK((z - mean).cwiseAbs().maxCoeff() < 2e-15);
    }
  }
}

TEST_CASE("a convolution is what its formula says") {
  Stream stream(2, Purpose::claims, 4);
  const CompressorSpec spec = spec_of(Compressor::conv, 3);
  const Matrix old = random_matrix(6, 5, stream);
  const Eigen::VectorXd weights = initial_weights(spec, 3, 2, 1.0, stream);
  const Matrix z = compress_rows(spec, weights, 3, old, {});
  for (Eigen::Index j = 0; j < 2; ++j) {
    for (Eigen::Index out = 0; out < 5; ++out) {
      double sum = weights[3 * 25 + out];
      for (Eigen::Index i = 0; i < 3; ++i) {
        for (Eigen::Index in = 0; in < 5; ++in) {
          sum += weights[i * 25 + out * 5 + in] * old(j * 3 + i, in);
        }
      }
      CHECK(std::abs(sum - z(j, out)) < 1e-14);
    }
  }
}

TEST_CASE("the receptive field of two dilated layers of two taps before four is 7") {
  Stream stream(3, Purpose::claims, 4);
  const CompressorSpec spec = spec_of(Compressor::dilated, 4);
  CHECK(spec.halo_rows() == 3);
  const Eigen::VectorXd weights = initial_weights(spec, 3, 2, 1.0, stream);
  const Matrix old = random_matrix(4, 5, stream), before = random_matrix(6, 5, stream);
  const Matrix z = compress_rows(spec, weights, 3, old, before);
  for (Eigen::Index row = 0; row < 6; ++row) {
    Matrix other = before;
    other(row, 2) += 1.0;
    const double moved = (compress_rows(spec, weights, 3, old, other) - z).cwiseAbs().maxCoeff();
    if (row >= 3) {
      CHECK(moved > 1e-6);
    } else {
      CHECK(moved == 0.0);
    }
  }
  // Blocks see each other in the same way whether they are compressed together or one by one.
  Matrix both(8, 5);
  both << old, random_matrix(4, 5, stream);
  const Matrix together = compress_rows(spec, weights, 3, both, before.bottomRows(3));
  const Matrix second = compress_rows(spec, weights, 3, both.bottomRows(4), both.middleRows(1, 3));
  CHECK((together.row(1) - second.row(0)).cwiseAbs().maxCoeff() < 1e-13);
}

TEST_CASE("gradients of every compressor of blocks, by weights and by rows") {
  for (const CompressorRow& row : compressor_table()) {
    if (!row.blocks || row.kind == Compressor::drop || row.kind == Compressor::most_used) continue;
    for (const MaxValue max_value : {MaxValue::norm, MaxValue::raw, MaxValue::mean}) {
      if (row.kind != Compressor::max && max_value != MaxValue::norm) continue;
      for (const bool soft : {false, true}) {
        if (row.kind != Compressor::conv_scalar && soft) continue;
        CAPTURE(row.name);
        Stream stream(5, Purpose::claims, 4);
        CompressorSpec spec = spec_of(row.kind, 3);
        spec.max_value = max_value;
        spec.softmax_taps = soft;
        const Eigen::VectorXd weights = initial_weights(spec, 3, 2, 0.5, stream);
        const Matrix old = random_matrix(6, 5, stream).cwiseAbs(), dz = random_matrix(2, 5, stream);
        const Matrix halo =
            row.kind == Compressor::dilated ? random_matrix(3, 5, stream) : Matrix{};
        Eigen::VectorXd dweights = Eigen::VectorXd::Zero(weights.size());
        Matrix dold = Matrix::Zero(6, 5);
        compress_rows_backward(spec, weights, 3, old, halo, dz, dweights, &dold);
        const auto loss = [&](const Eigen::VectorXd& W, const Matrix& h) {
          return compress_rows(spec, W, 3, h, halo).cwiseProduct(dz).sum();
        };
        const double step = 1e-5;
        for (Eigen::Index i = 0; i < weights.size(); ++i) {
          Eigen::VectorXd up = weights, down = weights;
          up[i] += step;
          down[i] -= step;
          CHECK(std::abs((loss(up, old) - loss(down, old)) / (2 * step) - dweights[i]) < 1e-7);
        }
        for (Eigen::Index i = 0; i < old.size(); ++i) {
          Matrix up = old, down = old;
          up.data()[i] += step;
          down.data()[i] -= step;
          CHECK(std::abs((loss(weights, up) - loss(weights, down)) / (2 * step) - dold.data()[i]) <
                1e-7);
        }
      }
    }
  }
}
