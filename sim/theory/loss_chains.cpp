#include "loss_chains.hpp"

#include "prompt_sums.hpp"

namespace gih {
namespace {

/// The law of the case, and what the model makes of its prompts.
struct Views {
  explicit Views(const LossCase& given)
      : given(given),
        law(window_law(given.assumed, given.M)),
        mu(law.of_tokens()),
        pairs(given.model.d, given.theta.w),
        subsets(given.model.subsets()),
        p(given.theta.p()) {}

  Attention soft(const Prompt& prompt, const std::vector<double>& s) const {
    return attend(prompt, s, given.theta.a, law.d, given.eps);
  }
  Attention flat(const Prompt& prompt, const std::vector<double>& s) const {
    return attend(prompt, s, 0.0, law.d, given.eps);
  }
  std::vector<double> scores(const Prompt& prompt) const {
    return pairs.scores(prompt, given.model, p);
  }
  /// 1(x_l = q) / mu(q) - 1.
  double centred(const Prompt& prompt, std::size_t l) const {
    return (prompt.tokens[l] == prompt.q ? 1.0 / mu[prompt.q] : 0.0) - 1.0;
  }

  const LossCase& given;
  WindowLaw law;
  std::vector<double> mu;
  WindowPairs pairs;
  std::vector<Subset> subsets;
  Eigen::VectorXd p;
};

/// E_{(z,Z) ~ mu~(. | E)}[ (1(x = z) / mu~(x | E) - 1) 1(Z = E) ], d^|S| x d in (E, x).
std::vector<double> tilted_gain(const std::vector<double>& marginal, int d, double a) {
  const auto width = static_cast<std::size_t>(d);
  std::vector<double> gain(marginal.size());
  for (std::size_t E = 0; E < marginal.size() / width; ++E) {
    const auto law = tilted(marginal, d, E, a);
    double same_window = 0.0;
    for (std::size_t k = 0; k < width; ++k) same_window += law[E * width + k];
    for (std::size_t x = 0; x < width; ++x) {
      double of_x = 0.0;
      for (std::size_t other = x; other < law.size(); other += width) of_x += law[other];
      gain[E * width + x] = law[E * width + x] / of_x - same_window;
    }
  }
  return gain;
}

}  // namespace

std::array<std::vector<double>, 4> g_chain(const LossCase& given) {
  const Views view(given);
  std::array<std::vector<double>, 4> g;
  g.fill(std::vector<double>(view.subsets.size(), 0.0));
  each_prompt(given, [&](const Prompt& prompt) {
    const auto s = view.scores(prompt);
    const Attention soft = view.soft(prompt, s), flat = view.flat(prompt, s);
    for (std::size_t l = 0; l < s.size(); ++l) {
      for (std::size_t i = 0; i < view.subsets.size(); ++i) {
        const double K =
            prompt.probability * view.pairs.K(view.subsets[i], prompt.windows[l], prompt.query);
        g[0][i] += soft.sigma[l] * soft.rho[l] * K;
        g[1][i] += flat.sigma[l] * flat.rho[l] * K;
        g[2][i] += flat.sigma[l] * view.centred(prompt, l) * K;
      }
    }
  });
  for (std::size_t i = 0; i < view.subsets.size(); ++i) {
    g[3][i] = independent_sum(view.law, [&](std::size_t X, std::size_t Z) {
      return view.pairs.K(view.subsets[i], X, Z);
    });
  }
  return g;
}

double f_0(const LossCase& given) {
  const Views view(given);
  double f = 0.0;
  each_prompt(given, [&](const Prompt& prompt) {
    const auto s = view.scores(prompt);
    const Attention soft = view.soft(prompt, s);
    for (std::size_t l = 0; l < s.size(); ++l) {
      f += prompt.probability * soft.sigma[l] * soft.rho[l] * s[l];
    }
  });
  return f;
}

std::array<std::vector<double>, 5> contrast_chain(const LossCase& given, Subset S, int h) {
  const Views view(given);
  const Subset head = Subset{1} << (h - 1), others = S & ~head;
  std::array<std::vector<double>, 5> g;
  g.fill(std::vector<double>(static_cast<std::size_t>(given.M), 0.0));
  const auto contrast = [&](int i, std::size_t X, std::size_t Z) {
    return view.pairs.b(h, h, X, Z) - view.pairs.b(h, i, X, Z);
  };
  each_prompt(given, [&](const Prompt& prompt) {
    const auto s = view.scores(prompt);
    const Attention soft = view.soft(prompt, s), flat = view.flat(prompt, s);
    for (std::size_t l = 0; l < s.size(); ++l) {
      const std::size_t X = prompt.windows[l];
      double all = 0.0;
      for (std::size_t j = 0; j < view.subsets.size(); ++j) {
        if ((view.subsets[j] & head) == 0) continue;
        all += view.p(static_cast<Eigen::Index>(j)) *
               view.pairs.K(view.subsets[j] & ~head, X, prompt.query);
      }
      const double K = view.pairs.K(others, X, prompt.query);
      for (int i = 1; i <= given.M; ++i) {
        const auto at = static_cast<std::size_t>(i - 1);
        const double b = prompt.probability * contrast(i, X, prompt.query);
        g[0][at] += soft.sigma[l] * soft.rho[l] * all * b;
        g[1][at] += soft.sigma[l] * soft.rho[l] * K * b;
        g[2][at] += flat.sigma[l] * flat.rho[l] * K * b;
        g[3][at] += flat.sigma[l] * view.centred(prompt, l) * K * b;
      }
    }
  });
  for (int i = 1; i <= given.M; ++i) {
    g[4][static_cast<std::size_t>(i - 1)] =
        independent_sum(view.law, [&](std::size_t X, std::size_t Z) {
          return view.pairs.K(others, X, Z) * contrast(i, X, Z);
        });
  }
  return g;
}

FChain f_chain(const LossCase& given, Subset S) {
  const Views view(given);
  const auto d = static_cast<std::size_t>(view.law.d);
  const auto marginal = view.law.marginal(S);
  const auto restricted = restriction(view.law.d, view.law.M, S);
  const auto gain = tilted_gain(marginal, view.law.d, given.theta.a);
  FChain chain;
  std::vector<double> end(marginal.size(), 0.0);  // law of (X_{L+1-S}, x_{L+1})
  each_prompt(given, [&](const Prompt& prompt) {
    const auto s = view.scores(prompt), s_star = matches(prompt, restricted);
    const Attention soft = view.soft(prompt, s), star = view.soft(prompt, s_star);
    const std::size_t E = restricted[prompt.query];
    const auto law = tilted(marginal, view.law.d, E, given.theta.a);
    double of_q = 0.0;
    for (std::size_t other = prompt.q; other < law.size(); other += d) of_q += law[other];
    std::vector<double> seen(marginal.size(), 0.0);
    for (std::size_t l = 0; l < s.size(); ++l) {
      const double K = view.pairs.K(S, prompt.windows[l], prompt.query);
      const double same = prompt.tokens[l] == prompt.q ? 1.0 : 0.0;
      seen[restricted[prompt.windows[l]] * d + prompt.tokens[l]] += star.sigma[l];
      chain.f[0] += prompt.probability * soft.sigma[l] * soft.rho[l] * s[l];
      chain.f[1] += prompt.probability * soft.sigma[l] * soft.rho[l] * K;
      chain.f[2] += prompt.probability * star.sigma[l] * star.rho[l] * s_star[l];
      chain.f[3] += prompt.probability * star.sigma[l] * (same / of_q - 1.0) * s_star[l];
    }
    chain.f[4] += prompt.probability * gain[E * d + prompt.q];
    chain.l1 += prompt.probability * 2.0 * total_variation(law, seen);
    end[E * d + prompt.q] += prompt.probability;
  });
  for (std::size_t i = 0; i < gain.size(); ++i) chain.f[5] += marginal[i] * gain[i];
  chain.apart = total_variation(end, marginal);
  return chain;
}

double token_chi_square(const LossCase& given) {
  const Views view(given);
  const auto restricted = restriction(view.law.d, view.law.M, 0);
  double chi = 0.0;
  each_prompt(given, [&](const Prompt& prompt) {
    chi += prompt.probability * empirical_chi_square(prompt, restricted, view.mu, view.law.d);
  });
  return chi;
}

}  // namespace gih
