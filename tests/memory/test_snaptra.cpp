#include "gih/memory/snaptra.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "gih/base/error.hpp"
#include "support/memory_cases.hpp"

using namespace gih;
using namespace gih::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Stream sizes_stream() {
  return Stream(3, Purpose::claims, 77);
}

/// Items at every position, with soft keys.
Items soft_items(std::size_t L) {
  Items items;
  items.d = 3;
  items.x = random_tokens(3, L, 5);
  Stream stream(5, Purpose::claims, L);
  items.u = random_matrix(static_cast<Eigen::Index>(L) + 1, 6, stream);
  return items;
}

Reading snapped(const SnapSpec& spec, const SnapWeights& weights, const Items& items, std::size_t t,
                const ReadOptions& options) {
  Stream stream = sizes_stream();
  const auto segments = snap_segments(spec, items.length(), stream);
  return read_snapshots(snap_memory(spec, weights, items, segments, t, options), items, t, options);
}

}  // namespace

TEST_CASE("T20: even snapshots are mean pooling of whole segments without a memory") {
  const Items items = soft_items(57);
  SnapSpec spec;
  StreamSpec stream;
  stream.segment = spec.segment = stream.compressor.rate = 8;
  stream.n_mem = 0;
  for (const bool multiplicity : {false, true}) {
    const ReadOptions options{.a = 1.7, .multiplicity = multiplicity};
    const Reading pooled = answer(stream, items, options);
    const Reading found = snapped(spec, mean_weights(spec, 6), items, 58, options);
    CHECK((found.y - pooled.y).cwiseAbs().maxCoeff() < 1e-15);
    CHECK(found.P.size() == pooled.P.size());
    CHECK(std::abs(found.gamma - pooled.gamma) < 1e-15);
  }
}

TEST_CASE("T21: a snapshot made for the query is exact, and one a pattern is exact for all") {
  const Reader reader = Reader::limit(3, 2, 0b11);
  const Items items = reader.items(random_tokens(3, 200, 9));
  const std::size_t t = 201;
  SnapSpec spec;
  spec.segment = 200;
  for (const double a : {0.3, 3.0, 12.0}) {
    const ReadOptions options{.a = a};
    const Reading whole = read_uncompressed(items, t, options);
    // The encoder's query is the decoder's.
    const SnapWeights oracle{a * items.u.row(200), {}, 1.0};
    CHECK((snapped(spec, oracle, items, t, options).y - whole.y).cwiseAbs().maxCoeff() < 1e-15);
    for (const Local local : {Local::in_segment, Local::last_k}) {
      for (const std::size_t segment : {7U, 20U, 200U}) {
        SnapSpec all;
        all.segment = segment;
        all.snapshots = 9;
        all.log_Z = true;
        all.local = local;
        all.k = 5;
        all.inclusive = false;
        // Under last_k what lies between the last whole segment and the last k items is not seen.
        if (local == Local::last_k && 200 % segment > all.k) continue;
        const Reading exact = snapped(all, oracle_weights(9), items, t, options);
        CHECK((exact.y - whole.y).cwiseAbs().maxCoeff() < 1e-13);
      }
    }
  }
  // In the limit of a too, where snapshots of patterns that do not occur must not answer.
  SnapSpec all;
  all.snapshots = 9;
  all.log_Z = true;
  const ReadOptions options{.a = infinity};
  const Reading head = read_uncompressed(items, t, options);
  const Reading found = snapped(all, oracle_weights(9), items, t, {.a = 60.0});
  CHECK((found.y - head.y).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("T23: an overlap of M tokens gives every window exactly once") {
  const int M = 3;
  const Reader reader = Reader::limit(3, M, 0b101);
  const std::vector<Token> x = random_tokens(3, 100, 4);
  const Items whole = reader.items(x);
  SnapSpec spec;
  spec.segment = 13;
  spec.overlap = spec.skip = static_cast<std::size_t>(M);
  Stream stream = sizes_stream();
  const auto segments = snap_segments(spec, x.size(), stream);
  std::map<std::size_t, int> seen;
  for (const SnapSegment& segment : segments) {
    // Each segment alone: windows are cut at its start, so that it has no items before M.
    const Items own = reader.items(std::span(x).subspan(segment.lo - 1, segment.size()));
    CHECK(own.first == static_cast<std::size_t>(M) + 1);
    for (std::size_t i = own.first; i <= segment.size(); ++i) {
      const std::size_t l = segment.lo + i - 1;
      ++seen[l];
      CHECK(own.u.row(static_cast<Eigen::Index>(i) - 1) ==
            whole.u.row(static_cast<Eigen::Index>(l) - 1));
    }
  }
  CHECK(seen.size() == x.size() - static_cast<std::size_t>(M));
  for (const auto& [position, times] : seen) CHECK(times == 1);
}

TEST_CASE("T23: means of overlapping segments move by at most the share that is new") {
  const Items items = soft_items(120);
  for (const std::size_t overlap : {0U, 4U, 9U}) {
    SnapSpec spec;
    spec.segment = 10;
    spec.overlap = overlap;
    Stream stream = sizes_stream();
    const auto segments = snap_segments(spec, items.length(), stream);
    const SnapMemory memory =
        snap_memory(spec, mean_weights(spec, 6), items, segments, 121, ReadOptions{});
    const double bound = 2.0 * (1.0 - static_cast<double>(overlap) / 10.0);
    double largest = 0.0;
    for (std::size_t j = 0; j + 2 < memory.snapshots.size(); ++j) {  // the last may be short
      const Eigen::Map<const Eigen::VectorXd> a(memory.snapshots.value(j), 3),
          b(memory.snapshots.value(j + 1), 3);
      largest = std::max(largest, (a - b).cwiseAbs().sum());
    }
    CHECK(largest <= bound + 1e-14);
    CHECK(largest > 0.1 * bound);
  }
}

TEST_CASE("overlaps: counts, shared counts, and the logit of what lies in them") {
  const Items items = soft_items(40);
  SnapSpec spec;
  spec.segment = 10;
  spec.overlap = 5;
  Stream stream = sizes_stream();
  const auto segments = snap_segments(spec, 40, stream);
  REQUIRE(segments.size() == 7);
  const auto items_in = [&] {
    return snap_memory(spec, mean_weights(spec, 6), items, segments, 41, ReadOptions{})
        .snapshots.items();
  };
  CHECK(items_in() == 70.0);  // 40 items, the inner ones twice
  spec.share_overlap = true;
  CHECK(std::abs(items_in() - 40.0) < 1e-12);
  spec.overlap_logit = 0.5;
  const ReadOptions options{.a = 2.0};
  const SnapMemory with = snap_memory(spec, mean_weights(spec, 6), items, segments, 41, options);
  // By hand: the first snapshot shares 6 .. 10 with the second.
  double sum = 0.0;
  for (Eigen::Index l = 6; l <= 10; ++l) {
    sum += std::exp(2.0 * items.u.row(40).dot(items.u.row(l - 1)));
  }
  CHECK(std::abs(with.snapshots.info(0).bias - 0.5 * std::log(sum / 5.0)) < 1e-12);
}

TEST_CASE("shared overlaps lose nothing where the end cuts the last segment") {
  const Reader reader = Reader::limit(3, 2, 0b11);
  SnapSpec spec;
  spec.log_Z = spec.share_overlap = true;
  spec.overlap = 10;
  for (const std::size_t L : {200U, 203U, 209U}) {
    const Items items = reader.items(random_tokens(3, L, 12));
    Stream stream = sizes_stream();
    const auto segments = snap_segments(spec, L, stream);
    const SnapMemory memory =
        snap_memory(spec, oracle_weights(9), items, segments, L + 1, ReadOptions{.a = 3.0});
    const Reading found = read_snapshots(memory, items, L + 1, {.a = 3.0});
    const Reading whole = read_uncompressed(items, L + 1, {.a = 3.0});
    CHECK((found.y - whole.y).cwiseAbs().maxCoeff() < 1e-13);
  }
}

TEST_CASE("sizes of segments") {
  SnapSpec spec;
  spec.segment = 12;
  Stream fixed = sizes_stream();
  const auto even = snap_segments(spec, 120, fixed);
  CHECK(even.size() == 10);
  CHECK(std::abs(size_variation(even)) < 1e-12);
  spec.sizes = SegmentSizes::uniform;
  spec.spread = 6;
  Stream one = sizes_stream();
  const auto uniform = snap_segments(spec, 60000, one);
  for (std::size_t j = 0; j + 1 < uniform.size(); ++j) {
    CHECK(uniform[j].size() >= 6);
    CHECK(uniform[j].size() <= 18);
    CHECK(uniform[j + 1].lo == uniform[j].hi + 1);
  }
  CHECK(std::abs(size_variation(uniform) - 14.0 / 144.0) < 0.01);  // (2v+1)^2 - 1 over 12 n^2
  spec.sizes = SegmentSizes::geometric;
  Stream two = sizes_stream();
  CHECK(std::abs(size_variation(snap_segments(spec, 60000, two)) - 11.0 / 12.0) < 0.1);
}

TEST_CASE("edges: no item, no segment yet, bad sizes") {
  const Reader reader = Reader::limit(3, 3, 1);
  const Items items = reader.items(random_tokens(3, 3, 1));
  SnapSpec spec;
  spec.segment = 2;
  const Reading none = snapped(spec, mean_weights(spec, 3), items, 4, ReadOptions{});
  CHECK((none.y.array() == 1.0 / 3.0).all());
  spec.segment = 50;
  const Items longer = reader.items(random_tokens(3, 20, 1));
  const ReadOptions options{.a = 3.0};
  CHECK(snapped(spec, mean_weights(spec, 3), longer, 11, options).y ==
        read_uncompressed(longer, 11, options).y);
  for (const auto& bad : std::initializer_list<SnapSpec>{
           {.segment = 0},
           {.snapshots = 0},
           {.segment = 5, .overlap = 5},
           {.segment = 5, .sizes = SegmentSizes::uniform, .spread = 5}}) {
    CHECK_THROWS_AS(check_snaptra(bad), InputError);
  }
}
