#include "gih/memory/items.hpp"

#include <doctest/doctest.h>

#include "gih/base/error.hpp"
#include "gih/memory/stream.hpp"
#include "gih/model/reference_engine.hpp"
#include "support/memory_cases.hpp"

using namespace gih;
using namespace gih::test;

TEST_CASE("reading all items of a trained reader is the model itself") {
  for (const bool mask : {true, false}) {
    const Reader reader = soft_reader(3, 3, mask);
    for (std::uint64_t index = 0; index < 5; ++index) {
      const auto x = random_tokens(3, 40, index);
      const Items items = reader.items(x);
      const Eigen::VectorXd y = read_uncompressed(items, 41, {.a = reader.a()}).y;
      const Eigen::VectorXd literal = reference_trace(reader.model(), reader.theta(), x).y;
      CHECK((y - literal).cwiseAbs().maxCoeff() < 1e-13);
    }
  }
}

TEST_CASE("a limiting reader's keys are one-hot codes of the chosen lags") {
  const Reader reader = Reader::limit(3, 3, 5);
  const auto x = random_tokens(3, 20, 1);
  const Items items = reader.items(x);
  CHECK(items.first == 4);
  CHECK(items.d_e() == 9);
  for (std::size_t l = 4; l <= 21; ++l) {
    const auto row = items.u.row(static_cast<Eigen::Index>(l) - 1);
    CHECK(row.sum() == 1.0);
    CHECK(row[x[l - 2] + 3 * x[l - 4]] == 1.0);
  }
  CHECK_THROWS_AS(Reader::limit(3, 3, 0), InputError);
  CHECK_THROWS_AS(Reader::limit(3, 3, 8), InputError);
  CHECK_THROWS_AS(Reader::limit(100, 3, 3), InputError);
}

TEST_CASE("without a halo windows are cut at the start of their segment") {
  const auto x = random_tokens(3, 24, 2);
  const Reader hard = Reader::limit(3, 2, 3), soft = soft_reader(3, 2);
  const Items whole = hard.items(x), cut = hard.items(x, Halo::none, 6);
  const Items soft_whole = soft.items(x), soft_cut = soft.items(x, Halo::none, 6);
  for (std::size_t l = 3; l <= 25; ++l) {
    const auto row = static_cast<Eigen::Index>(l) - 1;
    const bool inside = (l - 1) % 6 >= 2;
    CHECK((whole.u.row(row) == cut.u.row(row)) == inside);
    if (!inside) CHECK(cut.u.row(row).sum() == 0.0);
    if (inside) CHECK(soft_whole.u.row(row) == soft_cut.u.row(row));
  }
}

TEST_CASE("the gradient of features by c and w") {
  const Reader reader = soft_reader(3, 3);
  const auto x = random_tokens(3, 9, 3);
  Stream stream(3, Purpose::claims, 9);
  const Matrix du = random_matrix(10, reader.d_e(), stream);
  Parameters gradient = zero_parameters(reader.model());
  reader.backward(x, du, gradient);
  const auto value = [&](const Parameters& theta) {
    return Reader::trained(reader.model(), theta).items(x).u.cwiseProduct(du).sum();
  };
  const double h = 1e-6;
  const auto check = [&](auto member, double analytic) {
    Parameters up = reader.theta(), down = reader.theta();
    member(up) += h;
    member(down) -= h;
    CHECK(std::abs((value(up) - value(down)) / (2 * h) - analytic) < 1e-7);
  };
  for (Eigen::Index S = 0; S < gradient.c.size(); ++S) {
    check([S](Parameters& theta) -> double& { return theta.c[S]; }, gradient.c[S]);
  }
  for (Eigen::Index i = 0; i < gradient.w.size(); ++i) {
    check([i](Parameters& theta) -> double& { return theta.w.data()[i]; }, gradient.w.data()[i]);
  }
}
