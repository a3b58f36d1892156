#include "gih/data/chain.hpp"

#include <fmt/core.h>

#include <Eigen/Dense>
#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <numeric>

#include "gih/base/error.hpp"

namespace gih {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

WindowChain::WindowChain(const Kernel& kernel) : d_(kernel.d), states_(1) {
  for (int i = 0; i < kernel.largest_lag(); ++i) {
    states_ *= static_cast<std::size_t>(d_);
    if (states_ > max_states) {
      throw InputError(
          fmt::format("stationary law of vocabulary d = {} with largest parent {}: d^r windows "
                      "must be at most {}",
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
  // Grassmann, Taksar and Heyman's elimination: a state hands its mass and its visitors on to the
  // states that are left. 1 - P(s, s) is the sum of the ways out, without a subtraction, so the
  // diagonal is never needed and held at 0. States go in their order, in which few entries fill
  // in, but one that is hardly ever left waits until nothing better is left: else a way back to it
  // would be divided by a tiny number, and a way out of it lost where a product underflows. What
  // has no way out stays: a state of each recurrent class, or several where the ways between them
  // are all below the smallest double.
  constexpr double easily = 1e-8;
  const auto n = static_cast<Eigen::Index>(states_);
  Matrix P = Matrix::Zero(n, n);
  for (std::size_t Z = 0; Z < states_; ++Z) {
    for (int k = 0; k < d_; ++k) {
      if (successor(Z, k) == Z) continue;
      P(static_cast<Eigen::Index>(Z), static_cast<Eigen::Index>(successor(Z, k))) += next(Z, k);
    }
  }
  Eigen::VectorXd mass = Eigen::VectorXd::Map(start.data(), n);
  std::vector<std::size_t> order(states_);  // the state at each place
  std::iota(order.begin(), order.end(), std::size_t{0});
  Eigen::Index s = 0;
  for (; s < n; ++s) {
    Eigen::Index chosen = s;
    double out = P.row(s).tail(n - s).sum();
    for (Eigen::Index i = s + 1; i < n && out < easily; ++i) {
      const double other = P.row(i).tail(n - s).sum();
      if (other > out) {
        chosen = i;
        out = other;
      }
    }
    if (!(out > 0.0)) break;
    if (chosen != s) {
      P.row(s).swap(P.row(chosen));
      P.col(s).swap(P.col(chosen));
      std::swap(mass(s), mass(chosen));
      std::swap(order[static_cast<std::size_t>(s)], order[static_cast<std::size_t>(chosen)]);
    }
    const Eigen::Index rest = n - s - 1;
    P.row(s).tail(rest) /= out;
    mass.tail(rest) += mass(s) * P.row(s).tail(rest).transpose();
    for (Eigen::Index i = s + 1; i < n; ++i) {
      if (!(P(i, s) > 0.0)) continue;
      P.row(i).tail(rest) += P(i, s) * P.row(s).tail(rest);
      P(i, i) = 0.0;
      P(i, s) /= out;  // from here on: visits to s for each visit to i
    }
  }
  // Around each state that stays: visits to the eliminated ones, scaled to the mass it ended with.
  const Eigen::Index eliminated = s;
  std::vector<double> result(states_, 0.0);
  Eigen::VectorXd visits(n);
  for (Eigen::Index stays = eliminated; stays < n; ++stays) {
    visits.setZero();
    visits(stays) = 1.0;
    for (Eigen::Index at = eliminated; at-- > 0;) {
      for (Eigen::Index i = at + 1; i < n; ++i) visits(at) += visits(i) * P(i, at);
      if (visits(at) > 1e100) visits /= visits(at);  // far from overflow; only ratios matter
    }
    const double total = visits.sum();
    for (Eigen::Index at = 0; at < n; ++at) {
      result[order[static_cast<std::size_t>(at)]] += mass(stays) * (visits(at) / total);
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
  // One of some 100,000 chains that hardly mix needs more than Eigen's 40 iterations a row.
  Eigen::EigenSolver<Eigen::MatrixXd> solver;
  solver.setMaxIterations(static_cast<Eigen::Index>(1000 * states_));
  solver.compute(P, false);
  if (solver.info() != Eigen::Success) {
    throw RunError("eigenvalues of the window matrix: the QR iteration did not converge");
  }
  std::vector<std::complex<double>> values(solver.eigenvalues().begin(),
                                           solver.eigenvalues().end());
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
