#include "gih/memory/block_filter.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "gih/base/error.hpp"
#include "support/chain_law_cases.hpp"

using namespace gih;
using namespace gih::test;

namespace {

/// What the filter knows, as a label: summaries of blocks (by any full description), raw tokens.
std::string known(std::span<const Token> x, Subset S, std::size_t hidden, std::size_t blocks,
                  std::size_t c, BlockSummary summary, Subset revealed) {
  std::string text;
  for (std::size_t j = 0; j < blocks; ++j) {
    std::map<std::size_t, int> keys;
    std::map<Token, int> values;
    std::size_t key = 0;
    for (std::size_t l = hidden + j * c; l < hidden + (j + 1) * c; ++l) {
      key = 0;
      for (std::size_t lag = 1; S >> (lag - 1) != 0; ++lag) {
        if (S >> (lag - 1) & 1U) key = key * 4 + x[l - lag];
      }
      ++keys[key];
      ++values[x[l]];
      if (summary == BlockSummary::whole) text += static_cast<char>('a' + x[l]);
    }
    const bool whether = summary == BlockSummary::max;
    if (summary == BlockSummary::mean || whether) {
      for (const auto& [k, count] : keys)
        text += std::to_string(k) + ":" + std::to_string(whether ? 1 : count) + ",";
    }
    if (summary == BlockSummary::mean || summary == BlockSummary::values || whether) {
      for (const auto& [k, count] : values)
        text += std::to_string(k) + "=" + std::to_string(whether ? 1 : count) + ",";
    }
    if (summary == BlockSummary::decimate) {
      text += std::to_string(key) + "/" + std::to_string(x[hidden + (j + 1) * c - 1]);
    }
    text += ';';
  }
  const std::size_t raw = hidden + blocks * c;
  for (std::size_t lag = 1; revealed >> (lag - 1) != 0; ++lag) {
    if (revealed >> (lag - 1) & 1U) text += static_cast<char>('A' + x[raw - lag]);
  }
  for (std::size_t l = raw; l < x.size(); ++l) text += static_cast<char>('a' + x[l]);
  return text;
}

}  // namespace

TEST_CASE("T25: the filter is the sum over all sequences with the same summaries") {
  struct Case {
    SequenceLaw law;
    Subset S;
    int n, c;
    std::size_t hidden, blocks;
    Subset revealed;
  };
  const Case cases[] = {
      {worked_law(), 3, 9, 3, 2, 2, 0},
      {SequenceLaw::kernels({law_kernel(2, {1}, 1), law_kernel(2, {1}, 2), law_kernel(2, {1}, 3)}),
       1, 9, 2, 1, 3, 1},
      {SequenceLaw::kernels({law_kernel(2, {1, 2}, 4), law_kernel(2, {1, 2}, 5)}), 3, 10, 4, 2, 2,
       0},
      {SequenceLaw::kernels({law_kernel(3, {2}, 4), law_kernel(3, {2}, 5)}), 2, 7, 2, 2, 2, 2},
  };
  int checked = 0;
  for (const Case& one : cases) {
    for (const BlockSummary summary :
         {BlockSummary::nothing, BlockSummary::mean, BlockSummary::values, BlockSummary::max,
          BlockSummary::decimate, BlockSummary::whole}) {
      const BlockFilter filter(one.law, one.S, one.c, summary);
      std::map<std::string, std::vector<double>> mass;
      const auto label = [&](std::span<const Token> x) {
        return known(x, one.S, one.hidden, one.blocks, static_cast<std::size_t>(one.c), summary,
                     one.revealed);
      };
      one.law.each(one.n, default_max_states,
                   [&](std::span<const Token> x, double P, std::span<const double> p) {
                     auto& row = mass[label(x)];
                     row.resize(p.size(), 0.0);
                     for (std::size_t k = 0; k < p.size(); ++k) row[k] += P * p[k];
                   });
      double worst = 0.0, worst_full = 0.0;
      one.law.each(one.n, default_max_states,
                   [&](std::span<const Token> x, double, std::span<const double> p) {
                     const auto& row = mass[label(x)];
                     double all = 0.0;
                     for (const double entry : row) all += entry;
                     const auto found = filter.predict(x, one.hidden, one.blocks, one.revealed);
                     const auto full = filter.predict_full(x);
                     for (std::size_t k = 0; k < p.size(); ++k) {
                       worst = std::max(worst, std::abs(found[k] - row[k] / all));
                       worst_full = std::max(worst_full, std::abs(full[k] - p[k]));
                     }
                     ++checked;
                   });
      CHECK(worst < 1e-12);
      CHECK(worst_full < 1e-12);
    }
  }
  CHECK(checked > 10000);
}

TEST_CASE("blocks that are too long are refused with a length that is feasible") {
  CHECK_THROWS_AS(BlockFilter(worked_law(), 3, 30, BlockSummary::mean), InputError);
  CHECK_THROWS_AS(BlockFilter(SequenceLaw::dirichlet(2, {1}, 0.5), 1, 3, BlockSummary::mean),
                  InputError);
}
