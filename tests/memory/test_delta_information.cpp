#include "gih/memory/delta_information.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "gih/base/error.hpp"
#include "support/chain_law_cases.hpp"

using namespace gih;
using namespace gih::test;

namespace {

void check_row(const std::vector<double>& found, std::initializer_list<double> wanted,
               double digits = 1e-12) {
  REQUIRE(found.size() >= wanted.size());
  std::size_t k = 0;
  for (const double value : wanted) {
    CAPTURE(k);
    CHECK(std::abs(found[k++] - value) < digits);
  }
}

}  // namespace

TEST_CASE("worked example, one kernel: full, counts and two half-sums") {
  const SequenceLaw law = worked_law();
  const auto E = DeltaMethod::enumeration;
  check_row(delta_information(law, {Snapshot::full}, 8, 2, E).delta,
            {0.156342153895, 0.140870096489, 0.0});
  check_row(delta_information(law, {Snapshot::counts}, 8, 2, E).delta,
            {0.055594216468, 0.055370645030, 0.0});
  check_row(delta_information(law, {Snapshot::blocks, 4}, 8, 2, E).delta,
            {0.096237209840, 0.092655656256, 0.0});
  const DeltaInformation longer = delta_information(law, {Snapshot::counts}, 50, 1);
  CHECK(longer.method == DeltaMethod::counts);
  check_row(longer.delta, {0.005964994150, 0.006112966712});
  CHECK(longer.delta[1] > longer.delta[0]);  // more local context, more work for the snapshot
}

TEST_CASE("worked example, Dirichlet mixture: full, transition table and counts") {
  const SequenceLaw law = SequenceLaw::dirichlet(2, {1}, 0.5);
  for (const DeltaMethod method : {DeltaMethod::enumeration, DeltaMethod::table}) {
    check_row(delta_information(law, {Snapshot::full}, 8, 2, method).delta,
              {0.253138606740, 0.215939013237, 0.087240132174});
    check_row(delta_information(law, {Snapshot::table}, 8, 2, method).delta,
              {0.234167009382, 0.215939013237, 0.087240132174});
    check_row(delta_information(law, {Snapshot::counts}, 8, 2, method).delta,
              {0.164566563946, 0.156477489234, 0.055096966517});
  }
}

TEST_CASE("T25: nothing is left beside r tokens of a known kernel, and counts know less than all") {
  for (std::uint64_t index = 0; index < 4; ++index) {
    const SequenceLaw law = SequenceLaw::kernels(
        {index % 2 == 0 ? law_kernel(2, {1, 2}, index) : law_kernel(3, {1}, index)});
    const DeltaInformation full = delta_information(law, {Snapshot::full}, 9, 4);
    for (const Snapshot kind : {Snapshot::counts, Snapshot::blocks, Snapshot::largest,
                                Snapshot::decimate, Snapshot::table}) {
      const DeltaInformation lossy = delta_information(law, {kind, 3}, 9, 4);
      for (int k = 0; k <= 4; ++k) {
        const auto at = static_cast<std::size_t>(k);
        CHECK(lossy.delta[at] <= full.delta[at] + 1e-13);
        CHECK(lossy.delta[at] >= -1e-13);
        if (k >= law.r()) {
          CHECK(std::abs(full.delta[at]) < 1e-12);
          CHECK(std::abs(lossy.delta[at]) < 1e-12);
        }
        if (k > 0) CHECK(full.delta[at] <= full.delta[at - 1] + 1e-13);
      }
    }
  }
}

TEST_CASE("T25: counting states and tables gives what the sum over all sequences gives") {
  const auto same = [](const SequenceLaw& law, Snapshot kind, int n, int k, DeltaMethod method) {
    const auto fast = delta_information(law, {kind}, n, k, method).delta;
    const auto slow = delta_information(law, {kind}, n, k, DeltaMethod::enumeration).delta;
    for (std::size_t i = 0; i < fast.size(); ++i) CHECK(std::abs(fast[i] - slow[i]) < 1e-12);
  };
  for (const Snapshot kind : {Snapshot::full, Snapshot::counts}) {
    same(SequenceLaw::kernels({law_kernel(2, {1, 3}, 7)}), kind, 11, 4, DeltaMethod::counts);
    same(SequenceLaw::kernels({law_kernel(3, {1}, 8)}), kind, 8, 2, DeltaMethod::counts);
    same(SequenceLaw::kernels({law_kernel(4, {2}, 8)}), kind, 6, 3, DeltaMethod::counts);
  }
  for (const Snapshot kind : {Snapshot::full, Snapshot::counts, Snapshot::table}) {
    same(SequenceLaw::dirichlet(2, {1, 2}, 0.3), kind, 10, 3, DeltaMethod::table);
    same(SequenceLaw::dirichlet(3, {1}, 1.0), kind, 7, 2, DeltaMethod::table);
    same(SequenceLaw::dirichlet(2, {2}, 0.5), kind, 9, 4, DeltaMethod::table);
  }
}

TEST_CASE("the transition table is sufficient, though it is far from the sequence") {
  const SequenceLaw law = SequenceLaw::dirichlet(2, {1}, 0.5);
  const auto full = delta_information(law, {Snapshot::full}, 12, 3).delta;
  const auto table = delta_information(law, {Snapshot::table}, 12, 3).delta;
  for (std::size_t k = 1; k < full.size(); ++k) CHECK(std::abs(full[k] - table[k]) < 1e-13);
  CHECK(full[3] > 0.01);  // annealed: it stays above 0 for every k
}

TEST_CASE("methods are chosen by size, and what is too large is refused with a feasible size") {
  CHECK(delta_information(worked_law(), {Snapshot::counts}, 400, 2).method == DeltaMethod::counts);
  CHECK(delta_information(worked_law(), {Snapshot::largest}, 9, 2).method ==
        DeltaMethod::enumeration);
  const SequenceLaw annealed = SequenceLaw::dirichlet(2, {1}, 0.5);
  CHECK(delta_information(annealed, {Snapshot::counts}, 60, 2).method == DeltaMethod::table);
  CHECK(delta_information(annealed, {Snapshot::counts}, 10, 2).method == DeltaMethod::enumeration);
  try {
    delta_information(worked_law(), {Snapshot::largest}, 60, 2);
    FAIL("not refused");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("length 24 is feasible") != std::string::npos);
  }
  CHECK_THROWS_AS(delta_information(worked_law(), {Snapshot::counts}, 5, 5), InputError);
  CHECK_THROWS_AS(delta_information(annealed, {Snapshot::counts}, 9, 2, DeltaMethod::counts),
                  InputError);
}

TEST_CASE("what a method would hold is refused before it is held") {
  // 6 tokens, 40 positions: 1.2 million different vectors of counts, but 41^5 places.
  const SequenceLaw law = SequenceLaw::kernels({law_kernel(6, {1}, 9)});
  CHECK_THROWS_AS(delta_information(law, {Snapshot::counts}, 40, 2, DeltaMethod::counts),
                  InputError);
  // 200^5 windows to start from.
  const SequenceLaw annealed = SequenceLaw::dirichlet(200, {1}, 0.5);
  CHECK_THROWS_AS(delta_information(annealed, {Snapshot::table}, 6, 5, DeltaMethod::table),
                  InputError);
}
