// The six conditions on segments, by summing over all sequences of three of them.
#include <algorithm>
#include <cmath>

#include "gih/memory/delta_information.hpp"
#include "gih/memory/lag_information.hpp"
#include "gih/memory/memory_information.hpp"

namespace gih {
namespace {

Label counts_of(int d, int first, int last) {
  return [=](std::span<const Token> x) {
    std::string text(static_cast<std::size_t>(d), '\0');
    for (int l = first; l <= last; ++l) ++text[x[static_cast<std::size_t>(l - 1)]];
    return text;
  };
}

Label both(const Label& A, const Label& B) {
  return [=](std::span<const Token> x) { return A(x) + '|' + B(x); };
}

const Label nothing = [](std::span<const Token>) { return std::string(); };

}  // namespace

Conditions conditions(const SequenceLaw& law, int n, std::size_t max_states) {
  const int d = law.d(), r = law.r(), N = 3 * n;
  const SequenceTable table = sequence_table(law, N, max_states);
  const auto at = [](int l) { return tokens_label(l, l); };
  const auto I = [&](const Label& A, const Label& B, const Label& C) {
    return conditional_information(table, A, B, C);
  };
  Conditions found;
  for (int i = 1; i <= n; ++i) {
    for (int j = i + 1; j <= n; ++j) {
      for (int k = n + 1; k <= 2 * n; ++k) {
        found.coherence_printed = std::max(found.coherence_printed, I(at(i), at(j), at(k)));
      }
    }
  }
  const int boundary = std::max(1, n - r + 1);
  for (int i = 1; i < boundary; ++i) {
    for (int j = n + 1; j <= 2 * n; ++j) {
      found.coherence_boundary =
          std::max(found.coherence_boundary, I(at(i), at(j), tokens_label(boundary, n)));
    }
  }
  double within = 0.0, cross = 0.0;
  for (int i = 1; i <= n; ++i) {
    for (int j = 1; j <= n; ++j) {
      if (i < j) within += I(at(i), at(j), nothing) / (0.5 * n * (n - 1));
      cross += I(at(i), at(n + j), nothing) / (1.0 * n * n);
    }
  }
  found.within_over_cross = within / cross;

  const Label S_1 = tokens_label(1, n), s_1 = counts_of(d, 1, n);
  found.representativeness = conditional_entropy(table, S_1, s_1) / entropy(table, S_1);
  found.flow = I(S_1, tokens_label(2 * n + 1, N), counts_of(d, n + 1, 2 * n));
  // The task: the last token, from its r predecessors and the segment before them.
  const Label x = at(N), local = tokens_label(N - r, N - 1);
  const double all = I(x, S_1, local);
  found.task = all > 1e-14 ? I(x, S_1, both(s_1, local)) / all : 0.0;

  double falls = 0.0;
  std::vector<double> lags;
  for (int lag = 1; lag < N; ++lag) lags.push_back(I(at(1), at(1 + lag), nothing));
  for (std::size_t lag = 1; lag < lags.size(); ++lag)
    falls += lags[lag] < lags[lag - 1] ? 1.0 : 0.0;
  found.decreasing = falls / static_cast<double>(lags.size() - 1);

  const int i = 1, j = i + r + 1;
  if (j <= N) {
    found.overlap_one = I(at(i), at(j), at(i + 1));
    found.overlap_r = I(at(i), at(j), tokens_label(i + 1, j - 1));
  }
  const Label O = tokens_label(boundary, n);
  const double of_O = entropy(table, O);
  found.retention = of_O > 0.0 ? (of_O - conditional_entropy(table, O, s_1)) / of_O : 1.0;
  return found;
}

}  // namespace gih
