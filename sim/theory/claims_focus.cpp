#include <algorithm>
#include <bit>
#include <cmath>

#include "claims_stages.hpp"

// Stage II along its limit flow: w moves, p is on S*, a is small.

namespace gih {
namespace {

struct Path {
  StageTwo stage;
  double a, Dw, sigma_min;  ///< Dw and sigma_min at the start
  std::vector<double> t;
  std::vector<Matrix> w;
  double speed(const ExactChoice& choice) const { return a * choice.gap * sigma_min / 2.0; }
};

/// The limit flow to a time T, or until the bound on e^{w_{-h} - w_{-i}} has grown a thousandfold;
/// times grow geometrically, because the flow slows down like 1/t.
Path follow(const World& world, const ExactChoice& choice, const Matrix& w, double T = 0.0) {
  Path path{StageTwo(world.laws, choice.S_star),
            world.theta.a,
            smallest_gap(w, choice.S_star),
            1.0,
            {},
            {}};
  const Matrix sigma = lag_attention(w);
  each_head_and_lag(world, choice.S_star, [&](int h, int) {
    path.sigma_min = std::min(path.sigma_min, sigma(h - 1, h - 1));
  });
  const double unit = std::exp(std::max(path.Dw, 0.0)) / path.speed(choice) / 10.0;
  if (!(T > 0.0)) T = 1e4 * unit;
  const auto as_matrix = [&](const Eigen::VectorXd& y) {
    return Matrix(Eigen::Map<const Matrix>(y.data(), w.rows(), w.cols()));
  };
  const Rate rate = [&](double s, const Eigen::VectorXd& y, Eigen::VectorXd& dy) {
    const Matrix dw = path.stage.rate(as_matrix(y), path.a) * unit * std::exp(s);
    dy = Eigen::Map<const Eigen::VectorXd>(dw.data(), dw.size());
  };
  const int points = 32;
  const double end = std::log1p(T / unit);
  const auto states =
      runge_kutta(rate, Eigen::Map<const Eigen::VectorXd>(w.data(), w.size()), end, points, 1e-7);
  for (int i = 0; i <= points; ++i) {
    path.t.push_back(unit * std::expm1(end * i / points));
    path.w.push_back(as_matrix(states[static_cast<std::size_t>(i)]));
  }
  return path;
}

/// 1 - sigma_{-h}, and 1 - (sigma_{-h} - sigma_{-i}), without cancellation.
double off(const Matrix& sigma, int h) {
  double sum = 0.0;
  for (Eigen::Index j = 0; j < sigma.cols(); ++j) {
    if (j != h - 1) sum += sigma(h - 1, j);
  }
  return sum;
}

void row_monotone(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  const Path path = follow(world, choice, w);
  for (std::size_t n = 1; n < path.t.size(); ++n) {
    const Matrix before = lag_attention(path.w[n - 1]);
    const Matrix after = lag_attention(path.w[n]);
    each_head_and_lag(world, choice.S_star, [&](int h, int i) {
      tally.at_most(off(after, h) / off(before, h), 1.0);
      tally.at_most((off(after, h) + after(h - 1, i - 1)) / (off(before, h) + before(h - 1, i - 1)),
                    1.0);
    });
  }
}

void row_rate(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  const Path path = follow(world, choice, w);
  for (const Matrix& now : path.w) {
    const Matrix sigma = lag_attention(now);
    const Matrix rate = path.stage.rate(now, path.a);
    Eigen::VectorXd growth = Eigen::VectorXd::Zero(world.M());  // least d_t log sigma_{-h}
    each_head_and_lag(world, choice.S_star, [&](int h, int i) {
      const double own = sigma(h - 1, h - 1), other = sigma(h - 1, i - 1);
      const double least = path.a * choice.gap / 2.0 * ((own - other) * off(sigma, h) + other);
      growth(h - 1) += other * least;
      tally.at_most(1.0, (rate(h - 1, h - 1) - rate(h - 1, i - 1)) / least);
    });
    for (int h = 0; h < world.M(); ++h) {
      if (!(choice.S_star >> h & 1U)) continue;
      tally.at_most(1.0, (rate(h, h) - sigma.row(h).dot(rate.row(h))) / growth(h));
    }
  }
}

void short_bracket(const World& world, double sign, Tally& tally) {
  const Matrix sigma = lag_attention(world.theta.w);
  each_head_and_lag(world, (Subset{1} << world.M()) - 1, [&](int h, int i) {
    const double own = sigma(h - 1, h - 1), other = sigma(h - 1, i - 1);
    tally.equal((own - other) * off(sigma, h) + other, own * (1.0 - own + sign * other));
  });
}
void check_short_bracket(const World& world, Tally& tally) {
  short_bracket(world, 1.0, tally);
}
void counter_short_bracket(Tally& tally) {
  short_bracket(worlds().front(), -1.0, tally);
}

void row_E24(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  const Path path = follow(world, choice, w);
  for (std::size_t n = 0; n < path.t.size(); ++n) {
    const Matrix sigma = lag_attention(path.w[n]);
    each_head_and_lag(world, choice.S_star, [&](int h, int i) {
      const double gap = path.w[n](h - 1, h - 1) - path.w[n](h - 1, i - 1);
      tally.at_most(path.sigma_min * std::exp(-gap) / sigma(h - 1, i - 1), 1.0);
      tally.at_most((std::exp(path.Dw) + path.speed(choice) * path.t[n]) * std::exp(-gap), 1.0);
    });
  }
}

/// 1 - prod_{h in S} (sigma_{-h})^2.
double unfocused(const Matrix& w, Subset S) {
  const Matrix sigma = lag_attention(w);
  double sum = 0.0;
  for (int h = 1; h <= w.rows(); ++h) {
    if (S >> (h - 1) & 1U) sum += 2.0 * std::log1p(-off(sigma, h));
  }
  return -std::expm1(sum);
}

void row_theorem(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  const Path path = follow(world, choice, w);
  const double size = 2.0 * std::popcount(choice.S_star) * (world.M() - 1);
  for (std::size_t n = 0; n < path.t.size(); ++n) {
    const double bound = size / (std::exp(path.Dw) + path.speed(choice) * path.t[n]);
    tally.at_most(unfocused(path.w[n], choice.S_star) / bound, 1.0);
  }
}

void row_t2(const World& world, const ExactChoice& choice, const Matrix& w, Tally& tally) {
  const double size = 2.0 * std::popcount(choice.S_star) * (world.M() - 1);
  const Path start = follow(world, choice, w, 1.0);
  // The length of the world, and one for which the start is not yet good enough.
  for (const double L : {static_cast<double>(world.L), 4.0 * std::exp(std::max(start.Dw, 0.0))}) {
    const Path path = follow(world, choice, w, L * size / start.speed(choice));
    tally.at_most(L * unfocused(path.w.back(), choice.S_star), 1.0);
  }
}

}  // namespace

std::vector<Claim> focus_claims() {
  return {
      {"Lemma E.2",
       "Where w meets (3.6), sigma_{-h} and every sigma_{-h} - sigma_{-i} increase along the limit "
       "flow, h in S*.",
       "Lemma E.2 (E.22)", Mode::exact, true, where_the_gap_holds<row_monotone>,
       where_heads_are_astray<row_monotone>, "Dw < 0: each head looks at another's lag"},
      {"Prop E.3",
       "Where w meets (3.6), d_t (w_{-h} - w_{-i}) >= (a dI / 2) [(sigma_{-h} - sigma_{-i}) "
       "sum_{j != h} sigma_{-j} + sigma_{-i}] along the limit flow, and d_t sigma_{-h} > 0.",
       "Proposition E.3 (E.23)", Mode::exact, true, where_the_gap_holds<row_rate>,
       where_heads_are_astray<row_rate>, "Dw < 0: each head looks at another's lag"},
      {"stage-II.bracket", "The bracket of Prop. E.3 is sigma_{-h} (1 - sigma_{-h} + sigma_{-i}).",
       "ours", Mode::exact, true, check_short_bracket, counter_short_bracket, "minus sigma_{-i}"},
      {"E.24",
       "Where w meets (3.6), e^{w_{-h} - w_{-i}} >= e^{Dw} + (a dI sigma_min / 2) t and "
       "sigma_{-i} = sigma_{-h} e^{-(w_{-h} - w_{-i})} >= sigma_min(0) e^{-(w_{-h} - w_{-i})}.",
       "E.24", Mode::exact, true, where_the_gap_holds<row_E24>, where_heads_are_astray<row_E24>,
       "Dw < 0: each head looks at another's lag"},
      {"Thm II",
       "Where w meets (3.6), 1 - prod_{h in S*} (sigma_{-h})^2 <= 2 |S*| (M-1) / (e^{Dw} + "
       "(a dI sigma_min / 2) (t - t_1)) along the limit flow.",
       "Theorem 3.6, stage II", Mode::exact, true, where_the_gap_holds<row_theorem>,
       where_heads_are_astray<row_theorem>, "Dw < 0: each head looks at another's lag"},
      {"t_2",
       "Where w meets (3.6), 1 - prod_{h in S*} (sigma_{-h})^2 <= 1/L at t_2 = t_1 + "
       "4 L |S*| (M-1) / (a dI sigma_min).",
       "Theorem 3.6, stage II", Mode::exact, true, where_the_gap_holds<row_t2>,
       where_heads_are_astray<row_t2>, "Dw < 0: each head looks at another's lag"},
  };
}

}  // namespace gih
