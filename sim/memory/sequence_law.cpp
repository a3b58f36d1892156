#include "gih/memory/sequence_law.hpp"

#include <fmt/format.h>

#include <cmath>
#include <unordered_map>

#include "gih/base/error.hpp"
#include "gih/data/chain.hpp"

namespace gih {
namespace {

/// (1+e) log(1+e) - e at e = ratio - 1, without cancellation near e = 0.
double divergence_term(double ratio) {
  const double e = ratio - 1.0;
  if (ratio <= 0.0) return 1.0;
  if (std::abs(e) < 1e-4) return e * e * (0.5 - e * (1.0 / 6.0 - e * (1.0 / 12.0 - e / 20.0)));
  return ratio * std::log1p(e) - e;
}

/// Lags of the token that follows x, nearest first.
std::size_t parent_code(const std::vector<int>& parents, int d, std::span<const Token> x) {
  std::size_t code = 0;
  for (const int lag : parents) {
    code = code * static_cast<std::size_t>(d) + x[x.size() - static_cast<std::size_t>(lag)];
  }
  return code;
}

}  // namespace

SequenceLaw SequenceLaw::kernels(std::vector<Kernel> kernels) {
  if (kernels.empty()) throw InputError("a mixture needs at least one kernel");
  SequenceLaw law;
  law.d_ = kernels.front().d;
  law.parents_ = kernels.front().parents;
  law.r_ = kernels.front().largest_lag();
  for (const Kernel& kernel : kernels) {
    if (kernel.d != law.d_ || kernel.parents != law.parents_) {
      throw InputError("the kernels of a mixture must have the same vocabulary and parents");
    }
    law.starts_.push_back(WindowChain(kernel).long_run_law());
  }
  law.kernels_ = std::move(kernels);
  return law;
}

SequenceLaw SequenceLaw::dirichlet(int d, std::vector<int> parents, double alpha) {
  SequenceLaw law;
  law.d_ = d;
  law.r_ = parents.back();
  law.parents_ = std::move(parents);
  law.alpha_ = alpha;
  return law;
}

void SequenceLaw::each(int n, std::size_t max_states,
                       const std::function<void(std::span<const Token>, double,
                                                std::span<const double>)>& visit) const {
  const auto feasible = static_cast<int>(std::floor(
      std::log(static_cast<double>(max_states)) / std::log(static_cast<double>(d_)) + 1e-9));
  if (n < r_ || n > feasible) {
    throw InputError(fmt::format(
        "{}^{} = {:.3g} sequences: at most {} are summed over; lengths from {} to {} are feasible",
        d_, n, std::pow(d_, n), max_states, r_, feasible));
  }
  const auto d = static_cast<std::size_t>(d_);
  const WindowCodes codes(d_, r_);
  std::vector<Token> x;
  std::vector<double> weights(kernels_.size());  // of each kernel with x so far
  std::vector<double> counts(is_dirichlet() ? kernel_rows(d_, parents_.size()) * (d + 1) : 0, 0.0);
  std::vector<double> levels(d * static_cast<std::size_t>(n + 1));

  const std::function<void(double)> go = [&](double P) {
    double* p = levels.data() + d * x.size();
    const bool started = x.size() >= static_cast<std::size_t>(r_);
    std::size_t Q = 0;
    if (started) {
      Q = parent_code(parents_, d_, x);
      double sum = 0.0;
      for (std::size_t k = 0; k < d; ++k) {
        if (is_dirichlet()) {
          p[k] = (counts[Q * (d + 1) + k] + alpha_) /
                 (counts[Q * (d + 1) + d] + alpha_ * static_cast<double>(d));
          continue;
        }
        p[k] = 0.0;
        for (std::size_t m = 0; m < kernels_.size(); ++m)
          p[k] += weights[m] * kernels_[m].row(Q)[k];
        sum += p[k];
      }
      for (std::size_t k = 0; !is_dirichlet() && k < d; ++k) p[k] /= sum;
    }
    if (x.size() == static_cast<std::size_t>(n)) return visit(x, P, {p, d});
    for (std::size_t k = 0; k < d; ++k) {
      x.push_back(static_cast<Token>(k));
      const std::vector<double> before = weights;
      if (!started) {
        // The first r tokens together: uniform, or the long-run law of each kernel.
        if (x.size() < static_cast<std::size_t>(r_)) {
          go(1.0);
        } else if (is_dirichlet()) {
          go(std::pow(static_cast<double>(d_), -r_));
        } else {
          const auto Z = static_cast<std::size_t>(codes.at(x, x.size()) - codes.first(r_));
          double sum = 0.0;
          for (std::size_t m = 0; m < weights.size(); ++m) {
            weights[m] = starts_[m][Z] / static_cast<double>(weights.size());
            sum += weights[m];
          }
          if (sum > 0.0) go(sum);
        }
      } else if (p[k] > 0.0) {
        if (is_dirichlet()) {
          counts[Q * (d + 1) + k] += 1.0;
          counts[Q * (d + 1) + d] += 1.0;
        } else {
          for (std::size_t m = 0; m < weights.size(); ++m) weights[m] *= kernels_[m].row(Q)[k];
        }
        go(P * p[k]);
        if (is_dirichlet()) {
          counts[Q * (d + 1) + k] -= 1.0;
          counts[Q * (d + 1) + d] -= 1.0;
        }
      }
      weights = before;
      x.pop_back();
    }
  };
  go(1.0);
}

namespace {

/// Sum of term(P, p q) over a joint law and the product of its marginals, where that is above 0.
template <class Term>
double against_product(std::span<const double> joint, std::size_t rows, std::size_t columns,
                       Term term) {
  std::vector<double> p(rows, 0.0), q(columns, 0.0);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      p[i] += joint[i * columns + j];
      q[j] += joint[i * columns + j];
    }
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const double product = p[i] * q[j];
      if (product > 0.0) sum += term(joint[i * columns + j], product);
    }
  }
  return sum;
}

}  // namespace

double mutual_information(std::span<const double> joint, std::size_t rows, std::size_t columns) {
  return against_product(joint, rows, columns, [](double P, double product) {
    return product * divergence_term(P / product);
  });
}

double chi_square_information(std::span<const double> joint, std::size_t rows,
                              std::size_t columns) {
  return against_product(joint, rows, columns, [](double P, double product) {
    return (P - product) * (P - product) / product;
  });
}

SequenceTable sequence_table(const SequenceLaw& law, int n, std::size_t max_states) {
  SequenceTable table;
  table.n = n;
  law.each(n, max_states, [&](std::span<const Token> x, double P, std::span<const double>) {
    table.tokens.insert(table.tokens.end(), x.begin(), x.end());
    table.P.push_back(P);
  });
  return table;
}

namespace {

/// Numbers of the values of a label, in the order in which they first occur.
struct Values {
  std::vector<std::size_t> of;  // a sequence
  std::size_t count = 0;
};

Values values_of(const SequenceTable& table, const Label& label) {
  Values values;
  std::unordered_map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < table.count(); ++i) {
    values.of.push_back(numbers.emplace(label(table.row(i)), numbers.size()).first->second);
  }
  values.count = numbers.size();
  return values;
}

}  // namespace

double conditional_information(const SequenceTable& table, const Label& A, const Label& B,
                               const Label& C) {
  const Values a = values_of(table, A), b = values_of(table, B), c = values_of(table, C);
  // Within each value of C a dense table of those values of A and B that occur there.
  struct Part {
    std::unordered_map<std::size_t, std::size_t> rows, columns;
    std::vector<std::size_t> members;
    double P = 0.0;
  };
  std::vector<Part> parts(c.count);
  for (std::size_t i = 0; i < table.count(); ++i) {
    Part& part = parts[c.of[i]];
    part.rows.emplace(a.of[i], part.rows.size());
    part.columns.emplace(b.of[i], part.columns.size());
    part.members.push_back(i);
    part.P += table.P[i];
  }
  double sum = 0.0;
  for (const Part& part : parts) {
    std::vector<double> joint(part.rows.size() * part.columns.size(), 0.0);
    for (const std::size_t i : part.members) {
      joint[part.rows.at(a.of[i]) * part.columns.size() + part.columns.at(b.of[i])] +=
          table.P[i] / part.P;
    }
    sum += part.P * mutual_information(joint, part.rows.size(), part.columns.size());
  }
  return sum;
}

double entropy(const SequenceTable& table, const Label& A) {
  const Values a = values_of(table, A);
  std::vector<double> P(a.count, 0.0);
  for (std::size_t i = 0; i < table.count(); ++i) P[a.of[i]] += table.P[i];
  double sum = 0.0;
  for (const double p : P) sum -= p > 0.0 ? p * std::log(p) : 0.0;
  return sum;
}

double conditional_entropy(const SequenceTable& table, const Label& A, const Label& C) {
  const Label both = [&](std::span<const Token> x) { return A(x) + '|' + C(x); };
  return entropy(table, both) - entropy(table, C);
}

std::string token_text(std::span<const Token> x) {
  std::string text;
  for (const Token token : x) {
    text += static_cast<char>(token & 0xff);
    text += static_cast<char>(token >> 8);
  }
  return text;
}

Label tokens_label(int first, int last) {
  return [first, last](std::span<const Token> x) {
    if (last < first) return std::string();
    return token_text(
        x.subspan(static_cast<std::size_t>(first - 1), static_cast<std::size_t>(last - first + 1)));
  };
}

}  // namespace gih
