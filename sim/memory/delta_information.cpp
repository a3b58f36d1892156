#include "gih/memory/delta_information.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gih/base/error.hpp"
#include "gih/data/chain.hpp"
#include "predictions.hpp"

namespace gih {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

DeltaInformation by_enumeration(const SequenceLaw& law, const SnapshotSpec& snapshot, int n,
                                int largest_k, std::size_t max_states) {
  const Label label = snapshot_label(law, snapshot);
  const bool is_full = snapshot.kind == Snapshot::full;
  Both both(static_cast<std::size_t>(law.d()), largest_k);
  law.each(n, max_states, [&](std::span<const Token> x, double P, std::span<const double> p) {
    both.add(is_full ? "" : label(x), x.last(static_cast<std::size_t>(std::max(largest_k, 1))), P,
             p, is_full);
  });
  return both.result(is_full);
}

/// State: window of w = max(r, k) tokens and counts of all tokens but the last of the alphabet.
DeltaInformation by_counts(const SequenceLaw& law, const SnapshotSpec& snapshot, int n,
                           int largest_k) {
  const Kernel& kernel = law.mixed().front();
  const int d = law.d(), w = std::max(law.r(), largest_k);
  const auto ud = static_cast<std::size_t>(d);
  const WindowCodes codes(d, w);
  const auto windows = static_cast<std::size_t>(codes.count(w));
  std::vector<std::size_t> place(ud, 0);  // of one more of each token
  std::size_t cells = 1;
  for (std::size_t k = 0; k + 1 < ud; ++k) {
    place[k] = cells;
    cells *= static_cast<std::size_t>(n) + 1;
  }
  std::vector<double> next(windows * ud);
  const std::vector<double> start = extend_law(kernel, WindowChain(kernel).long_run_law(), w);
  std::vector<double> state(windows * cells, 0.0), moved;
  for (std::size_t Z = 0; Z < windows; ++Z) {
    const auto lags = codes.decode(codes.first(w) + Z);
    const auto row = kernel.row(kernel.parent_code(lags));
    std::copy(row.begin(), row.end(), next.begin() + static_cast<std::ptrdiff_t>(Z * ud));
    std::size_t cell = 0;
    for (const Token token : lags) cell += place[token];
    state[Z * cells + cell] = start[Z];
  }
  for (int l = w; l < n; ++l) {
    moved.assign(state.size(), 0.0);
    for (std::size_t Z = 0; Z < windows; ++Z) {
      for (std::size_t k = 0; k < ud; ++k) {
        const auto to = static_cast<std::size_t>(
            codes.advance(codes.first(w) + Z, static_cast<Token>(k)) - codes.first(w));
        const double p = next[Z * ud + k];
        const double* from = state.data() + Z * cells;
        double* into = moved.data() + to * cells + place[k];
        for (std::size_t cell = 0; cell + place[k] < cells; ++cell) into[cell] += p * from[cell];
      }
    }
    std::swap(state, moved);
  }
  // For each k: by (last k, counts) and by last k alone. The last k tokens are the low digits.
  DeltaInformation found;
  double full = 0.0;
  for (std::size_t Z = 0; Z < windows; ++Z) {
    double P = 0.0;
    for (std::size_t cell = 0; cell < cells; ++cell) P += state[Z * cells + cell];
    full += P * Predictions::of(next.data() + Z * ud, ud);
  }
  for (int k = 0; k <= largest_k; ++k) {
    const auto locals = static_cast<std::size_t>(codes.count(k));
    std::vector<double> with(locals * cells * ud, 0.0), without(locals * ud, 0.0);
    for (std::size_t Z = 0; Z < windows; ++Z) {
      const std::size_t local = Z % locals;
      for (std::size_t cell = 0; cell < cells; ++cell) {
        const double P = state[Z * cells + cell];
        if (P == 0.0) continue;
        for (std::size_t x = 0; x < ud; ++x) {
          with[(local * cells + cell) * ud + x] += P * next[Z * ud + x];
          without[local * ud + x] += P * next[Z * ud + x];
        }
      }
    }
    double of_with = 0.0, of_without = 0.0;
    for (std::size_t i = 0; i < locals * cells; ++i)
      of_with += Predictions::of(with.data() + i * ud, ud);
    for (std::size_t i = 0; i < locals; ++i)
      of_without += Predictions::of(without.data() + i * ud, ud);
    found.conditional.push_back(of_without);
    found.delta.push_back(of_without - (snapshot.kind == Snapshot::full ? full : of_with));
  }
  return found;
}

bool table_applies(const SequenceLaw& law, const SnapshotSpec& snapshot) {
  return law.is_dirichlet() && law.d() <= 256 &&
         (snapshot.kind == Snapshot::full || snapshot.kind == Snapshot::counts ||
          snapshot.kind == Snapshot::table);
}

double binomial(double n, double k) {
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1));
}

const char* name_of(DeltaMethod method) {
  static constexpr const char* names[] = {"automatic", "enumeration", "counts", "table"};
  return names[static_cast<int>(method)];
}

}  // namespace

double delta_states(const SequenceLaw& law, const SnapshotSpec& snapshot, int n, int largest_k,
                    DeltaMethod method) {
  const double d = law.d();
  if (method == DeltaMethod::enumeration) return std::pow(d, n);
  if (method == DeltaMethod::counts) {
    const bool applies =
        law.is_quenched() && (snapshot.kind == Snapshot::counts || snapshot.kind == Snapshot::full);
    // As many numbers as the method holds: it keeps a place for every vector of d - 1 counts up to
    // n.
    return applies ? std::pow(d, std::max(law.r(), largest_k)) * std::pow(n + 1.0, d - 1.0)
                   : infinity;
  }
  if (!table_applies(law, snapshot)) return infinity;
  // Tables with n - r entries in all: an upper bound, since most are no table of a sequence.
  const double rows = std::pow(d, static_cast<double>(law.parents().size()));
  const double tables = binomial(n - law.r() + rows * d - 1, rows * d - 1);
  return std::min(std::pow(d, n), std::pow(d, law.r()) * tables);
}

DeltaInformation delta_information(const SequenceLaw& law, const SnapshotSpec& snapshot, int n,
                                   int largest_k, DeltaMethod method, std::size_t max_states) {
  if (largest_k < 0 || n < std::max(law.r(), largest_k + 1)) {
    throw InputError(fmt::format("length {}: must be at least {} (largest lag) and above k = {}", n,
                                 law.r(), largest_k));
  }
  if (snapshot.block < 1) throw InputError("block 0: must be 1 or more");
  const auto most = static_cast<double>(max_states);
  std::vector<DeltaMethod> order{method};
  if (method == DeltaMethod::automatic) {
    order = {DeltaMethod::counts, DeltaMethod::enumeration, DeltaMethod::table};
  }
  int reached = 0;  // by the method of tables
  for (const DeltaMethod one : order) {
    const double states = delta_states(law, snapshot, n, largest_k, one);
    DeltaInformation found;
    if (one == DeltaMethod::table && std::isfinite(states)) {
      // The bound is far above what occurs: try, within the limit.
      TableTrial tried = by_table(law, snapshot, n, largest_k, max_states);
      reached = tried.reached;
      if (tried.found.empty()) continue;
      found = std::move(tried.found.front());
    } else if (states <= most) {
      found = one == DeltaMethod::counts ? by_counts(law, snapshot, n, largest_k)
                                         : by_enumeration(law, snapshot, n, largest_k, max_states);
      found.states = states;
    } else {
      continue;
    }
    found.method = one;
    return found;
  }
  double least = infinity;
  for (const DeltaMethod one : order)
    least = std::min(least, delta_states(law, snapshot, n, largest_k, one));
  int feasible = n;
  const auto fits = [&](int length) {
    if (length <= reached) return true;
    return std::any_of(order.begin(), order.end(), [&](DeltaMethod one) {
      return delta_states(law, snapshot, length, largest_k, one) <= most;
    });
  };
  while (feasible > std::max(law.r(), largest_k + 1) && !fits(feasible)) --feasible;
  throw InputError(fmt::format(
      "Delta I at length {}{} takes up to {:.3g} states, above {}: {}", n,
      method == DeltaMethod::automatic ? std::string() : fmt::format(" by {}", name_of(method)),
      least, max_states,
      fits(feasible) ? fmt::format("length {} is feasible", feasible)
                     : "it does not apply to this law and snapshot"));
}

}  // namespace gih
