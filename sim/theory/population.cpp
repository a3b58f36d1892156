#include "gih/theory/population.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "gih/base/error.hpp"
#include "gih/base/window.hpp"
#include "gih/data/prompts.hpp"
#include "gih/model/table_engine.hpp"
#include "gih/theory/information.hpp"

namespace gih {
namespace {

template <class Body>
void each_head(Subset S, Body body) {
  for (; S != 0; S &= S - 1) body(std::countr_zero(S) + 1);
}

}  // namespace

ExactChoice choose_exactly(const std::vector<WindowLaw>& laws, const ModelSpec& model) {
  const std::vector<Subset> subsets = model.subsets();
  ExactChoice choice;
  for (const Subset S : subsets) {
    double sum = 0.0;
    for (const WindowLaw& law : laws) sum += modified_information(law.marginal(S), law.d);
    choice.information.push_back(sum / static_cast<double>(laws.size()));
  }
  const auto best = std::max_element(choice.information.begin(), choice.information.end());
  choice.index = static_cast<std::size_t>(best - choice.information.begin());
  choice.S_star = subsets[choice.index];
  choice.I_star = *best;
  choice.gap = std::numeric_limits<double>::infinity();
  for (std::size_t S = 0; S < subsets.size(); ++S) {
    if (S != choice.index) choice.gap = std::min(choice.gap, *best - choice.information[S]);
  }
  choice.decided = choice.S_star != 0 && choice.gap > 1e-9 * choice.I_star;
  return choice;
}

double required_gap(double k, int M, double gap, double I_star) {
  return std::log(M - 1) - std::log(std::expm1(std::log1p(gap / (k * I_star)) / (2.0 * M)));
}

double smallest_gap(const Matrix& w, Subset S) {
  double smallest = std::numeric_limits<double>::infinity();
  each_head(S, [&](int h) {
    for (Eigen::Index j = 0; j < w.cols(); ++j) {
      if (j != h - 1) smallest = std::min(smallest, w(h - 1, h - 1) - w(h - 1, j));
    }
  });
  return smallest;
}

Matrix lag_attention(const Matrix& w) {
  Matrix sigma(w.rows(), w.cols());
  for (Eigen::Index h = 0; h < w.rows(); ++h) {
    sigma.row(h) = (w.row(h).array() - w.row(h).maxCoeff()).exp();
    sigma.row(h) /= sigma.row(h).sum();
  }
  return sigma;
}

double focus(const Matrix& w, Subset S) {
  const Matrix sigma = lag_attention(w);
  double product = 1.0;
  each_head(S, [&](int h) { product *= sigma(h - 1, h - 1) * sigma(h - 1, h - 1); });
  return product;
}

std::unique_ptr<Objective> limit_objective(const std::vector<Kernel>& kernels,
                                           const ModelSpec& model) {
  DataSpec data;
  data.d = model.d;
  data.parents = kernels.front().parents;
  data.L.reset();
  data.prior.name = "file";
  data.prior.kernels = kernels;
  data.train = kernels.size();
  PromptSpec prompts;
  prompts.M = model.M;
  return make_table_engine(model, {.eps = 0.0}, build_prompts(data, prompts, Split::train, 1), 1);
}

std::vector<Eigen::VectorXd> runge_kutta(const Rate& rate, const Eigen::VectorXd& y, double T,
                                         int points, double tolerance) {
  const auto run = [&](int steps) {
    const double h = T / points / steps;
    std::vector<Eigen::VectorXd> states{y};
    Eigen::VectorXd now = y, k1(y.size()), k2(y.size()), k3(y.size()), k4(y.size());
    for (int i = 0; i < points * steps; ++i) {
      const double t = i * h;
      rate(t, now, k1);
      rate(t + 0.5 * h, now + 0.5 * h * k1, k2);
      rate(t + 0.5 * h, now + 0.5 * h * k2, k3);
      rate(t + h, now + h * k3, k4);
      now += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
      if ((i + 1) % steps == 0) states.push_back(now);
    }
    return states;
  };
  std::vector<Eigen::VectorXd> coarse = run(1);
  for (int steps = 2; steps <= 1 << 14; steps *= 2) {
    std::vector<Eigen::VectorXd> fine = run(steps);
    double apart = 0.0;
    for (std::size_t i = 0; i < fine.size(); ++i) {
      const double moved = (fine[i] - coarse[i]).cwiseAbs().maxCoeff();
      if (!(moved <= apart)) apart = moved;  // also where it is not a number
    }
    if (apart <= tolerance) return fine;
    coarse = std::move(fine);
  }
  throw RunError(
      fmt::format("population flow to t = {}: no step is small enough for {}", T, tolerance));
}

std::vector<double> stage_one_gain(const std::vector<WindowLaw>& laws, const ModelSpec& model,
                                   const Matrix& w) {
  std::vector<double> gain(model.subsets().size(), 0.0);
  for (const WindowLaw& law : laws) {
    const std::vector<double> g = weighted_information(law, model, w);
    for (std::size_t S = 0; S < gain.size(); ++S) {
      gain[S] += g[S] / static_cast<double>(laws.size());
    }
  }
  return gain;
}

Eigen::VectorXd stage_one_rate(const Eigen::VectorXd& c, const std::vector<double>& gain,
                               double a) {
  const Eigen::Map<const Eigen::VectorXd> G(gain.data(), c.size());
  const double C_D = c.squaredNorm();
  const double mean = c.cwiseAbs2().dot(G) / C_D;
  return 2.0 * a / C_D * c.cwiseProduct((G.array() - mean).matrix());
}

Eigen::VectorXd stage_one_weights(const Eigen::VectorXd& c, const std::vector<double>& gain,
                                  double a, double t) {
  const Eigen::Map<const Eigen::VectorXd> G(gain.data(), c.size());
  const double speed = 4.0 * a * t / c.squaredNorm();
  const Eigen::VectorXd growth = (speed * (G.array() - G.maxCoeff())).exp();
  const Eigen::VectorXd p = c.cwiseAbs2().cwiseProduct(growth);
  return p / p.sum();
}

StageTwo::StageTwo(const std::vector<WindowLaw>& laws, Subset S_star)
    : M_(laws.front().M), S_star_(S_star) {
  if (M_ > 8)
    throw InputError(fmt::format("window M = {}: the stage II limit needs at most 8", M_));
  const int d = laws.front().d;
  const WindowCodes codes(d, M_);
  std::vector<std::vector<Token>> lags;
  for (std::size_t X = 0; X < laws.front().windows(); ++X) {
    lags.push_back(codes.decode(codes.first(M_) + X));
  }
  std::vector<std::vector<double>> windows, tokens;
  for (const WindowLaw& law : laws) {
    windows.push_back(law.of_windows());
    tokens.push_back(law.of_tokens());
  }
  std::map<std::uint64_t, double> excess;
  for (std::size_t X = 0; X < lags.size(); ++X) {
    for (std::size_t Z = 0; Z < lags.size(); ++Z) {
      std::uint64_t match = 0;
      for (std::size_t bit = 0, i = 0; i < lags[X].size(); ++i) {
        for (std::size_t j = 0; j < lags[Z].size(); ++j, ++bit) {
          if (lags[X][i] == lags[Z][j]) match |= std::uint64_t{1} << bit;
        }
      }
      double sum = 0.0;
      for (std::size_t n = 0; n < laws.size(); ++n) {
        for (int k = 0; k < d; ++k) {
          const double mu = tokens[n][static_cast<std::size_t>(k)];
          if (!(mu > 0.0)) continue;
          sum += (laws[n].at(X, k) - windows[n][X] * mu) * (laws[n].at(Z, k) - windows[n][Z] * mu) /
                 mu;
        }
      }
      excess[match] += sum / static_cast<double>(laws.size());
    }
  }
  for (const auto& [match, sum] : excess) patterns_.push_back({match, sum});
}

/// <v^(h)(X), v^(h)(Z)>.
double StageTwo::inner(const Pattern& pattern, const Matrix& sigma, int h) const {
  double sum = 0.0;
  for (int i = 1; i <= M_; ++i) {
    for (int j = 1; j <= M_; ++j) {
      if (matches(pattern, i, j)) sum += sigma(h - 1, i - 1) * sigma(h - 1, j - 1);
    }
  }
  return sum;
}

/// prod_{h' in S* \ h} <v^(h')(X), v^(h')(Z)>.
double StageTwo::others(const Pattern& pattern, const Matrix& sigma, int h) const {
  double product = 1.0;
  each_head(S_star_ & ~(Subset{1} << (h - 1)),
            [&](int other) { product *= inner(pattern, sigma, other); });
  return product;
}

Eigen::VectorXd StageTwo::gain(const Matrix& w, int h) const {
  const Matrix sigma = lag_attention(w);
  Eigen::VectorXd g = Eigen::VectorXd::Zero(M_);
  for (const Pattern& pattern : patterns_) {
    const double weight = pattern.excess * others(pattern, sigma, h);
    for (int i = 1; i <= M_; ++i) {
      for (int j = 1; j <= M_; ++j) {
        // b = Z v(X) + X v(Z) (E.14): the lag i of Z against those of X, and the other way round.
        const int hits = matches(pattern, j, i) + matches(pattern, i, j);
        g(i - 1) += weight * sigma(h - 1, j - 1) * hits;
      }
    }
  }
  return g;
}

double StageTwo::tau(const Matrix& w, int h, int i) const {
  const Matrix sigma = lag_attention(w);
  double sum = 0.0;
  for (const Pattern& pattern : patterns_) {
    double look = 0.0;
    for (int j = 1; j <= M_; ++j) {
      if (matches(pattern, j, i)) look += sigma(h - 1, j - 1);
    }
    sum += pattern.excess * others(pattern, sigma, h) * look;
  }
  return sum;
}

double StageTwo::psi(int h, int i) const {
  double sum = 0.0;
  for (const Pattern& pattern : patterns_) {
    bool all = matches(pattern, h, i);
    each_head(S_star_ & ~(Subset{1} << (h - 1)),
              [&](int other) { all = all && matches(pattern, other, other); });
    if (all) sum += pattern.excess;
  }
  return sum;
}

double StageTwo::gain_of_set(const Matrix& w, Subset S) const {
  const Matrix sigma = lag_attention(w);
  double sum = 0.0;
  for (const Pattern& pattern : patterns_) {
    double product = 1.0;
    each_head(S, [&](int h) { product *= inner(pattern, sigma, h); });
    sum += pattern.excess * product;
  }
  return sum;
}

Matrix StageTwo::rate(const Matrix& w, double a) const {
  const Matrix sigma = lag_attention(w);
  Matrix dw = Matrix::Zero(w.rows(), w.cols());
  each_head(S_star_, [&](int h) {
    const Eigen::VectorXd g = gain(w, h);
    const double mean = sigma.row(h - 1).dot(g);
    for (Eigen::Index i = 0; i < w.cols(); ++i) {
      dw(h - 1, i) = a * sigma(h - 1, i) * (g(i) - mean);  // (E.15)
    }
  });
  return dw;
}

}  // namespace gih
