#include "gih/memory/losses.hpp"

#include <doctest/doctest.h>

#include <Eigen/Eigenvalues>
#include <limits>
#include <type_traits>

#include "gih/base/error.hpp"
#include "support/memory_cases.hpp"

using namespace gih;
using namespace gih::test;

namespace {

/// Central differences with six points: the error is of order h^6.
template <class Value>
double derivative(const Value& value, double h = 1e-3) {
  return (45.0 * (value(h) - value(-h)) - 9.0 * (value(2 * h) - value(-2 * h)) +
          (value(3 * h) - value(-3 * h))) /
         (60.0 * h);
}

/// The gradient of a loss with respect to the weights, one by one.
template <class Loss>
void check_weights(const Compressing& compressor, const Loss& loss,
                   const Eigen::VectorXd& gradient) {
  REQUIRE(gradient.size() == compressor.weights.size());
  const double scale = gradient.cwiseAbs().maxCoeff();
  for (Eigen::Index i = 0; i < gradient.size(); ++i) {
    const double numeric = derivative([&](double step) {
      Compressing moved = compressor;
      moved.weights[i] += step;
      return loss(moved);
    });
    CHECK(std::abs(numeric - gradient[i]) < 1e-6 * scale);
  }
}

/// The worked example of docs/memory.md.
struct Example {
  Compressing compressor;
  Matrix Q{{2, 0}, {0, 2}};
  Matrix old{{1, 0, 0, 1}, {0, 1, 1, 0}, {1, 0, 1, 0}, {1, 0, 0, 1}};

  Example() {
    compressor.spec.kind = Compressor::conv;
    compressor.spec.rate = 2;
    compressor.d_e = 2;
    compressor.weights = Eigen::VectorXd::Zero(36);
    for (Eigen::Index k = 0; k < 4; ++k) weight(0, k, k) = 0.5;
    weight(0, 0, 1) = 0.1;
    const double diagonal[] = {0.25, 0.75, 0.5, 0.5};
    for (Eigen::Index k = 0; k < 4; ++k) weight(1, k, k) = diagonal[k];
    weight(1, 3, 2) = -0.2;
    compressor.weights.tail(4) << 0, 0, 0.05, -0.05;
  }
  double& weight(Eigen::Index tap, Eigen::Index out, Eigen::Index in) {
    return compressor.weights[tap * 16 + out * 4 + in];
  }
  CompressorGradient gradient(const ReconstructionSpec& spec) const {
    return attention_reconstruction(compressor, Detached(Q), Detached(old), Detached(Matrix(0, 4)),
                                    spec);
  }
};

double entry(const CompressorGradient& gradient, Eigen::Index tap, Eigen::Index out,
             Eigen::Index in) {
  return gradient.dweights[tap * 16 + out * 4 + in];
}

}  // namespace

TEST_CASE("T16: the worked example of attention reconstruction") {
  const Example example;
  constexpr double digits = 1e-11;
  const CompressorGradient mse = example.gradient({});
  CHECK(std::abs(mse.loss - 0.044953435061) < digits);
  CHECK(std::abs(entry(mse, 1, 0, 0) - -0.012379922478) < digits);
  CHECK(std::abs(entry(mse, 1, 1, 1) - -0.002803202622) < digits);
  CHECK(std::abs(entry(mse, 0, 2, 3) - -0.069790398451) < digits);
  CHECK(std::abs(entry(mse, 1, 3, 2) - -0.011306099621) < digits);
  CHECK(std::abs(mse.dweights[32]) < 1e-15);  // the keys' offset: the blind spot
  CHECK(std::abs(mse.dweights[33]) < 1e-15);
  CHECK(std::abs(mse.dweights[34] - -0.034799709069) < digits);
  CHECK(std::abs(mse.dweights[35] - -0.084711805430) < digits);
  CHECK(std::abs(mse.dweights.head(32).cwiseAbs().sum() - 0.779088944889) < digits);

  const CompressorGradient fro = example.gradient({.norm = LossNorm::fro});
  CHECK(std::abs(fro.loss - 0.424044502670) < digits);
  CHECK(std::abs(entry(fro, 1, 0, 0) - -0.058389732208) < digits);
  CHECK(std::abs(entry(fro, 1, 1, 1) - -0.013221266186) < digits);
  CHECK(std::abs(entry(fro, 0, 2, 3) - -0.329165443777) < digits);
  CHECK(std::abs(entry(fro, 1, 3, 2) - -0.053325061637) < digits);
  CHECK(std::abs(fro.dweights[34] - -0.164132343894) < digits);
  CHECK(std::abs(fro.dweights[35] - -0.399542052293) < digits);

  const Attention target =
      attention(example.Q, example.old.leftCols(2), example.old.rightCols(2), Matrix::Zero(1, 4));
  CHECK(std::abs(target.O(0, 0) - 0.362109688653) < digits);
  CHECK(std::abs(target.O(1, 0) - 0.807489729485) < digits);
  // One slot says the same to both queries: at best their mean.
  const Matrix spread = target.O.rowwise() - target.O.colwise().mean();
  CHECK(std::abs(spread.squaredNorm() / 4.0 - 0.049590845193) < digits);

  Example pooled;
  pooled.compressor.spec.kind = Compressor::mean;
  pooled.compressor.weights.resize(0);
  CHECK(std::abs(pooled.gradient({}).loss - 0.056781835851) < digits);
}

TEST_CASE("T16: gradients of attention reconstruction, every compressor with weights") {
  for (const CompressorRow& row : compressor_table()) {
    if (!row.weights) continue;
    for (const LossNorm norm : {LossNorm::mse, LossNorm::fro}) {
      for (const double lambda : {0.0, 0.7}) {
        CAPTURE(row.name);
        Stream stream(3, Purpose::claims, 16);
        Compressing compressor;
        compressor.spec.kind = row.kind;
        compressor.spec.rate = 3;
        compressor.d_e = 3;
        compressor.bias = 0.4;
        compressor.weights = initial_weights(compressor.spec, 3, 2, 0.3, stream);
        const Detached Q(random_matrix(5, 3, stream)), old(random_matrix(9, 5, stream));
        const Detached halo(random_matrix(3, 5, stream));
        const ReconstructionSpec spec{norm, true, lambda};
        const auto loss = [&](const Compressing& at) {
          return attention_reconstruction(at, Q, old, halo, spec).loss;
        };
        const CompressorGradient back = attention_reconstruction(compressor, Q, old, halo, spec);
        const double scale = back.dweights.cwiseAbs().maxCoeff();
        check_weights(compressor, loss, back.dweights);
        const double numeric = derivative([&](double step) {
          Compressing moved = compressor;
          moved.bias += step;
          return loss(moved);
        });
        CHECK(std::abs(numeric - back.dbias) < 1e-6 * scale);
        if (lambda == 0.0) CHECK(std::abs(back.dbias) < 1e-14);  // blind to the slots' mass
      }
    }
  }
}

TEST_CASE("T16: the identity at rate 1 has no loss and no gradient; no residual, no gradient") {
  Stream stream(4, Purpose::claims, 16);
  Compressing compressor;
  compressor.spec.kind = Compressor::conv;
  compressor.spec.rate = 1;
  compressor.d_e = 3;
  compressor.weights = initial_weights(compressor.spec, 3, 2, 0.0, stream);
  const Detached Q(random_matrix(5, 3, stream)), old(random_matrix(4, 5, stream));
  const Detached halo(Matrix(0, 5));
  for (const LossNorm norm : {LossNorm::mse, LossNorm::fro}) {
    const CompressorGradient back =
        attention_reconstruction(compressor, Q, old, halo, {.norm = norm});
    CHECK(back.loss == 0.0);
    CHECK(back.dweights.cwiseAbs().maxCoeff() == 0.0);
  }
}

TEST_CASE("T16: losses take copies and give the compressor's gradient alone") {
  // There is no way from a Detached back to what it was copied from, and no other input.
  static_assert(std::is_same_v<decltype(std::declval<const Detached&>().value()), const Matrix&>);
  static_assert(!std::is_constructible_v<Detached, Matrix*>);
  Matrix source = Matrix::Ones(2, 2);
  const Detached copy(source);
  source(0, 0) = 5.0;
  CHECK(copy.value()(0, 0) == 1.0);
}

TEST_CASE("T17: auto-encoding: gradients, and the best linear pair is principal components") {
  Stream stream(5, Purpose::claims, 17);
  Compressing compressor;
  compressor.spec.kind = Compressor::conv;
  compressor.spec.rate = 3;
  compressor.d_e = 3;
  compressor.weights = initial_weights(compressor.spec, 3, 2, 0.3, stream);
  Eigen::VectorXd decoder = initial_decoder(compressor.spec, 5);
  for (Eigen::Index i = 0; i < decoder.size(); ++i) decoder[i] += 0.3 * stream.normal();
  const Matrix rows = random_matrix(60, 5, stream);
  const Detached old(rows), halo(Matrix(0, 5));
  for (const LossNorm norm : {LossNorm::mse, LossNorm::fro}) {
    const AutoencodingGradient back = autoencoding(compressor, decoder, old, halo, norm);
    const double scale = back.dweights.cwiseAbs().maxCoeff();
    check_weights(
        compressor,
        [&](const Compressing& at) { return autoencoding(at, decoder, old, halo, norm).loss; },
        back.dweights);
    for (Eigen::Index i = 0; i < decoder.size(); ++i) {
      const double numeric = derivative([&](double step) {
        Eigen::VectorXd moved = decoder;
        moved[i] += step;
        return autoencoding(compressor, moved, old, halo, norm).loss;
      });
      CHECK(std::abs(numeric - back.ddecoder[i]) < 1e-6 * scale);
    }
  }

  const Eigen::Map<const Matrix> blocks(rows.data(), 20, 15);
  const Eigen::RowVectorXd mean = blocks.colwise().mean();
  const Matrix centred = blocks.rowwise() - mean;
  const Matrix covariance = centred.transpose() * centred;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver{Eigen::MatrixXd(covariance)};
  const Eigen::MatrixXd top = solver.eigenvectors().rightCols(5);  // 15 x 5
  compressor.weights.setZero();
  decoder.setZero();
  for (Eigen::Index i = 0; i < 3; ++i) {
    for (Eigen::Index out = 0; out < 5; ++out) {
      for (Eigen::Index in = 0; in < 5; ++in) {
        compressor.weights[i * 25 + out * 5 + in] = top(i * 5 + in, out);
        decoder[i * 25 + out * 5 + in] = top(i * 5 + out, in);
      }
      decoder[75 + i * 5 + out] = mean[i * 5 + out];
    }
  }
  compressor.weights.tail(5) = -(top.transpose() * mean.transpose());
  const AutoencodingGradient best = autoencoding(compressor, decoder, old, halo, LossNorm::mse);
  const double tail = solver.eigenvalues().head(10).sum();
  CHECK(std::abs(best.loss - tail / (60.0 * 5.0)) < 1e-13);
  CHECK(best.dweights.cwiseAbs().maxCoeff() < 1e-13);
  CHECK(best.ddecoder.cwiseAbs().maxCoeff() < 1e-13);
}

TEST_CASE("cross-entropy through the memory: gradients by weights, features and a") {
  for (const Compressor kind :
       {Compressor::mean, Compressor::conv, Compressor::conv_kv, Compressor::dilated,
        Compressor::decimate, Compressor::snap_att, Compressor::sum}) {
    for (const int levels : {1, 2}) {
      CAPTURE(compressor_row(kind).name);
      CAPTURE(levels);
      StreamSpec spec;
      spec.segment = 4;
      spec.n_mem = 4;
      spec.n_cmem = levels == 1 ? 20 : 2;
      spec.levels = levels;
      spec.compressor.kind = kind;
      spec.compressor.rate = 2;
      const Reader reader = soft_reader(2, 2);
      const auto x = random_tokens(2, 29, 5);
      Items items = reader.items(x);
      Stream stream(6, Purpose::claims, 18);
      Compressing compressor;
      compressor.spec = spec.compressor;
      compressor.d_e = items.d_e();
      compressor.weights = initial_weights(spec.compressor, items.d_e(), 2, 0.02, stream);
      ThroughMemory through;
      through.read.a = 2.0;
      through.read.multiplicity = true;
      const MemoryGradient back = cross_entropy(items, spec, compressor, through);
      CHECK(back.questions == 26);
      for (Eigen::Index i = 0; i < compressor.weights.size(); ++i) {
        const double numeric = derivative([&](double step) {
          Compressing moved = compressor;
          moved.weights[i] += step;
          return cross_entropy(items, spec, moved, through).loss;
        });
        CHECK(std::abs(numeric - back.dweights[i]) < 1e-8);
      }
      for (Eigen::Index i = 0; i < items.u.size(); ++i) {
        const double numeric = derivative([&](double step) {
          Items moved = items;
          moved.u.data()[i] += step;
          return cross_entropy(moved, spec, compressor, through).loss;
        });
        CHECK(std::abs(numeric - back.du.data()[i]) < 1e-8);
      }
      const double numeric = derivative([&](double step) {
        ThroughMemory moved = through;
        moved.read.a += step;
        return cross_entropy(items, spec, compressor, moved).loss;
      });
      CHECK(std::abs(numeric - back.da) < 1e-8);

      // Stopped at the compressed memory nothing reaches the compressor; with U growing, more.
      through.live_compressed = false;
      CHECK(cross_entropy(items, spec, compressor, through).dweights.cwiseAbs().sum() == 0.0);
      through.live_compressed = true;
      through.segments = 100;
      const MemoryGradient all = cross_entropy(items, spec, compressor, through);
      CHECK((all.dweights - back.dweights).cwiseAbs().sum() == 0.0);
      through.segments = 1;
      const MemoryGradient near = cross_entropy(items, spec, compressor, through);
      if (compressor.weights.size() > 0) CHECK(near.dweights != all.dweights);
    }
  }
}

TEST_CASE("the loss through the memory is that of the stream's predictions") {
  StreamSpec spec;
  spec.segment = 5;
  spec.n_mem = 5;
  spec.compressor.kind = Compressor::most_used;
  const Items items = Reader::limit(3, 2, 3).items(random_tokens(3, 44, 8));
  ThroughMemory through;
  through.read.a = 4.0;
  StreamingMemory memory(spec, {}, items.d_e(), items.d);
  double loss = 0.0;
  run_stream(memory, items, through.read, true, [&](std::size_t t, const Reading& reading) {
    if (t > items.first) loss -= std::log(reading.y[items.x[t - 1]] + through.eps) / 41.0;
  });
  Compressing compressor;
  compressor.spec = spec.compressor;
  compressor.d_e = items.d_e();
  CHECK(std::abs(cross_entropy(items, spec, compressor, through).loss - loss) < 1e-13);
  through.read.a = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(cross_entropy(items, spec, compressor, through), InputError);
}
