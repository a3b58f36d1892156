#include "gih/data/chain.hpp"

#include <fmt/core.h>

#include <Eigen/Dense>
#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <numeric>

#include "gih/base/error.hpp"

namespace gih {

WindowChain::WindowChain(const Kernel& kernel) : d_(kernel.d), states_(1) {
  for (int i = 0; i < kernel.largest_lag(); ++i) {
    states_ *= static_cast<std::size_t>(d_);
    if (states_ > max_states) {
      throw InputError(fmt::format(
          "stationary law of vocabulary d = {} with largest parent {}: d^r windows must be at most {}",
          d_, kernel.largest_lag(), max_states));
    }
  }
  const WindowCodes codes(d_, kernel.largest_lag());
  next_.resize(states_ * static_cast<std::size_t>(d_));
  for (std::size_t Z = 0; Z < states_; ++Z) {
    const auto lags = codes.decode(codes.first(kernel.largest_lag()) + Z);
    const auto row = kernel.row(kernel.parent_code(lags));
    std::copy(row.begin(), row.end(), next_.begin() + static_cast<std::ptrdiff_t>(Z * row.size()));
  }
}

std::size_t WindowChain::successor(std::size_t Z, int k) const {
  return (Z * static_cast<std::size_t>(d_) + static_cast<std::size_t>(k)) % states_;
}

ChainClasses WindowChain::classes() const {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  Graph graph(states_);
  for (std::size_t Z = 0; Z < states_; ++Z) {
    for (int k = 0; k < d_; ++k) {
      if (next(Z, k) > 0.0) boost::add_edge(Z, successor(Z, k), graph);
    }
  }
  ChainClasses result;
  result.of_state.resize(states_);
  const auto count =
      static_cast<std::size_t>(boost::strong_components(graph, result.of_state.data()));
  const auto class_of = [&](std::size_t Z) { return static_cast<std::size_t>(result.of_state[Z]); };
  result.recurrent.assign(count, true);
  result.period.assign(count, 0);
  // Period of a class: the gcd of depth(Z) + 1 - depth(Z') over its transitions, depths from a
  // search that stays inside the class.
  std::vector<int> depth(states_, -1);
  std::vector<std::size_t> queue;
  for (std::size_t root = 0; root < states_; ++root) {
    if (depth[root] >= 0) continue;
    depth[root] = 0;
    queue.assign(1, root);
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const std::size_t Z = queue[head];
      for (int k = 0; k < d_; ++k) {
        if (!(next(Z, k) > 0.0)) continue;
        const std::size_t to = successor(Z, k);
        if (class_of(to) != class_of(Z)) {
          result.recurrent[class_of(Z)] = false;
        } else if (depth[to] < 0) {
          depth[to] = depth[Z] + 1;
          queue.push_back(to);
        } else {
          int& period = result.period[class_of(Z)];
          period = std::gcd(period, std::abs(depth[Z] + 1 - depth[to]));
        }
      }
    }
  }
  result.recurrent_count =
      static_cast<int>(std::count(result.recurrent.begin(), result.recurrent.end(), true));
  return result;
}

std::vector<double> WindowChain::long_run_law() const {
  const std::vector<double> uniform(states_, 1.0 / static_cast<double>(states_));
  return long_run_law(uniform);
}

std::vector<double> WindowChain::long_run_law(std::span<const double> start) const {
  const ChainClasses found = classes();
  // Transient states first, then the others; states are eliminated in this order (Grassmann, Taksar
  // and Heyman's algorithm), their mass handed on. A state without a way onward stays: the last of
  // each recurrent class, and one whose ways out are all below the smallest double.
  std::vector<std::size_t> order(states_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto is_recurrent = [&](std::size_t Z) {
    return static_cast<bool>(found.recurrent[static_cast<std::size_t>(found.of_state[Z])]);
  };
  std::stable_partition(order.begin(), order.end(), [&](auto Z) { return !is_recurrent(Z); });
  std::vector<std::size_t> place(states_);
  for (std::size_t i = 0; i < states_; ++i) place[order[i]] = i;

  const auto n = static_cast<Eigen::Index>(states_);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> P =
      Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd mass(n);
  for (std::size_t Z = 0; Z < states_; ++Z) {
    const auto from = static_cast<Eigen::Index>(place[Z]);
    mass(from) = start[Z];
    for (int k = 0; k < d_; ++k) {
      P(from, static_cast<Eigen::Index>(place[successor(Z, k)])) += next(Z, k);
    }
  }
  std::vector<Eigen::Index> stay;
  for (Eigen::Index s = 0; s < n; ++s) {
    const Eigen::Index rest = n - s - 1;
    double out = 0.0;  // 1 - P(s, s) without the subtraction
    for (Eigen::Index j = s + 1; j < n; ++j) out += P(s, j);
    if (!(out > 0.0)) {
      stay.push_back(s);
      continue;
    }
    P.row(s).tail(rest) /= out;
    mass.tail(rest) += mass(s) * P.row(s).tail(rest).transpose();
    for (Eigen::Index i = s + 1; i < n; ++i) {
      if (!(P(i, s) > 0.0)) continue;
      P.row(i).tail(rest) += P(i, s) * P.row(s).tail(rest);
      P(i, s) /= out;  // from here on: visits to s for each visit to i
    }
  }
  // Around each state that stays: visits to the eliminated ones, scaled to the mass it ended with.
  std::vector<double> result(states_, 0.0);
  Eigen::VectorXd visits(n);
  for (const Eigen::Index r : stay) {
    visits.setZero();
    visits(r) = 1.0;
    for (Eigen::Index at = r; at-- > 0;) {
      if (std::binary_search(stay.begin(), stay.end(), at)) continue;
      for (Eigen::Index i = at + 1; i <= r; ++i) visits(at) += visits(i) * P(i, at);
    }
    const double total = visits.sum();
    for (Eigen::Index at = 0; at <= r; ++at) {
      result[order[static_cast<std::size_t>(at)]] += mass(r) * (visits(at) / total);
    }
  }
  return result;
}

std::vector<std::complex<double>> WindowChain::eigenvalues() const {
  const auto n = static_cast<Eigen::Index>(states_);
  Eigen::MatrixXd P = Eigen::MatrixXd::Zero(n, n);
  for (std::size_t Z = 0; Z < states_; ++Z) {
    for (int k = 0; k < d_; ++k) {
      P(static_cast<Eigen::Index>(successor(Z, k)), static_cast<Eigen::Index>(Z)) += next(Z, k);
    }
  }
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(P, false);
  if (solver.info() != Eigen::Success) {
    throw RunError("eigenvalues of the window matrix: the QR iteration did not converge");
  }
  std::vector<std::complex<double>> values(solver.eigenvalues().begin(), solver.eigenvalues().end());
  std::stable_sort(values.begin(), values.end(),
                   [](const auto& a, const auto& b) { return std::abs(a) > std::abs(b); });
  return values;
}

double WindowChain::spectral_gap() const {
  return 1.0 - std::abs(eigenvalues()[1]);
}

std::vector<double> extend_law(const Kernel& kernel, std::span<const double> law, int M) {
  const auto d = static_cast<std::size_t>(kernel.d);
  std::vector<double> longer(law.begin(), law.end());
  for (int m = kernel.largest_lag(); m < M; ++m) {
    const WindowCodes codes(kernel.d, m);
    std::vector<double> grown(longer.size() * d);
    for (std::size_t Z = 0; Z < longer.size(); ++Z) {
      const auto row = kernel.row(kernel.parent_code(codes.decode(codes.first(m) + Z)));
      for (std::size_t k = 0; k < d; ++k) grown[Z * d + k] = longer[Z] * row[k];
    }
    longer = std::move(grown);
  }
  return longer;
}

}  // namespace gih
