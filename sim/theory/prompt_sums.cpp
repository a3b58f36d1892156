#include "prompt_sums.hpp"

#include <cmath>

namespace gih {
namespace {

std::size_t power(int d, int M) {
  std::size_t count = 1;
  for (int i = 0; i < M; ++i) count *= static_cast<std::size_t>(d);
  return count;
}

}  // namespace

void each_prompt(const Kernel& kernel, std::span<const double> start, int M, int L,
                 const std::function<void(const Prompt&)>& visit) {
  const auto first = static_cast<std::size_t>(M);
  const auto width = static_cast<std::size_t>(kernel.d);
  Prompt prompt;
  prompt.windows.resize(static_cast<std::size_t>(L - M));
  prompt.tokens.resize(prompt.windows.size());
  each_sequence(kernel, start, L, [&](std::span<const Token> x, double probability) {
    const auto window_before = [&](std::size_t l) {
      std::size_t code = 0;
      for (std::size_t lag = first; lag > 0; --lag) code = code * width + x[l - lag];
      return code;
    };
    for (std::size_t l = 0; l < prompt.positions(); ++l) {
      prompt.windows[l] = window_before(first + l);
      prompt.tokens[l] = x[first + l];
    }
    prompt.query = window_before(x.size() - 1);
    prompt.q = x.back();
    prompt.probability = probability;
    visit(prompt);
  });
}

Attention attend(const Prompt& prompt, std::span<const double> scores, double a, int d,
                 double eps) {
  Attention found{std::vector<double>(prompt.positions()),
                  std::vector<double>(static_cast<std::size_t>(d)),
                  std::vector<double>(prompt.positions())};
  double top = scores[0], sum = 0.0;
  for (const double s : scores) top = std::max(top, s);
  for (std::size_t l = 0; l < prompt.positions(); ++l) {
    found.sigma[l] = std::exp(a * (scores[l] - top));
    sum += found.sigma[l];
  }
  for (std::size_t l = 0; l < prompt.positions(); ++l) {
    found.sigma[l] /= sum;
    found.y[prompt.tokens[l]] += found.sigma[l];
  }
  const double y_q = found.y[prompt.q];
  for (std::size_t l = 0; l < prompt.positions(); ++l) {
    found.rho[l] = ((prompt.tokens[l] == prompt.q ? 1.0 : 0.0) - y_q) / (y_q + eps);
  }
  return found;
}

WindowPairs::WindowPairs(int d, const Matrix& w, const Matrix& w_other)
    : d_(d),
      H_(static_cast<int>(w.rows())),
      M_(static_cast<int>(w.cols())),
      windows_(power(d, M_)),
      sigma_(softmax_rows(w)),
      sigma_other_(softmax_rows(w_other)) {
  for (std::size_t X = 0; X < windows_; ++X) {
    std::size_t code = X;
    for (int lag = 1; lag <= M_; ++lag) {
      digits_.push_back(static_cast<int>(code % static_cast<std::size_t>(d)));
      code /= static_cast<std::size_t>(d);
    }
  }
  const auto look = [&](const Matrix& sigma) {
    std::vector<double> v;
    for (int h = 1; h <= H_; ++h) {
      for (std::size_t X = 0; X < windows_; ++X) {
        v.resize(v.size() + static_cast<std::size_t>(d), 0.0);
        double* const entries = v.data() + v.size() - d;
        for (int lag = 1; lag <= M_; ++lag) entries[digit(X, lag)] += sigma(h - 1, lag - 1);
      }
    }
    return v;
  };
  looks_ = look(sigma_);
  looks_other_ = look(sigma_other_);
  const auto width = static_cast<std::size_t>(d);
  for (std::size_t row = 0; row < static_cast<std::size_t>(H_) * windows_; ++row) {
    for (std::size_t Z = 0; Z < windows_; ++Z) {
      const double* const of_X = looks_.data() + row * width;
      const double* const of_Z = looks_other_.data() + (row / windows_ * windows_ + Z) * width;
      double sum = 0.0;
      for (std::size_t k = 0; k < width; ++k) sum += of_X[k] * of_Z[k];
      inner_.push_back(sum);
    }
  }
}

int WindowPairs::digit(std::size_t X, int lag) const {
  return digits_[X * static_cast<std::size_t>(M_) + static_cast<std::size_t>(lag - 1)];
}

double WindowPairs::K(Subset S, std::size_t X, std::size_t Z) const {
  double product = 1.0;
  for (std::size_t h = 0; h < static_cast<std::size_t>(H_); ++h) {
    if (S >> h & 1U) product *= inner_[(h * windows_ + X) * windows_ + Z];
  }
  return product;
}

double WindowPairs::b(int h, int lag, std::size_t X, std::size_t Z) const {
  const auto at = [&](const std::vector<double>& looks, std::size_t window, int token) {
    const std::size_t row = static_cast<std::size_t>(h - 1) * windows_ + window;
    return looks[row * static_cast<std::size_t>(d_) + static_cast<std::size_t>(token)];
  };
  return at(looks_, X, digit(Z, lag)) + at(looks_other_, Z, digit(X, lag));
}

std::vector<double> WindowPairs::scores(const Prompt& prompt, const ModelSpec& model,
                                        const Eigen::VectorXd& p) const {
  const auto subsets = model.subsets();
  std::vector<double> s;
  for (const std::size_t X : prompt.windows) {
    double sum = 0.0;
    for (std::size_t i = 0; i < subsets.size(); ++i) {
      sum += p(static_cast<Eigen::Index>(i)) * K(subsets[i], X, prompt.query);
    }
    s.push_back(sum);
  }
  return s;
}

std::vector<double> matches(const Prompt& prompt, const std::vector<std::uint32_t>& restricted) {
  std::vector<double> s;
  for (const std::size_t X : prompt.windows) {
    s.push_back(restricted[X] == restricted[prompt.query] ? 1.0 : 0.0);
  }
  return s;
}

double independent_sum(const WindowLaw& law,
                       const std::function<double(std::size_t, std::size_t)>& f) {
  const auto mu = law.of_tokens();
  const auto of_windows = law.of_windows();
  double sum = 0.0;
  for (std::size_t X = 0; X < law.windows(); ++X) {
    for (std::size_t Z = 0; Z < law.windows(); ++Z) {
      double weight = -of_windows[X] * of_windows[Z];
      for (int k = 0; k < law.d; ++k) {
        weight += law.at(X, k) * law.at(Z, k) / mu[static_cast<std::size_t>(k)];
      }
      sum += weight * f(X, Z);
    }
  }
  return sum;
}

double chi_square(std::span<const double> P, std::span<const double> Q) {
  double sum = 0.0;
  for (std::size_t i = 0; i < P.size(); ++i) {
    if (P[i] != Q[i]) sum += (P[i] - Q[i]) * (P[i] - Q[i]) / Q[i];  // infinite where Q is 0
  }
  return sum;
}

double total_variation(std::span<const double> P, std::span<const double> Q) {
  double sum = 0.0;
  for (std::size_t i = 0; i < P.size(); ++i) sum += std::abs(P[i] - Q[i]);
  return sum / 2.0;
}

std::vector<double> tilted(std::span<const double> marginal, int d, std::size_t E, double a) {
  std::vector<double> law(marginal.begin(), marginal.end());
  const auto width = static_cast<std::size_t>(d);
  for (std::size_t k = 0; k < width; ++k) law[E * width + k] *= std::exp(a);
  double sum = 0.0;
  for (const double mass : law) sum += mass;
  for (double& mass : law) mass /= sum;
  return law;
}

double empirical_chi_square(const Prompt& prompt, const std::vector<std::uint32_t>& restricted,
                            std::span<const double> marginal, int d) {
  std::vector<double> share(marginal.size(), 0.0);
  for (std::size_t l = 0; l < prompt.positions(); ++l) {
    share[restricted[prompt.windows[l]] * static_cast<std::size_t>(d) + prompt.tokens[l]] +=
        1.0 / static_cast<double>(prompt.positions());
  }
  return chi_square(share, marginal);
}

}  // namespace gih
