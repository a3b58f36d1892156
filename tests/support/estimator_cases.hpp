#pragma once
// Prompts of given tokens, and predictions read off them position by position.

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gih/base/error.hpp"
#include "gih/data/prompts.hpp"
#include "gih/theory/estimators.hpp"

namespace gih::test {

using Sequence = std::vector<Token>;
using Law = std::vector<double>;

/// Two ways to the same number in doubles; the numbers are probabilities.
constexpr double tolerance = 1e-12;

/// Prompts of given sequences, each x_1 .. x_{L+1}.
struct Given {
  DataSpec data;
  Prompts prompts;
};

inline Given given(int d, int M, const std::vector<Sequence>& rows, bool mask = false,
                   Positions positions = Positions::last) {
  auto table = std::make_shared<TokenTable>();
  table->d = d;
  table->rows = rows.size();
  table->columns = rows.front().size();
  for (const Sequence& row : rows)
    table->tokens.insert(table->tokens.end(), row.begin(), row.end());
  DataSpec data;
  data.d = d;
  data.L = table->columns - 1;
  data.parents = {1};
  data.train = rows.size();
  data.validation = 0;
  data.table = table;
  Prompts prompts = build_prompts(data, {M, mask, Target::sampled, positions}, Split::train, 1);
  return {data, std::move(prompts)};
}

inline std::vector<Sequence> random_sequences(int d, std::size_t length, std::size_t count,
                                              std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Sequence> rows(count, Sequence(length));
  for (Sequence& row : rows) {
    for (Token& token : row) token = static_cast<Token>(random() % static_cast<std::uint64_t>(d));
  }
  return rows;
}

/// Sequence number `index` of the d^length there are.
inline Sequence numbered(std::size_t index, int d, std::size_t length) {
  Sequence x(length);
  for (Token& token : x) {
    token = static_cast<Token>(index % static_cast<std::size_t>(d));
    index /= static_cast<std::size_t>(d);
  }
  return x;
}

inline std::size_t power(int d, std::size_t n) {
  std::size_t result = 1;
  for (std::size_t i = 0; i < n; ++i) result *= static_cast<std::size_t>(d);
  return result;
}

/// Means of the x_l, l = from .. L, whose lags in S are those of L + 1; positions count from 1.
/// Empty without a match.
inline Law literal_match(const Sequence& x, std::size_t L, Subset S, std::size_t from, int d) {
  Law y(static_cast<std::size_t>(d), 0.0);
  double N = 0.0;
  for (std::size_t l = from; l <= L; ++l) {
    bool match = true;
    for (std::size_t s = 1; s <= 31; ++s) {
      if (S >> (s - 1) & 1U) match = match && x[l - s - 1] == x[L + 1 - s - 1];
    }
    if (!match) continue;
    y[x[l - 1]] += 1.0;
    N += 1.0;
  }
  if (N == 0.0) return {};
  for (double& entry : y) entry /= N;
  return y;
}

inline Law literal_gih(const Sequence& x, std::size_t L, Subset S, int M, int d) {
  const auto from = static_cast<std::size_t>(M) + 1;
  const Law y = literal_match(x, L, S, from, d);
  return y.empty() ? literal_match(x, L, 0, from, d) : y;
}

inline double apart(const Matrix& y, Eigen::Index row, const Law& law) {
  double worst = 0.0;
  for (std::size_t k = 0; k < law.size(); ++k) {
    worst = std::max(worst, std::abs(y(row, static_cast<Eigen::Index>(k)) - law[k]));
  }
  return worst;
}

inline EstimatorSpec bayes_spec(std::vector<int> parents, double alpha, double floor) {
  EstimatorSpec spec;
  spec.parents = std::move(parents);
  spec.prior = PriorSpec{"dirichlet", alpha, floor, {}};
  return spec;
}

inline std::string refusal(const char* name, const EstimatorSpec& spec, const Prompts& prompts) {
  try {
    estimate(name, spec, prompts, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

inline bool holds(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

}  // namespace gih::test
