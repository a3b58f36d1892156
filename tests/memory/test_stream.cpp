#include "gih/memory/stream.hpp"

#include <doctest/doctest.h>

#include <array>
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

StreamSpec spec_of(Compressor kind, std::size_t segment, std::size_t n_mem, std::size_t n_cmem,
                   std::size_t rate) {
  StreamSpec spec;
  spec.segment = segment;
  spec.n_mem = n_mem;
  spec.n_cmem = n_cmem;
  spec.compressor.kind = kind;
  spec.compressor.rate = rate;
  return spec;
}

Eigen::VectorXd plain_weights(const CompressorSpec& spec, Eigen::Index d_e, Eigen::Index d) {
  Stream none(1, Purpose::claims, 0);
  return initial_weights(spec, d_e, d, 0.0, none);
}

/// The worked example of docs/memory.md: two tokens, keys are the token before.
struct Example {
  std::vector<Token> x = tokens("010010011011100");
  Reader reader = Reader::limit(2, 1, 1);
  Items items = reader.items(x);
  StreamSpec spec = spec_of(Compressor::mean, 4, 4, 2, 2);
  ReadOptions options{.a = 2.0};

  double y1(Compressor kind, bool multiplicity, const Eigen::VectorXd& weights = {}) {
    spec.compressor.kind = kind;
    options.multiplicity = multiplicity;
    return answer(spec, items, options, weights).y[1];
  }
};

}  // namespace

TEST_CASE("worked example: state and predictions to twelve digits") {
  Example example;
  StreamingMemory stream(example.spec, {}, 2, 2);
  run_stream(stream, example.items, example.options, false);
  REQUIRE(stream.compressed().size() == 2);
  CHECK(stream.compressed().info(0).lo == 4);
  CHECK(stream.compressed().info(0).hi == 5);
  CHECK(stream.compressed().info(1).lo == 6);
  CHECK(stream.compressed().info(1).hi == 7);
  REQUIRE(stream.pending().size() == 1);
  CHECK(stream.pending().info(0).lo == 8);
  CHECK(stream.memory().info(0).lo == 9);
  CHECK(stream.memory().size() == 4);
  CHECK(stream.current().size() == 3);

  constexpr double digits = 1e-12;
  CHECK(std::abs(read_uncompressed(example.items, 16, example.options).y[1] - 0.554399582568) <
        digits);
  ReadOptions hard{.a = infinity};
  CHECK(std::abs(read_uncompressed(example.items, 16, hard).y[1] - 0.571428571429) < digits);
  const Reading mean = answer(example.spec, example.items, example.options);
  CHECK(std::abs(mean.y[1] - 0.576067731607) < digits);
  CHECK(std::abs(mean.gamma - 0.271159539086) < digits);
  CHECK(std::abs(mean.P[2] + mean.P[3] + mean.P[4] + mean.P[5] + mean.P[6] - 0.476950977994) <
        digits);
  CHECK(std::abs(mean.P[7] + mean.P[8] + mean.P[9] - 0.251889482921) < digits);
  CHECK(std::abs(example.y1(Compressor::mean, true) - 0.531156369015) < digits);
  CHECK(std::abs(example.y1(Compressor::sum, true) - 0.478864002628) < digits);
  CHECK(std::abs(example.y1(Compressor::max, true) - 0.443682352239) < digits);
  CHECK(std::abs(example.y1(Compressor::most_used, false) - 0.5) < digits);
  Eigen::VectorXd weights(2);
  weights << 0.75, 0.25;
  CHECK(std::abs(example.y1(Compressor::conv_scalar, false, weights) - 0.542063407674) < digits);
  example.spec.n_mem = 12;
  CHECK(std::abs(example.y1(Compressor::mean, false) - 0.554399582568) < digits);
}

TEST_CASE("worked example: most-used keeps items 4 and 6") {
  Example example;
  example.spec.compressor.kind = Compressor::most_used;
  StreamingMemory stream(example.spec, {}, 2, 2);
  run_stream(stream, example.items, example.options, true);
  REQUIRE(stream.compressed().size() == 2);
  CHECK(stream.compressed().info(0).lo == 4);
  CHECK(stream.compressed().info(1).lo == 6);
}

TEST_CASE("T1: a memory that holds everything is no memory, bit for bit") {
  for (const Reader& reader :
       {Reader::limit(3, 2, 3), soft_reader(3, 3), soft_reader(2, 2, false)}) {
    const auto x = random_tokens(reader.d(), 57, 1);
    const Items items = reader.items(x);
    for (const double a : {0.0, 1.0, 8.0, infinity}) {
      const ReadOptions options{.a = a};
      const StreamSpec spec = spec_of(Compressor::mean, 5, 57, 0, 3);
      const Reading kept = answer(spec, items, options);
      const Reading all = read_uncompressed(items, 58, options);
      CHECK(kept.y == all.y);
    }
  }
}

TEST_CASE("T2: rate 1 is a longer memory") {
  const Reader reader = soft_reader(3, 3);
  const auto x = random_tokens(3, 83, 2);
  const Items items = reader.items(x);
  int checked = 0;
  for (const Compressor kind : {Compressor::mean, Compressor::sum, Compressor::max,
                                Compressor::most_used, Compressor::decimate, Compressor::conv,
                                Compressor::conv_dw, Compressor::conv_kv, Compressor::dilated}) {
    for (const auto& [segment, n_mem, n_cmem] :
         {std::array<std::size_t, 3>{7, 10, 20}, {10, 0, 15}, {3, 5, 31}}) {
      const StreamSpec one = spec_of(kind, segment, n_mem, n_cmem, 1);
      const StreamSpec xl = spec_of(Compressor::drop, segment, n_mem + n_cmem, 0, 1);
      const ReadOptions options{.a = 4.0, .multiplicity = true};
      const Reading with =
          answer(one, items, options, plain_weights(one.compressor, items.d_e(), items.d));
      CHECK((with.y - answer(xl, items, options).y).cwiseAbs().maxCoeff() < 1e-14);
      ++checked;
    }
  }
  CHECK(checked == 27);
}

TEST_CASE("T6: reach, with nothing missed when leftovers are carried and gaps when they are lost") {
  for (const std::size_t c : {2UL, 3UL, 5UL}) {
    for (const std::size_t segment : {4UL, 7UL}) {
      for (const std::size_t n_mem : {0UL, 3UL, 8UL}) {
        for (const std::size_t L : {100UL, 103UL}) {
          const StreamSpec spec = spec_of(Compressor::mean, segment, n_mem, 5, c);
          const auto x = random_tokens(2, L, c);
          const Reader reader = Reader::limit(2, 1, 1);
          const Items items = reader.items(x);
          StreamingMemory stream(spec, {}, items.d_e(), items.d);
          run_stream(stream, items, {.a = 1.0}, false);
          stream.check_partition(items.first, L + 1);
          std::size_t oldest = L + 1;
          double held = 0.0;
          for (const Block& block : stream.blocks()) {
            held += block.slots->items();
            if (!block.slots->empty()) oldest = std::min(oldest, block.slots->info(0).lo);
          }
          const double formula = reach(spec, static_cast<double>(stream.current().size()),
                                       static_cast<double>(stream.pending().size()));
          CHECK(held == formula);
          CHECK(static_cast<double>(oldest) == static_cast<double>(L + 1) - formula);

          // An item inside moves the answer, the one before it does not.
          const auto moved = [&](std::size_t l) {
            Items other = items;
            other.x[l - 1] = static_cast<Token>(1 - other.x[l - 1]);
            const ReadOptions options{.a = 1.0};
            return answer(spec, other, options).y != answer(spec, items, options).y;
          };
          CHECK(moved(oldest));
          CHECK_FALSE(moved(oldest - 1));
        }
      }
    }
  }
  // floor: of each eviction of 7 items with c = 3 one is lost.
  StreamSpec spec = spec_of(Compressor::mean, 7, 7, 6, 3);
  spec.leftover = Leftover::floor;
  const auto x = random_tokens(2, 98, 9);
  const Items items = Reader::limit(2, 1, 1).items(x);
  StreamingMemory stream(spec, {}, items.d_e(), items.d);
  run_stream(stream, items, {.a = 1.0}, false);
  double held = 0.0;
  for (std::size_t i = 0; i < 6; ++i) held += stream.compressed().info(i).n;
  CHECK(held == 18.0);
  const std::size_t span = 98 + 1 - stream.compressed().info(0).lo;
  CHECK(span == 7 + 6 * 7 / 2);  // n_m + n_c n_s / floor(n_s / c)
  CHECK(stream.pending().empty());
}

TEST_CASE("T28: the positions before t are partitioned at every segment's end") {
  const auto x = random_tokens(3, 90, 3);
  const Items items = Reader::limit(3, 2, 3).items(x);
  for (const Compressor kind : {Compressor::mean, Compressor::max, Compressor::sum}) {
    for (const int levels : {1, 3}) {
      StreamSpec spec = spec_of(kind, 7, 5, 4, 2);
      spec.levels = levels;
      StreamingMemory stream(spec, {}, items.d_e(), items.d);
      int checked = 0;
      run_stream(stream, items, {.a = 2.0}, false, [&](std::size_t t, const Reading&) {
        stream.check_partition(items.first, t);
        ++checked;
      });
      CHECK(checked == 88);
    }
  }
}

TEST_CASE("T29: a cascade of six levels reaches 1016 positions with 56 slots") {
  StreamSpec spec = spec_of(Compressor::mean, 8, 8, 8, 2);
  spec.levels = 6;
  const auto x = random_tokens(2, 4000, 4);
  const Items items = Reader::limit(2, 1, 1).items(x);
  StreamingMemory stream(spec, {}, items.d_e(), items.d);
  run_stream(stream, items, {.a = 1.0}, false);
  double held = static_cast<double>(stream.memory().size()), slots = held;
  for (int level = 1; level <= 6; ++level) {
    held += stream.compressed(level).items();
    slots += static_cast<double>(stream.compressed(level).size());
  }
  CHECK(slots == 56.0);
  CHECK(held == 1016.0);
  CHECK(reach(spec, 0.0, 0.0) == 1016.0);
  CHECK(stream.compressed(6).info(0).n == 64.0);
}

TEST_CASE("a start with zeros gives mass to nothing until the slots are flushed") {
  StreamSpec spec = spec_of(Compressor::mean, 4, 4, 4, 2);
  spec.start = Start::zeros;
  const auto x = random_tokens(2, 60, 5);
  const Items items = Reader::limit(2, 1, 1).items(x);
  const ReadOptions options{.a = 2.0};
  std::vector<double> lost;
  StreamingMemory stream(spec, {}, items.d_e(), items.d);
  run_stream(stream, items, options, false, [&](std::size_t t, const Reading& reading) {
    double null_slots = 0.0, weights = 0.0, at = 0.0;
    CHECK(std::abs(reading.y.sum() - 1.0) < 1e-14);
    lost.push_back(reading.null_mass);
    if (t != 5) return;
    // All four items of the memory are old; n_null / (n_null + sum e^{a s}).
    for (const Block& block : stream.blocks()) {
      for (std::size_t i = 0; i < block.slots->size(); ++i, at += 1.0) {
        const bool match = block.slots->key(i)[x[3]] == 1.0;
        (block.slots->info(i).null ? null_slots : weights) += match ? std::exp(2.0) : 1.0;
      }
    }
    CHECK(std::abs(reading.null_mass - null_slots / (null_slots + weights)) < 1e-14);
  });
  CHECK(lost.front() > 0.5);
  CHECK(lost.back() == 0.0);
}

TEST_CASE("edges of the specification") {
  const Reader reader = Reader::limit(3, 2, 3);
  const ReadOptions options{.a = 3.0};
  const Eigen::VectorXd even = Eigen::VectorXd::Constant(3, 1.0 / 3.0);
  SUBCASE("no item at all: even") {
    for (const std::size_t L : {1UL, 2UL}) {
      const Items items = reader.items(random_tokens(3, L, 1));
      CHECK(answer(spec_of(Compressor::mean, 4, 4, 4, 2), items, options).y == even);
      CHECK(read_uncompressed(items, L + 1, options).y == even);
    }
  }
  SUBCASE("shorter than a segment: nothing is evicted") {
    const Items items = reader.items(random_tokens(3, 12, 1));
    CHECK(answer(spec_of(Compressor::mean, 20, 0, 4, 2), items, options).y ==
          read_uncompressed(items, 13, options).y);
  }
  SUBCASE("no memory: everything is compressed at the end of a segment") {
    const Items items = reader.items(random_tokens(3, 22, 1));
    StreamingMemory stream(spec_of(Compressor::mean, 10, 0, 9, 3), {}, items.d_e(), items.d);
    run_stream(stream, items, options, false);
    CHECK(stream.memory().empty());
    CHECK(stream.compressed().size() == 6);
    CHECK(stream.current().size() == 2);
  }
  SUBCASE("no compressed memory: Transformer-XL") {
    const Items items = reader.items(random_tokens(3, 60, 1));
    CHECK(answer(spec_of(Compressor::mean, 10, 20, 0, 3), items, options).y ==
          answer(spec_of(Compressor::drop, 10, 20, 9, 3), items, options).y);
    StreamingMemory stream(spec_of(Compressor::mean, 10, 20, 0, 3), {}, items.d_e(), items.d);
    run_stream(stream, items, options, false);
    CHECK(stream.compressions() == 0);
  }
  SUBCASE("a capacity below what one step makes: the newest stay") {
    const Items items = reader.items(random_tokens(3, 60, 1));
    StreamingMemory stream(spec_of(Compressor::mean, 20, 0, 3, 2), {}, items.d_e(), items.d);
    run_stream(stream, items, options, false);
    REQUIRE(stream.compressed().size() == 3);
    CHECK(stream.compressed().info(2).hi == 60);
    CHECK(stream.compressed().info(0).lo == 55);
  }
  SUBCASE("rate above the segment: several segments wait, and floor is refused") {
    StreamSpec spec = spec_of(Compressor::mean, 5, 0, 9, 12);
    const Items items = reader.items(random_tokens(3, 32, 1));
    StreamingMemory stream(spec, {}, items.d_e(), items.d);
    run_stream(stream, items, options, false);
    stream.check_partition(items.first, 33);
    CHECK(stream.compressed().size() == 2);
    spec.leftover = Leftover::floor;
    CHECK_THROWS_AS(check_stream(spec), InputError);
  }
  SUBCASE("length a multiple of the segment: the query sees no current segment") {
    const Items items = reader.items(random_tokens(3, 40, 1));
    StreamingMemory stream(spec_of(Compressor::mean, 10, 10, 9, 2), {}, items.d_e(), items.d);
    run_stream(stream, items, options, false);
    CHECK(stream.current().empty());
  }
  SUBCASE("equal scores: even over slots, over items with the multiplicity") {
    const Items items = reader.items(random_tokens(3, 44, 1));
    ReadOptions flat{.a = 0.0};
    const StreamSpec spec = spec_of(Compressor::mean, 10, 10, 9, 2);
    const Reading slots = answer(spec, items, flat);
    for (const double P : slots.P)
      CHECK(std::abs(P - 1.0 / static_cast<double>(slots.P.size())) < 1e-15);
    flat.multiplicity = true;
    const Reading all = read_uncompressed(items, 45, flat);
    StreamSpec whole = spec;
    whole.n_cmem = unlimited_slots;
    CHECK((answer(whole, items, flat).y - all.y).cwiseAbs().maxCoeff() < 1e-14);
  }
  SUBCASE("pad and ragged keep every item of an eviction") {
    const Items items = reader.items(random_tokens(3, 42, 1));
    for (const Leftover leftover : {Leftover::pad, Leftover::ragged}) {
      StreamSpec spec = spec_of(Compressor::mean, 10, 10, unlimited_slots, 3);
      spec.leftover = leftover;
      StreamingMemory stream(spec, {}, items.d_e(), items.d);
      run_stream(stream, items, options, false);
      CHECK(stream.pending().empty());
      double held = stream.memory().items() + stream.current().items();
      held += stream.compressed().items();
      CHECK(held == 40.0);
    }
  }
  SUBCASE("what cannot be is refused in one line") {
    StreamSpec spec = spec_of(Compressor::conv, 10, 10, 9, 3);
    spec.leftover = Leftover::ragged;
    CHECK_THROWS_AS(check_stream(spec), InputError);
    spec = spec_of(Compressor::group, 10, 10, 9, 3);
    spec.levels = 2;
    CHECK_THROWS_AS(check_stream(spec), InputError);
    spec = spec_of(Compressor::mean, 0, 10, 9, 3);
    CHECK_THROWS_AS(check_stream(spec), InputError);
    spec = spec_of(Compressor::mean, 10, 10, 9, 0);
    CHECK_THROWS_AS(check_stream(spec), InputError);
    spec = spec_of(Compressor::mean, 10, 10, unlimited_slots, 3);
    spec.start = Start::zeros;
    CHECK_THROWS_AS(check_stream(spec), InputError);
  }
}
