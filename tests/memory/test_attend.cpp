#include "gih/memory/attend.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "support/memory_cases.hpp"

using namespace gih;
using namespace gih::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Slots with random keys, simplex values and counts, at positions first ...
Slots random_slots(std::size_t count, std::size_t first, Stream& stream) {
  Slots slots(5, 3);
  for (std::size_t i = 0; i < count; ++i) {
    const Matrix key = random_matrix(1, 5, stream);
    std::array<double, 3> value{};
    stream.dirichlet(1.0, value);
    SlotInfo info;
    info.n = 1.0 + std::floor(3.0 * stream.uniform());
    info.lo = info.hi = first + i;
    info.cen = static_cast<double>(first + i);
    slots.push(key.data(), value.data(), info);
  }
  return slots;
}

}  // namespace

TEST_CASE("T5, T7, T8: weights sum to 1, order does not matter, blocks are joined by a gate") {
  Stream stream(1, Purpose::claims, 1);
  const Slots A = random_slots(7, 1, stream), B = random_slots(11, 8, stream);
  const Matrix u = random_matrix(1, 5, stream);
  for (const bool multiplicity : {false, true}) {
    for (const double a : {0.5, 3.0, 20.0, infinity}) {
      const ReadOptions options{.a = a, .multiplicity = multiplicity};
      const std::array<Block, 2> both{{{&A, true}, {&B, false}}};
      const Reading all = attend(u.data(), 20, both, nullptr, options, 3);
      CHECK(std::abs(std::accumulate(all.P.begin(), all.P.end(), 0.0) - 1.0) < 1e-14);
      CHECK(std::abs(all.y.sum() - 1.0) < 1e-14);

      Slots backwards(5, 3);
      for (const Slots* slots : {&B, &A}) {
        for (std::size_t i = slots->size(); i-- > 0;) {
          backwards.push(slots->key(i), slots->value(i), slots->info(i));
        }
      }
      const std::array<Block, 1> one{{{&backwards, false}}};
      const Reading turned = attend(u.data(), 20, one, nullptr, options, 3);
      CHECK((turned.y - all.y).cwiseAbs().maxCoeff() < 1e-15);

      if (std::isinf(a)) continue;
      const std::array<Block, 1> only_A{{{&A, true}}}, only_B{{{&B, false}}};
      const Reading of_A = attend(u.data(), 20, only_A, nullptr, options, 3);
      const Reading of_B = attend(u.data(), 20, only_B, nullptr, options, 3);
      const double gamma = 1.0 / (1.0 + std::exp(of_B.log_Z_rest - of_A.log_Z_compressed));
      CHECK(std::abs(gamma - all.gamma) < 1e-14);
      CHECK((gamma * of_A.y + (1.0 - gamma) * of_B.y - all.y).cwiseAbs().maxCoeff() < 2e-15);
      ReadOptions halves = options;
      halves.combine = Combine::mean;
      const Reading mean = attend(u.data(), 20, both, nullptr, halves, 3);
      CHECK((0.5 * of_A.y + 0.5 * of_B.y - mean.y).cwiseAbs().maxCoeff() < 2e-15);
      halves.combine = Combine::fixed;
      halves.gamma = 0.2;
      const Reading fixed = attend(u.data(), 20, both, nullptr, halves, 3);
      CHECK((0.2 * of_A.y + 0.8 * of_B.y - fixed.y).cwiseAbs().maxCoeff() < 2e-15);
      halves.combine = Combine::count;
      const Reading count = attend(u.data(), 20, both, nullptr, halves, 3);
      CHECK((7.0 / 18.0 * of_A.y + 11.0 / 18.0 * of_B.y - count.y).cwiseAbs().maxCoeff() < 2e-15);
    }
  }
}

TEST_CASE("infinite a: the mean over the slots of the top score, ties within 1e-12") {
  Slots slots(1, 2);
  const double scores[] = {0.3, 1.0, 1.0 - 1e-13, 0.9999};
  const double values[4][2] = {{1, 0}, {1, 0}, {0, 1}, {1, 0}};
  for (int i = 0; i < 4; ++i) slots.push(&scores[i], values[i], {});
  const double u = 1.0;
  const std::array<Block, 1> blocks{{{&slots, false}}};
  const Reading reading = attend(&u, 5, blocks, nullptr, {.a = infinity}, 2);
  CHECK(reading.y[0] == 0.5);
  CHECK(reading.P[0] == 0.0);
  CHECK(reading.P[3] == 0.0);
}

TEST_CASE("T19: distances") {
  const Reader reader = soft_reader(3, 3);
  const Items items = reader.items(random_tokens(3, 87, 7));
  StreamSpec spec;
  spec.segment = 10;
  spec.n_mem = 15;
  spec.n_cmem = 9;
  spec.compressor.rate = 4;
  SUBCASE("slope 0: all equal") {
    const Reading none = answer(spec, items, {.a = 3.0});
    for (const Distance distance : {Distance::slot, Distance::c_offset, Distance::nearest}) {
      CHECK(answer(spec, items, {.a = 3.0, .distance = distance}).y == none.y);
    }
  }
  SUBCASE("rate 1: ranks are distances") {
    spec.compressor.rate = 1;
    const Reading slot = answer(spec, items, {.a = 3.0, .distance = Distance::slot, .slope = 0.1});
    const Reading offset =
        answer(spec, items, {.a = 3.0, .distance = Distance::c_offset, .slope = 0.1});
    CHECK((slot.y - offset.y).cwiseAbs().maxCoeff() < 1e-15);
  }
  SUBCASE("c_offset: the distance in closed form") {
    StreamingMemory stream(spec, {}, items.d_e(), items.d);
    run_stream(stream, items, {.a = 3.0}, false);
    const std::size_t t = 88, t_0 = 81;
    const double c = 4.0, pending = static_cast<double>(stream.pending().size());
    const std::size_t count = stream.compressed().size();
    for (std::size_t j = 1; j <= count; ++j) {
      const double delta = static_cast<double>(t) - stream.compressed().info(count - j).cen;
      const double formula =
          static_cast<double>(t - t_0) + 15.0 + pending + c * (static_cast<double>(j) - 0.5) + 0.5;
      CHECK(delta == formula);
    }
  }
  SUBCASE("linear, centroid, mean pooling: the logit of a slot is the mean of its members'") {
    StreamingMemory stream(spec, {}, items.d_e(), items.d);
    run_stream(stream, items, {.a = 3.0}, false);
    const double* u = items.u.row(87).data();
    const SlotInfo& info = stream.compressed().info(2);
    double mean = 0.0, slot = 0.0;
    for (Eigen::Index e = 0; e < items.d_e(); ++e)
      slot += 3.0 * u[e] * stream.compressed().key(2)[e];
    slot -= 0.1 * (88.0 - info.cen);
    for (std::size_t l = info.lo; l <= info.hi; ++l) {
      mean += (3.0 * items.u.row(static_cast<Eigen::Index>(l) - 1).dot(items.u.row(87)) -
               0.1 * (88.0 - static_cast<double>(l))) /
              4.0;
    }
    CHECK(std::abs(slot - mean) < 1e-13);
  }
  SUBCASE("a table of ranks that falls linearly is the slope") {
    std::vector<double> table;
    for (int delta = 0; delta <= 100; ++delta) table.push_back(-0.1 * delta);
    const Reading by_table =
        answer(spec, items, {.a = 3.0, .distance = Distance::slot, .table = table});
    const Reading slope = answer(spec, items, {.a = 3.0, .distance = Distance::slot, .slope = 0.1});
    CHECK((by_table.y - slope.y).cwiseAbs().maxCoeff() < 1e-15);
  }
}

TEST_CASE("attention over matrices is that over slots, and its gradient is right") {
  Stream stream(2, Purpose::claims, 1);
  const Matrix Q = random_matrix(4, 5, stream), K = random_matrix(6, 5, stream),
               V = random_matrix(6, 3, stream), bias = random_matrix(1, 6, stream),
               G = random_matrix(4, 3, stream);
  const Eigen::VectorXd g = random_matrix(4, 1, stream);
  const auto loss = [&](const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& b) {
    const Attention forward = attention(q, k, v, b);
    return forward.O.cwiseProduct(G).sum() + forward.log_Z.dot(g);
  };
  const Attention forward = attention(Q, K, V, bias);
  const AttentionGradient back = attention_backward(G, g, Q, K, V, forward);
  const AttentionGradient alone = attention_backward(G, {}, Q, K, V, forward);
  for (Eigen::Index t = 0; t < 4; ++t) CHECK(std::abs(alone.dE.row(t).sum()) < 1e-14);
  const double h = 1e-5;
  const auto check = [&](const Matrix& at, const Matrix& gradient, auto value) {
    for (Eigen::Index i = 0; i < at.size(); ++i) {
      Matrix up = at, down = at;
      up.data()[i] += h;
      down.data()[i] -= h;
      CHECK(std::abs((value(up) - value(down)) / (2 * h) - gradient.data()[i]) < 1e-8);
    }
  };
  check(Q, back.dQ, [&](const Matrix& q) { return loss(q, K, V, bias); });
  check(K, back.dK, [&](const Matrix& k) { return loss(Q, k, V, bias); });
  check(V, back.dV, [&](const Matrix& v) { return loss(Q, K, v, bias); });
  check(bias, back.dE.colwise().sum(), [&](const Matrix& b) { return loss(Q, K, V, b); });

  Slots slots(5, 3);
  for (Eigen::Index i = 0; i < 6; ++i) {
    SlotInfo info;
    info.bias = bias(0, i);
    slots.push(K.row(i).data(), V.row(i).data(), info);
  }
  const std::array<Block, 1> blocks{{{&slots, false}}};
  ReadOptions options{.a = 1.0};
  for (Eigen::Index t = 0; t < 4; ++t) {
    const Reading reading = attend(Q.row(t).data(), 9, blocks, nullptr, options, 3);
    for (Eigen::Index i = 0; i < 6; ++i) {
      CHECK(std::abs(reading.P[static_cast<std::size_t>(i)] - forward.P(t, i)) < 1e-15);
    }
    CHECK(std::abs(reading.log_Z_rest - forward.log_Z[t]) < 1e-14);
  }
}
