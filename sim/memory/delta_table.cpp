// Delta I of a Dirichlet mixture over tables of transitions instead of sequences.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictions.hpp"

namespace gih {
namespace {

/// Of the states allowed, over all lengths together: some minutes.
constexpr double most_lengths = 50.0;

/// State: first r tokens, last w tokens, transition counts; its weight is the number of sequences
/// that end there, each of which has the same probability.
class TableStates {
 public:
  TableStates(const SequenceLaw& law, int w, double most)
      : law_(law),
        d_(static_cast<std::size_t>(law.d())),
        w_(static_cast<std::size_t>(w)),
        r_(static_cast<std::size_t>(law.r())),
        most_(most) {
    rows_ = kernel_rows(law.d(), law.parents().size());
    // The first w tokens one by one, counting transitions once there are r of them.
    std::vector<Token> x(w_, 0);
    for (bool more = true; more;) {
      State state(r_ + w_ + 2 * rows_ * d_, '\0');
      for (std::size_t i = 0; i < r_; ++i) state[i] = static_cast<char>(x[i]);
      for (std::size_t i = 0; i < w_; ++i) state[r_ + i] = static_cast<char>(x[i]);
      for (std::size_t l = r_; l < w_; ++l) count(state, code(std::span(x).first(l)), x[l]);
      states_[state] += 1.0;
      more = false;
      for (std::size_t i = 0; i < w_ && !more; ++i) {
        more = ++x[i] < d_;
        if (!more) x[i] = 0;
      }
    }
  }

  std::size_t size() const { return states_.size(); }

  /// False when there are more than `most` states, or have been over all lengths what takes
  /// minutes.
  bool step() {
    std::unordered_map<State, double> moved;
    for (const auto& [state, number] : states_) {
      const std::size_t Q = code(last(state));
      for (std::size_t k = 0; k < d_; ++k) {
        State to = state;
        count(to, Q, static_cast<Token>(k));
        for (std::size_t i = 1; i < w_; ++i) to[r_ + i - 1] = state[r_ + i];
        to[r_ + w_ - 1] = static_cast<char>(k);
        moved[std::move(to)] += number;
      }
      if (static_cast<double>(moved.size()) > most_) return false;
    }
    states_ = std::move(moved);
    total_ += static_cast<double>(states_.size());
    return total_ <= most_lengths * most_;
  }

  DeltaInformation result(const SnapshotSpec& snapshot, int largest_k) const {
    const bool is_full = snapshot.kind == Snapshot::full;
    Both both(d_, largest_k);
    const double alpha = law_.alpha(), all = alpha * static_cast<double>(d_);
    // In a fixed order: sums must not depend on the hash table.
    std::vector<const std::pair<const State, double>*> order;
    for (const auto& entry : states_) order.push_back(&entry);
    std::sort(order.begin(), order.end(),
              [](const auto* a, const auto* b) { return a->first < b->first; });
    std::vector<double> p(d_);
    for (const auto* entry : order) {
      const State& state = entry->first;
      double log_P = -static_cast<double>(r_) * std::log(static_cast<double>(d_));
      std::vector<double> occurs(d_, 0.0);
      for (std::size_t i = 0; i < r_; ++i) occurs[token(state[i])] += 1.0;
      for (std::size_t Q = 0; Q < rows_; ++Q) {
        double row = 0.0;
        for (std::size_t k = 0; k < d_; ++k) {
          const double N = at(state, Q, k);
          log_P += std::lgamma(alpha + N) - std::lgamma(alpha);
          row += N;
          occurs[k] += N;
        }
        log_P += std::lgamma(all) - std::lgamma(all + row);
      }
      const auto x = last(state);
      const std::size_t Q = code(x);
      double row = 0.0;
      for (std::size_t k = 0; k < d_; ++k) row += at(state, Q, k);
      for (std::size_t k = 0; k < d_; ++k) p[k] = (at(state, Q, k) + alpha) / (row + all);
      std::string label;
      if (snapshot.kind == Snapshot::counts) {
        for (const double number : occurs) label += fmt::format("{},", number);
      } else {
        label = state.substr(r_ + w_);
      }
      both.add(label, x, entry->second * std::exp(log_P), p, is_full);
    }
    DeltaInformation found = both.result(is_full);
    found.states = total_;
    return found;
  }

 private:
  using State = std::string;
  static std::size_t token(char c) { return static_cast<unsigned char>(c); }
  std::vector<Token> last(const State& state) const {
    std::vector<Token> x(w_);
    for (std::size_t i = 0; i < w_; ++i) x[i] = static_cast<Token>(token(state[r_ + i]));
    return x;
  }
  std::size_t code(std::span<const Token> x) const {
    std::size_t code = 0;
    for (const int lag : law_.parents())
      code = code * d_ + x[x.size() - static_cast<std::size_t>(lag)];
    return code;
  }
  std::size_t place(std::size_t Q, std::size_t k) const { return r_ + w_ + 2 * (Q * d_ + k); }
  double at(const State& state, std::size_t Q, std::size_t k) const {
    return static_cast<double>(token(state[place(Q, k)]) + 256 * token(state[place(Q, k) + 1]));
  }
  void count(State& state, std::size_t Q, Token k) const {
    const auto number = static_cast<std::size_t>(at(state, Q, k)) + 1;
    state[place(Q, k)] = static_cast<char>(number % 256);
    state[place(Q, k) + 1] = static_cast<char>(number / 256);
  }

  const SequenceLaw& law_;
  std::size_t d_, w_, r_, rows_ = 0;
  double most_, total_ = 0.0;
  std::unordered_map<State, double> states_;
};

}  // namespace

TableTrial by_table(const SequenceLaw& law, const SnapshotSpec& snapshot, int n, int largest_k,
                    std::size_t max_states) {
  const int w = std::max(law.r(), largest_k);
  if (std::pow(law.d(), w) > static_cast<double>(max_states)) return {};  // those it starts from
  TableStates states(law, w, static_cast<double>(max_states));
  for (int l = w; l < n; ++l) {
    const auto before = static_cast<double>(states.size());
    if (!states.step()) return {l, {}};
    // Their number grows as a power of the length that first rises to (d - 1) for each row, so this
    // is less than there will be; it spares a wait that ends in a refusal.
    const auto now = static_cast<double>(states.size());
    const double power = std::log(now / before) / std::log((l + 1.0) / l);
    if (now * std::pow(n / (l + 1.0), power) > 2.0 * static_cast<double>(max_states)) {
      return {l + 1, {}};
    }
  }
  return {n, {states.result(snapshot, largest_k)}};
}

}  // namespace gih
