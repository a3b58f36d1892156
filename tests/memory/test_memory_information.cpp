#include "gih/memory/memory_information.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "gih/base/error.hpp"
#include "gih/memory/delta_information.hpp"
#include "support/chain_law_cases.hpp"

using namespace gih;
using namespace gih::test;

namespace {

StreamSpec small_stream(Compressor kind, std::size_t c) {
  StreamSpec spec;
  spec.segment = 4;
  spec.n_mem = 2;
  spec.compressor.kind = kind;
  spec.compressor.rate = c;
  return spec;
}

}  // namespace

TEST_CASE("T26: what is lost is lost by the memory or by the reading") {
  for (const SequenceLaw& law :
       {SequenceLaw::dirichlet(2, {1}, 0.5),
        SequenceLaw::kernels({law_kernel(2, {1}, 1), law_kernel(2, {1}, 2)})}) {
    const Reader reader = Reader::limit(2, 1, 1);
    for (const Compressor kind :
         {Compressor::drop, Compressor::mean, Compressor::max, Compressor::decimate,
          Compressor::most_used, Compressor::group, Compressor::matrix}) {
      for (const double a : {2.0, 8.0}) {
        const LossSplit split = split_loss(law, reader, small_stream(kind, 2), {.a = a}, 11, 1e-3);
        CHECK(std::abs(split.total - split.information - split.reading) < 1e-12);
        CHECK(split.information > -1e-13);
        CHECK(split.reading > 0.0);
        if (kind == Compressor::drop) CHECK(split.information > 1e-3);
      }
    }
  }
}

TEST_CASE("pairs of two tokens lose nothing by being averaged, since their windows overlap") {
  const SequenceLaw law = SequenceLaw::dirichlet(2, {1}, 0.5);
  const LossSplit split = split_loss(law, Reader::limit(2, 1, 1), small_stream(Compressor::mean, 2),
                                     {.a = 4.0}, 9, 1e-3);
  CHECK(std::abs(split.information) < 1e-13);
  CHECK(split.reading > 0.01);
}

TEST_CASE("the sampled split agrees with the exact one, for any number of threads") {
  const SequenceLaw law = SequenceLaw::kernels(
      {law_kernel(2, {1}, 1), law_kernel(2, {1}, 2), law_kernel(2, {1}, 3, 0.3)});
  for (const Compressor kind : {Compressor::drop, Compressor::mean, Compressor::decimate}) {
    const StreamSpec stream = small_stream(kind, 3);
    const LossSplit exact = split_loss(law, Reader::limit(2, 1, 1), stream, {.a = 4.0}, 13, 1e-3);
    const LossSplit sampled = sample_loss(law, 1, 1, stream, {.a = 4.0}, 13, 1e-3, 4000, 1, 1);
    CHECK(std::abs(sampled.total - exact.total) < 4.0 * sampled.total_error);
    CHECK(std::abs(sampled.information - exact.information) <
          4.0 * sampled.information_error + 1e-12);
    CHECK(std::abs(sampled.reading - exact.reading) < 4.0 * sampled.reading_error);
    const LossSplit threads = sample_loss(law, 1, 1, stream, {.a = 4.0}, 13, 1e-3, 4000, 1, 3);
    CHECK(threads.total == sampled.total);
    CHECK(threads.information == sampled.information);
  }
  CHECK_THROWS_AS(sample_loss(law, 1, 1, small_stream(Compressor::most_used, 2), {.a = 4.0}, 13,
                              1e-3, 10, 1, 1),
                  InputError);
}

TEST_CASE(
    "conditions: a known kernel is screened by r tokens, one is too few; a mixture never is") {
  const Conditions quenched = conditions(worked_law(), 4);
  CHECK(quenched.coherence_boundary < 1e-14);
  CHECK(quenched.coherence_printed > 1e-3);
  CHECK(quenched.overlap_r < 1e-15);
  CHECK(quenched.overlap_one > 1e-5);
  CHECK(quenched.within_over_cross > 1.0);
  CHECK(quenched.decreasing < 1.0);
  CHECK(quenched.retention < 1.0);
  CHECK(quenched.task == 0.0);  // nothing to be known beside the last r tokens
  const Conditions annealed = conditions(SequenceLaw::dirichlet(2, {1}, 0.5), 4);
  CHECK(annealed.coherence_boundary > 1e-3);
  CHECK(annealed.flow > 1e-3);
  CHECK(annealed.task > 0.0);
  CHECK(annealed.task < 1.0);
  CHECK_THROWS_AS(conditions(worked_law(), 9), InputError);
}

TEST_CASE("a sufficient snapshot need not represent its segment") {
  const double wanted[] = {0.25, 0.45};
  const int lengths[] = {10, 20};
  const SequenceLaw law = SequenceLaw::dirichlet(2, {1}, 0.5);
  for (int i = 0; i < 2; ++i) {
    const SequenceTable table = sequence_table(law, lengths[i], std::size_t{1} << 21);
    const Label S = tokens_label(1, lengths[i]),
                transitions = snapshot_label(law, {Snapshot::table});
    const Label first_and_table = [&](std::span<const Token> x) {
      return tokens_label(1, 1)(x) + transitions(x);
    };
    const double share = conditional_entropy(table, S, first_and_table) / entropy(table, S);
    CHECK(std::abs(share - wanted[i]) < 0.01);
  }
}
