#include "gih/memory/compress.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <set>
#include <string>

#include "gih/base/error.hpp"
#include "gih/memory/weights.hpp"
#include "support/memory_cases.hpp"

using namespace gih;
using namespace gih::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Slots slots_of(const Matrix& rows, Eigen::Index d_e) {
  Slots slots(d_e, rows.cols() - d_e);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    SlotInfo info;
    info.lo = info.hi = static_cast<std::size_t>(i) + 1;
    info.cen = static_cast<double>(i) + 1.0;
    slots.push(rows.row(i).data(), rows.row(i).data() + d_e, info);
  }
  return slots;
}

Slots compressed(const CompressorSpec& spec, const Slots& from,
                 const Eigen::VectorXd& weights = {}) {
  Slots to(from.d_e(), from.d()), halo(from.d_e(), from.d());
  compress(spec, weights, from, from.size(), halo, to, nullptr);
  return to;
}

}  // namespace

TEST_CASE("the table names each compressor once, in the order of the enumeration") {
  std::set<std::string> names;
  for (const CompressorRow& row : compressor_table()) {
    CHECK(names.insert(row.name).second);
    CHECK(&compressor_row(row.kind) == &row);
    CHECK(&compressor_row(row.name) == &row);
    CompressorSpec spec;
    spec.kind = row.kind;
    CHECK((weight_count(spec, 4, 2) > 0) == row.weights);
  }
  CHECK(names.size() == 15);
  CHECK_THROWS_AS(compressor_row("average"), InputError);
}

TEST_CASE("T3: the mean of equal rows is the row") {
  Stream stream(1, Purpose::claims, 3);
  const Matrix row = random_matrix(1, 7, stream);
  Matrix rows(6, 7);
  for (Eigen::Index i = 0; i < 6; ++i) rows.row(i) = row;
  CompressorSpec spec;
  spec.rate = 3;
  const Matrix z = compress_rows(spec, {}, 4, rows, {});
  for (Eigen::Index j = 0; j < 2; ++j) CHECK((z.row(j) - row).cwiseAbs().maxCoeff() < 1e-15);
}

TEST_CASE("a slot knows how many items it stands for and where they were") {
  Stream stream(2, Purpose::claims, 3);
  const Slots from = slots_of(random_matrix(8, 5, stream), 3);
  CompressorSpec spec;
  const Slots to = compressed(spec, from);
  REQUIRE(to.size() == 2);
  CHECK(to.info(1).n == 4.0);
  CHECK(to.info(1).lo == 5);
  CHECK(to.info(1).hi == 8);
  CHECK(to.info(1).cen == 6.5);
  spec.rate = 2;
  const Slots again = compressed(spec, to);  // a second level
  CHECK(again.info(0).n == 8.0);
  CHECK(again.info(0).cen == 4.5);
  spec.kind = Compressor::sum;
  CHECK(compressed(spec, from).info(0).gain == 2.0);
  CHECK(compressed(spec, compressed(spec, from)).info(0).gain == 4.0);
}

TEST_CASE("T18: most-used keeps floor(n/c) of the group, the newest of equals, in order") {
  Stream stream(3, Purpose::claims, 3);
  for (const std::size_t n : {8UL, 9UL, 11UL}) {
    for (const bool ties : {false, true}) {
      Slots from = slots_of(random_matrix(static_cast<Eigen::Index>(n), 5, stream), 3);
      for (std::size_t i = 0; i < n; ++i) {
        from.info(i).queries = 4.0;
        from.info(i).use = ties ? 1.0 : stream.uniform();
      }
      CompressorSpec spec;
      spec.kind = Compressor::most_used;
      spec.rate = 4;
      const Slots to = compressed(spec, from);
      REQUIRE(to.size() == n / 4);
      double least = infinity;
      for (std::size_t i = 0; i < to.size(); ++i) {
        if (i > 0) CHECK(to.info(i).lo > to.info(i - 1).lo);
        if (ties) CHECK(to.info(i).lo == n - to.size() + i + 1);
        least = std::min(least, to.info(i).usage());
        CHECK(to.key(i)[0] == from.key(to.info(i).lo - 1)[0]);
        CHECK(to.info(i).n == 1.0);
      }
      std::size_t above = 0;
      for (std::size_t i = 0; i < n; ++i) above += from.info(i).usage() > least ? 1 : 0;
      CHECK(above < to.size());
      spec.keep_counts = true;
      CHECK(compressed(spec, from).info(0).n ==
            static_cast<double>(n) / static_cast<double>(n / 4));
    }
  }
}

TEST_CASE("usage without a query is 0") {
  CHECK(SlotInfo{}.usage() == 0.0);
}

TEST_CASE("T12: content pooling and the linear memory are exact for hard keys") {
  const Reader reader = Reader::limit(3, 2, 3);
  const auto x = random_tokens(3, 211, 3);
  const Items items = reader.items(x);
  for (const Compressor kind : {Compressor::group, Compressor::matrix}) {
    StreamSpec spec;
    spec.segment = spec.n_mem = 20;
    spec.compressor.kind = kind;
    for (const double a : {0.3, 3.0, 12.0, infinity}) {
      const ReadOptions options{.a = a, .multiplicity = true};
      const Reading all = read_uncompressed(items, 212, options);
      CHECK((answer(spec, items, options).y - all.y).cwiseAbs().maxCoeff() < 1e-13);
    }
    StreamingMemory stream(spec, {}, items.d_e(), items.d);
    run_stream(stream, items, {.a = 3.0}, false);
    CHECK(stream.compressed().size() <= 9);
    if (kind == Compressor::matrix) {
      REQUIRE(stream.linear() != nullptr);
      CHECK(stream.linear()->n == 178.0);  // 209 items, 31 of them still raw
      CHECK(stream.linear()->z.sum() == 178.0);
    }
  }
}

TEST_CASE("decay 1 is the linear memory, and less forgets") {
  const Items items = Reader::limit(3, 2, 3).items(random_tokens(3, 211, 3));
  StreamSpec spec;
  spec.segment = spec.n_mem = 20;
  const ReadOptions options{.a = 3.0};
  spec.compressor.kind = Compressor::matrix;
  const Reading kept = answer(spec, items, options);
  spec.compressor.kind = Compressor::matrix_decay;
  spec.compressor.decay = 1.0;
  CHECK(answer(spec, items, options).y == kept.y);
  spec.compressor.decay = 0.9;
  CHECK(answer(spec, items, options).y != kept.y);
  CHECK(answer(spec, items, options).gamma < kept.gamma);
}

TEST_CASE("T27: predictions are laws for every compressor whose values stay in the simplex") {
  int checked = 0;
  for (const Reader& reader : {Reader::limit(3, 2, 3), soft_reader(3, 3)}) {
    const Items items = reader.items(random_tokens(3, 121, 5));
    for (const CompressorRow& row : compressor_table()) {
      StreamSpec spec;
      spec.segment = 10;
      spec.n_mem = 10;
      spec.compressor.kind = row.kind;
      spec.compressor.rate = 3;
      Stream stream(4, Purpose::claims, 1);
      const Eigen::VectorXd weights = initial_weights(spec.compressor, items.d_e(), 3, 0.3, stream);
      for (const double a : {1.0, 8.0, infinity}) {
        const Reading reading = answer(spec, items, {.a = a, .multiplicity = true}, weights);
        CHECK(reading.y.minCoeff() >= 0.0);
        CHECK(std::abs(reading.y.sum() - 1.0) < 1e-13);
        if (is_convex(spec.compressor)) {
          CHECK_FALSE(reading.clipped);
          CHECK(reading.null_mass == 0.0);
        }
        ++checked;
      }
    }
  }
  CHECK(checked == 90);
}

TEST_CASE("max pooling: values normalised, raw or mean; a block of nothing is null mass") {
  Matrix rows(2, 5);
  rows << 1, 0, 1, 0, 0, 0, 1, 0, 0, 1;
  CompressorSpec spec;
  spec.kind = Compressor::max;
  spec.rate = 2;
  Matrix z = compress_rows(spec, {}, 2, rows, {});
  CHECK(z.row(0) == Eigen::RowVectorXd{{1, 1, 0.5, 0, 0.5}});
  spec.max_value = MaxValue::raw;
  z = compress_rows(spec, {}, 2, rows, {});
  CHECK(z.row(0) == Eigen::RowVectorXd{{1, 1, 1, 0, 1}});
  spec.max_value = MaxValue::mean;
  z = compress_rows(spec, {}, 2, rows, {});
  CHECK(z.row(0) == Eigen::RowVectorXd{{1, 1, 0.5, 0, 0.5}});
  spec.max_value = MaxValue::norm;
  z = compress_rows(spec, {}, 2, Matrix::Zero(2, 5), {});
  CHECK(z.cwiseAbs().maxCoeff() == 0.0);
}
