#pragma once
// Histories sorted by what is seen of them, and how well the next token is then known.

#include <cmath>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <Eigen/Core>

#include "gih/memory/delta_information.hpp"

namespace gih {

/// KL(p || q) in nats.
inline double divergence(std::span<const double> p, std::span<const double> q) {
  double sum = 0.0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (p[k] > 0.0) sum += p[k] * std::log(p[k] / q[k]);
  }
  return sum;
}

/// (y + eps) / (1 + d eps).
inline std::vector<double> smoothed(const Eigen::VectorXd& y, double eps) {
  std::vector<double> law(y.data(), y.data() + y.size());
  for (double& entry : law) entry = (entry + eps) / (1.0 + static_cast<double>(y.size()) * eps);
  return law;
}

/// Mass of a condition split by the next token: sum over conditions of |B| H(B / |B|).
class Predictions {
 public:
  explicit Predictions(std::size_t d) : d_(d) {}
  void add(const std::string& condition, double P, std::span<const double> p) {
    const auto [at, is_new] = number_.emplace(condition, number_.size());
    if (is_new) mass_.resize(mass_.size() + d_, 0.0);
    double* mass = mass_.data() + at->second * d_;
    for (std::size_t k = 0; k < d_; ++k) mass[k] += P * p[k];
  }
  double entropy() const {
    double sum = 0.0;
    for (std::size_t i = 0; i < number_.size(); ++i) sum += of(mass_.data() + i * d_, d_);
    return sum;
  }
  static double of(const double* mass, std::size_t d) {
    double all = 0.0, sum = 0.0;
    for (std::size_t k = 0; k < d; ++k) all += mass[k];
    for (std::size_t k = 0; k < d; ++k) {
      if (mass[k] > 0.0) sum -= mass[k] * std::log(mass[k] / all);
    }
    return sum;
  }

 private:
  std::size_t d_;
  std::unordered_map<std::string, std::size_t> number_;
  std::vector<double> mass_;
};

/// Conditions of one pass over all histories: for every k, with and without the snapshot.
struct Both {
  std::vector<Predictions> with, without;
  double full = 0.0;  // H(x_{n+1} | history)
  Both(std::size_t d, int largest_k)
      : with(static_cast<std::size_t>(largest_k) + 1, Predictions(d)), without(with) {}

  void add(const std::string& label, std::span<const Token> last, double P,
           std::span<const double> p, bool is_full) {
    for (std::size_t k = 0; k < with.size(); ++k) {
      const std::string local = token_text(last.last(k));
      without[k].add(local, P, p);
      if (!is_full) with[k].add(local + label, P, p);
    }
    std::vector<double> mass(p.begin(), p.end());
    for (double& entry : mass) entry *= P;
    full += Predictions::of(mass.data(), mass.size());
  }

  DeltaInformation result(bool is_full) const {
    DeltaInformation found;
    for (std::size_t k = 0; k < with.size(); ++k) {
      found.conditional.push_back(without[k].entropy());
      found.delta.push_back(found.conditional.back() - (is_full ? full : with[k].entropy()));
    }
    return found;
  }
};

struct TableTrial {
  int reached = 0;                      ///< greatest length that stays within the states
  std::vector<DeltaInformation> found;  ///< one, if that is the length asked for
};
/// By tables of transitions, for a Dirichlet mixture.
TableTrial by_table(const SequenceLaw& law, const SnapshotSpec& snapshot, int n, int largest_k,
                    std::size_t max_states);

}  // namespace gih
