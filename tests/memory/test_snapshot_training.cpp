#include "gih/memory/snapshot_training.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "gih/base/error.hpp"
#include "support/memory_cases.hpp"

using namespace gih;
using namespace gih::test;

namespace {

struct Case {
  SnapSpec spec;
  SnapWeights weights;
  Items items;
  std::vector<SnapSegment> segments;
  ReadOptions options{.a = 1.3};

  double loss() const {
    return snapshot_cross_entropy(spec, weights, items, segments, 1, options, 1e-3).loss;
  }
};

Case soft_case(const SnapSpec& spec, bool multiplicity) {
  Case found;
  found.spec = spec;
  Stream stream(31, Purpose::claims, spec.snapshots);
  found.weights = {random_matrix(static_cast<Eigen::Index>(spec.snapshots), 5, stream),
                   0.3 * random_matrix(1, 6, stream).transpose(), 0.8};
  found.items.d = 3;
  found.items.x = random_tokens(3, 27, 6);
  found.items.u = random_matrix(28, 5, stream);
  found.options.multiplicity = multiplicity;
  Stream sizes(31, Purpose::claims, 99);
  found.segments = snap_segments(spec, 27, sizes);
  return found;
}

/// Central difference of the loss against one entry.
template <class Move>
double slope(const Case& of, const Move& move) {
  constexpr double h = 1e-5;
  Case up = of, down = of;
  move(up) += h;
  move(down) -= h;
  return (up.loss() - down.loss()) / (2.0 * h);
}

void check_close(double found, double wanted) {
  CHECK(std::abs(found - wanted) < 1e-6 * std::max(1e-2, std::abs(wanted)));
}

}  // namespace

TEST_CASE("gradients agree with finite differences") {
  const std::initializer_list<SnapSpec> specs{
      {.segment = 6},
      {.segment = 6, .snapshots = 3, .log_Z = true},
      {.segment = 6, .snapshots = 2, .overlap = 2, .share_overlap = true, .skip = 1},
      {.segment = 6, .snapshots = 2, .local = Local::last_k, .k = 5, .inclusive = false},
      {.segment = 6, .sizes = SegmentSizes::uniform, .spread = 3, .log_Z = true}};
  for (const SnapSpec& spec : specs) {
    for (const bool multiplicity : {false, true}) {
      const Case of = soft_case(spec, multiplicity);
      const SnapGradient found =
          snapshot_cross_entropy(spec, of.weights, of.items, of.segments, 1, of.options, 1e-3);
      CHECK(std::abs(found.loss - of.loss()) < 1e-15);
      for (Eigen::Index i = 0; i < found.dq.size(); ++i) {
        check_close(found.dq.data()[i],
                    slope(of, [&](Case& c) -> double& { return c.weights.q.data()[i]; }));
      }
      for (Eigen::Index i = 0; i < found.drho.size(); ++i) {
        check_close(found.drho[i], slope(of, [&](Case& c) -> double& { return c.weights.rho[i]; }));
      }
      for (Eigen::Index i = 0; i < found.du.size(); i += 3) {
        check_close(found.du.data()[i],
                    slope(of, [&](Case& c) -> double& { return c.items.u.data()[i]; }));
      }
      check_close(found.dscale, slope(of, [](Case& c) -> double& { return c.weights.scale; }));
      check_close(found.da, slope(of, [](Case& c) -> double& { return c.options.a; }));
    }
  }
}

TEST_CASE("training lowers the loss, by attention alone or with everything") {
  DataSpec data;
  data.prior.alpha = 0.3;
  data.L = 60;
  data.train = 200;
  const SnapSpec spec{.segment = 12, .snapshots = 4};
  SnapTraining training;
  training.steps = 120;
  training.batch = 16;
  training.rate = 0.02;
  const auto mean = [](const std::vector<double>& of, std::size_t from) {
    return std::accumulate(of.begin() + static_cast<std::ptrdiff_t>(from),
                           of.begin() + static_cast<std::ptrdiff_t>(from + 20), 0.0) /
           20.0;
  };
  const Reader reader = soft_reader(3, 3);
  const ReadOptions options{.a = 3.0};
  for (const bool all : {false, true}) {
    training.all = all;
    const TrainedSnapshots found = train_snapshots(reader, data, spec, options, training);
    REQUIRE(found.loss.size() == 120);
    CHECK(mean(found.loss, 100) < mean(found.loss, 0) - 0.005);
    CHECK((found.theta.c == reader.theta().c) == !all);  // Lemma 1's setting: frozen
    CHECK((found.theta.w == reader.theta().w) == !all);
    CHECK((found.a == 3.0) == !all);
    const TrainedSnapshots again = train_snapshots(reader, data, spec, options, training);
    CHECK(again.weights.q == found.weights.q);
  }
  CHECK(train_snapshots(reader, data, spec, options, training, [](std::size_t step) {
          return step < 5;
        }).loss.size() == 5);
}

TEST_CASE("what cannot be trained is refused") {
  DataSpec data;
  data.L = 40;
  data.train = 10;
  const Reader reader = Reader::limit(3, 2, 1);
  SnapTraining training;
  training.all = true;
  CHECK_THROWS_AS(train_snapshots(reader, data, {}, ReadOptions{}, training), InputError);
  training.all = false;
  CHECK_THROWS_AS(
      train_snapshots(reader, data, {}, {.a = std::numeric_limits<double>::infinity()}, training),
      InputError);
  CHECK_THROWS_AS(train_snapshots(reader, data, {.overlap_logit = 1.0}, ReadOptions{}, training),
                  InputError);
  data.L.reset();
  CHECK_THROWS_AS(train_snapshots(reader, data, {}, ReadOptions{}, training), InputError);
}
