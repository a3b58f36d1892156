#include "gih/memory/sequence_law.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>

#include "gih/base/error.hpp"
#include "support/chain_law_cases.hpp"

using namespace gih;
using namespace gih::test;

TEST_CASE("probabilities sum to 1 and predictions are those of the longer sequences") {
  const SequenceLaw laws[] = {
      worked_law(), SequenceLaw::dirichlet(2, {1}, 0.5), SequenceLaw::dirichlet(3, {1, 2}, 0.3),
      SequenceLaw::kernels({law_kernel(3, {2}, 1), law_kernel(3, {2}, 2), law_kernel(3, {2}, 3)})};
  for (const SequenceLaw& law : laws) {
    const int n = 5;
    const SequenceTable shorter = sequence_table(law, n, default_max_states);
    const SequenceTable longer = sequence_table(law, n + 1, default_max_states);
    double sum = 0.0;
    for (const double P : shorter.P) sum += P;
    CHECK(std::abs(sum - 1.0) < 1e-13);
    std::size_t at = 0, checked = 0;
    law.each(n, default_max_states,
             [&](std::span<const Token>, double P, std::span<const double> p) {
               double row = 0.0;
               for (const double entry : p) {
                 if (std::abs(longer.P[at++] - P * entry) < 1e-15) ++checked;
                 row += entry;
               }
               if (std::abs(row - 1.0) > 1e-13) FAIL("a prediction that does not sum to 1");
             });
    CHECK(checked == longer.count());
  }
}

TEST_CASE("too many sequences are refused with the lengths that are feasible") {
  try {
    sequence_table(worked_law(), 40, 1 << 20);
    FAIL("not refused");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("from 2 to 20 are feasible") != std::string::npos);
  }
  CHECK_THROWS_AS(sequence_table(worked_law(), 1, 1 << 20), InputError);
  CHECK_THROWS_AS(SequenceLaw::kernels({}), InputError);
}

TEST_CASE("mutual information keeps its digits where it is tiny") {
  // I of a joint law 1/4 (1 + s eps): eps^2 / 2 to leading order.
  for (const double eps : {1e-3, 1e-7, 1e-12}) {
    const std::array<double, 4> joint{0.25 * (1 + eps), 0.25 * (1 - eps), 0.25 * (1 - eps),
                                      0.25 * (1 + eps)};
    CHECK(std::abs(mutual_information(joint, 2, 2) / (eps * eps / 2) - 1.0) < 1e-3 + eps);
  }
  const std::array<double, 4> dependent{0.5, 0.0, 0.0, 0.5};
  CHECK(std::abs(mutual_information(dependent, 2, 2) - std::log(2.0)) < 1e-15);
  CHECK(std::abs(chi_square_information(dependent, 2, 2) - 1.0) < 1e-15);
}

TEST_CASE("conditional information and entropies agree with each other") {
  const SequenceTable table = sequence_table(SequenceLaw::dirichlet(2, {1}, 0.5), 7, 1 << 20);
  const Label A = tokens_label(1, 2), B = tokens_label(6, 7), C = tokens_label(4, 4);
  const double direct = conditional_information(table, A, B, C);
  const Label BC = [&](std::span<const Token> x) { return B(x) + C(x); };
  CHECK(std::abs(direct - (conditional_entropy(table, A, C) - conditional_entropy(table, A, BC))) <
        1e-13);
  // A Markov chain of order 1: a token between screens.
  const SequenceTable chain =
      sequence_table(SequenceLaw::kernels({law_kernel(3, {1}, 4)}), 6, 1 << 20);
  CHECK(conditional_information(chain, tokens_label(1, 2), tokens_label(4, 6), tokens_label(3, 3)) <
        1e-15);
  CHECK(conditional_information(chain, tokens_label(1, 2), tokens_label(4, 6), tokens_label(1, 0)) >
        1e-4);
}

TEST_CASE("texts of different tokens differ, also beyond a byte") {
  const std::vector<Token> small{1, 2}, large{257, 2}, swapped{2, 1};
  CHECK(token_text(small) == token_text(small));
  CHECK(token_text(small) != token_text(large));
  CHECK(token_text(small) != token_text(swapped));
  CHECK(tokens_label(2, 3)(std::vector<Token>{9, 1, 2}) == token_text(small));
}
