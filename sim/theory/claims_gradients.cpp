#include <array>
#include <cmath>
#include <complex>

#include "claims_groups.hpp"
#include "gih/model/reference_engine.hpp"
#include "gih/model/table_engine.hpp"
#include "sequence_terms.hpp"

namespace gih {
namespace {

using Complex = std::complex<double>;

Parameters gradient_of(const World& world) {
  return world_objective(world)->evaluate(world.theta, Blocks::all(), false).gradient;
}

/// Gradient of one sequence by automatic differentiation.
Parameters literal_gradient(const World& world, std::span<const Token> x) {
  std::vector<double> target(static_cast<std::size_t>(world.d()), 0.0);
  target[x.back()] = 1.0;
  const auto engine = make_reference_engine(masked_model(world), {world.eps},
                                            {{{x.begin(), x.end() - 1}, target, 1.0}});
  return engine->evaluate(world.theta, Blocks::all(), false).gradient;
}

/// Loss along theta - t grad, differentiated at t = 0 by six points; `twice` moves c twice as fast.
void flow_claim(const World& world, Tally& tally, bool twice) {
  const auto engine = world_objective(world);
  const Parameters g = gradient_of(world);
  const auto loss_at = [&](double t) {
    Parameters moved = world.theta;
    moved.w -= t * g.w;
    moved.c -= (twice ? 2.0 : 1.0) * t * g.c;
    moved.a -= t * g.a;
    return engine->loss(moved);
  };
  constexpr double h = 1e-2;
  constexpr std::array<double, 3> stencil{45.0, -9.0, 1.0};
  double rate = 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double t = static_cast<double>(i + 1) * h;
    rate += stencil[i] * (loss_at(t) - loss_at(-t)) / (60.0 * h);
  }
  tally.equal(rate, -(g.w.squaredNorm() + g.c.squaredNorm() + g.a * g.a));
}

/// (E.3) at every position; `eps` is that of rho.
void score_derivatives(const World& world, Tally& tally, double eps) {
  const ModelSpec model = masked_model(world);
  const double C_D = world.theta.C_D();
  for (const auto& x : some_sequences(world, 37)) {
    const auto terms = sequence_terms(model, world.theta, eps, x);
    const ComplexParameters theta(world.theta);
    const Eigen::VectorXcd s = masked_scores(model, theta, prompt_of(x));
    for (Eigen::Index l = 0; l < s.size(); ++l) {
      Eigen::VectorXcd moved = s;
      moved(l) += imaginary_step();
      tally.equal(derivative(loss_of_scores(moved, theta.a, world.eps, x)),
                  -world.theta.a * terms.sigma(l) * terms.rho(l));
    }
    for (Eigen::Index S = 0; S < world.theta.c.size(); ++S) {
      ComplexParameters moved = theta;
      moved.c(S) += imaginary_step();
      const Eigen::VectorXcd found = masked_scores(model, moved, prompt_of(x));
      for (Eigen::Index l = 0; l < s.size(); ++l) {
        tally.equal(derivative(found(l)),
                    2.0 * world.theta.c(S) / C_D * (terms.K(S, l) - terms.s(l)));
      }
    }
  }
}

/// d_t c_S^2 of each sequence and of all; the mean score is subtracted when `centred`.
void subset_rates(const World& world, Tally& tally, bool centred) {
  const Parameters& theta = world.theta;
  const auto rate = [&](Eigen::Index S, double g, double f) {
    return 4.0 * theta.a / theta.C_D() * theta.c(S) * theta.c(S) * (centred ? g - f : g);
  };
  for (const auto& x : some_sequences(world, 37)) {
    const auto terms = sequence_terms(masked_model(world), theta, world.eps, x);
    const Eigen::VectorXd pull = terms.sigma.cwiseProduct(terms.rho);
    const Parameters gradient = literal_gradient(world, x);
    for (Eigen::Index S = 0; S < theta.c.size(); ++S) {
      tally.equal(-2.0 * theta.c(S) * gradient.c(S),
                  rate(S, terms.K.row(S).dot(pull), terms.s.dot(pull)));
    }
  }
  const FlowTerms flow = flow_terms(world);
  const Parameters gradient = gradient_of(world);
  for (Eigen::Index S = 0; S < theta.c.size(); ++S) {
    tally.equal(-2.0 * theta.c(S) * gradient.c(S), rate(S, flow.g0(S), flow.f));
  }
}

/// d_t log c_S^2 by g_{0,S} and f, and f as the mean of g_{0,S} under `p`.
void logarithmic_rates(const World& world, Tally& tally, const Eigen::VectorXd& p) {
  const Parameters& theta = world.theta;
  const FlowTerms flow = flow_terms(world);
  const Parameters gradient = gradient_of(world);
  for (Eigen::Index S = 0; S < theta.c.size(); ++S) {
    tally.equal(-2.0 * gradient.c(S) / theta.c(S),
                4.0 * theta.a / theta.C_D() * (flow.g0(S) - flow.f));
  }
  tally.equal(p.dot(flow.g0), flow.f);
}

void conserved_norm(const World& world, Tally& tally) {
  tally.equal(world.theta.c.dot(gradient_of(world).c), 0.0);
  for (const auto& x : some_sequences(world, 37)) {
    tally.equal(world.theta.c.dot(literal_gradient(world, x).c), 0.0);
  }
}

/// Scores that are not divided by C_D grow with c.
void conserved_without_normalisation(Tally& tally) {
  const World& world = worlds()[0];
  const auto x = some_sequences(world, 37).back();
  const ComplexParameters theta(world.theta);
  double along_c = 0.0;
  for (Eigen::Index S = 0; S < theta.c.size(); ++S) {
    ComplexParameters moved = theta;
    moved.c(S) += imaginary_step();
    const Eigen::VectorXcd s = masked_scores(masked_model(world), moved, prompt_of(x)) *
                               moved.c.cwiseProduct(moved.c).sum();
    along_c += world.theta.c(S) * derivative(loss_of_scores(s, theta.a, world.eps, x));
  }
  tally.equal(along_c, 0.0);
}

/// Growth of C_D in a step of gradient descent, `share` of what is expected.
void growing_norm(const World& world, Tally& tally, double share) {
  for (const double lr : {0.1, 1.0, 10.0}) {
    Parameters after = world.theta;
    const Eigen::VectorXd gradient = gradient_of(world).c;
    after.c -= lr * gradient;
    tally.equal(after.C_D() - world.theta.C_D(), share * lr * lr * gradient.squaredNorm());
  }
}

/// d s_l / d w^(h)_{-i} at every position, by an imaginary step and by b_l^(h).
void rpe_score_derivatives(const World& world, Tally& tally, double second_sign) {
  const ModelSpec model = masked_model(world);
  for (const auto& x : some_sequences(world, 37)) {
    const auto terms = sequence_terms(model, world.theta, world.eps, x, second_sign);
    for (Eigen::Index h = 0; h < model.H; ++h) {
      const Eigen::VectorXd sigma = softmax(world.theta.w.row(h).transpose());
      const auto& b = terms.b[static_cast<std::size_t>(h)];
      for (Eigen::Index i = 0; i < model.M; ++i) {
        ComplexParameters moved(world.theta);
        moved.w(h, i) += imaginary_step();
        const Eigen::VectorXcd s = masked_scores(model, moved, prompt_of(x));
        for (Eigen::Index l = 0; l < s.size(); ++l) {
          tally.equal(derivative(s(l)), sigma(i) * (b(i, l) - sigma.dot(b.col(l))) *
                                            terms.others[static_cast<std::size_t>(h)](l));
        }
      }
    }
  }
}

/// d_t w^(h)_{-i} of all sequences by g_{h,0}.
void rpe_rates(const World& world, Tally& tally, double second_sign) {
  const FlowTerms flow = flow_terms(world, second_sign);
  const Parameters gradient = gradient_of(world);
  for (Eigen::Index h = 0; h < world.model.H; ++h) {
    const Eigen::VectorXd sigma = softmax(world.theta.w.row(h).transpose());
    const Eigen::VectorXd& g = flow.gh[static_cast<std::size_t>(h)];
    for (Eigen::Index i = 0; i < world.M(); ++i) {
      tally.equal(-gradient.w(h, i), world.theta.a * sigma(i) * (g(i) - sigma.dot(g)));
    }
  }
}

/// Sizes of b_l^(h)^T (e_h - e_i) against `bound`, one-hot heads included, where it is attained.
void contrast_range(const World& world, Tally& tally, double bound) {
  for (const Parameters& theta : {world.theta, one_hot_heads(world.theta)}) {
    for (const auto& x : some_sequences(world, 37)) {
      const auto terms = sequence_terms(masked_model(world), theta, world.eps, x);
      for (Eigen::Index h = 0; h < world.model.H; ++h) {
        const auto& b = terms.b[static_cast<std::size_t>(h)];
        for (Eigen::Index i = 0; i < world.M(); ++i) {
          for (Eigen::Index l = 0; l < b.cols() && i != h; ++l) {
            tally.at_most(std::abs(b(h, l) - b(i, l)), bound);
          }
        }
      }
    }
  }
}

/// Sums over the lags of each head's gradient, shifted by `drift` a lag.
void conserved_sums(const World& world, Tally& tally, double drift) {
  const Matrix gradient = gradient_of(world).w;
  for (Eigen::Index h = 0; h < gradient.rows(); ++h) {
    tally.equal(gradient.row(h).sum() + drift * world.theta.w.row(h).squaredNorm(), 0.0);
  }
  for (const auto& x : some_sequences(world, 37)) {
    tally.equal(literal_gradient(world, x).w.rowwise().sum().cwiseAbs().maxCoeff(), 0.0);
  }
}

/// Right side of (E.16): the difference of the pulls at lags h and i, without the constant in g.
double contrast(const Eigen::VectorXd& sigma, const Eigen::VectorXd& g, Eigen::Index h,
                Eigen::Index i, bool with_second) {
  double sum = 0.0;
  for (Eigen::Index j = 0; j < g.size(); ++j) {
    if (j != h) sum += sigma(j) * (g(h) - g(j));
  }
  return (sigma(h) - sigma(i)) * sum + (with_second ? sigma(i) * (g(h) - g(i)) : 0.0);
}

void contrast_identity(const World& world, Tally& tally, bool with_second) {
  Stream stream(1, Purpose::claims, 3000);
  for (Eigen::Index h = 0; h < world.model.H; ++h) {
    const Eigen::VectorXd sigma = softmax(world.theta.w.row(h).transpose());
    const Eigen::VectorXd g =
        Eigen::VectorXd::NullaryExpr(world.M(), [&] { return stream.normal(); });
    for (Eigen::Index i = 0; i < world.M(); ++i) {
      const double left = sigma(h) * (g(h) - sigma.dot(g)) - sigma(i) * (g(i) - sigma.dot(g));
      tally.equal(left, contrast(sigma, g, h, i, with_second));
    }
  }
}

void gap_rates(const World& world, Tally& tally, double second_sign) {
  const FlowTerms flow = flow_terms(world, second_sign);
  const Matrix gradient = gradient_of(world).w;
  for (Eigen::Index h = 0; h < world.model.H; ++h) {
    const Eigen::VectorXd sigma = softmax(world.theta.w.row(h).transpose());
    for (Eigen::Index i = 0; i < world.M(); ++i) {
      tally.equal(
          gradient(h, i) - gradient(h, h),
          world.theta.a * contrast(sigma, flow.gh[static_cast<std::size_t>(h)], h, i, true));
    }
  }
}

/// d_t a against f, the engine masked or not.
void attention_rate(const World& world, Tally& tally, bool mask) {
  ModelSpec model = world.model;
  model.mask = mask;
  const AllSequences all = all_sequences(world);
  const auto engine = make_table_engine(model, {world.eps}, world_prompts(world, all, mask), 1);
  tally.equal(-engine->evaluate(world.theta, Blocks::all(), false).gradient.a, flow_terms(world).f);
}

}  // namespace

std::vector<Claim> gradient_claims() {
  const auto exact = Mode::exact;
  return {
      {"3.4", "along the flow the loss falls at the rate |grad L|^2", "(3.4)", exact, true,
       [](const World& w, Tally& t) { flow_claim(w, t, false); },
       [](Tally& t) { flow_claim(worlds()[0], t, true); }, "c that moves twice as fast"},
      {"E.3", "d loss / d s_l = -a sigma_l rho_l, and d s_l / d c_S = (2 c_S / C_D)(K_S(l) - s_l)",
       "(E.3)", exact, true, [](const World& w, Tally& t) { score_derivatives(w, t, w.eps); },
       [](Tally& t) { score_derivatives(worlds()[0], t, 0.0); }, "rho without eps"},
      {"E.4", "d_t c_S^2 = (4a/C_D) c_S^2 E sum_l sigma_l rho_l (K_S(l) - s_l)", "(E.4)", exact,
       true, [](const World& w, Tally& t) { subset_rates(w, t, true); },
       [](Tally& t) { subset_rates(worlds()[0], t, false); }, "K_S(l) in place of K_S(l) - s_l"},
      {"E.5", "d_t log c_S^2 = (4a/C_D)(g_{0,S} - f), where f = sum_S p_S g_{0,S}", "(E.5)", exact,
       true, [](const World& w, Tally& t) { logarithmic_rates(w, t, w.theta.p()); },
       [](Tally& t) {
         const Parameters& theta = worlds()[0].theta;
         logarithmic_rates(worlds()[0], t, theta.c / theta.c.sum());
       },
       "weights c_S in place of c_S^2"},
      {"Lemma E.1", "the flow keeps C_D, since the gradient of c is orthogonal to c", "Lemma E.1",
       exact, true, conserved_norm, conserved_without_normalisation,
       "scores that are not divided by C_D"},
      {"C_D.gd", "a step of gradient descent adds lr^2 |grad_c L|^2 to C_D", "ours", exact, true,
       [](const World& w, Tally& t) { growing_norm(w, t, 1.0); },
       [](Tally& t) { growing_norm(worlds()[0], t, 0.0); }, "C_D kept, as under the flow"},
      {"f0", "d_t a = f_0 = E sum_l sigma_l rho_l s_l", "sec. E.4", exact, true,
       [](const World& w, Tally& t) { attention_rate(w, t, true); },
       [](Tally& t) { attention_rate(worlds()[0], t, false); }, "a model without mask"},
      {"E.14", "d s_l / d w^(h)_{-i} follows from b_l = X_l v_{L+1} + X_{L+1} v_l",
       "(E.13), (E.14)", exact, true,
       [](const World& w, Tally& t) { rpe_score_derivatives(w, t, 1.0); },
       [](Tally& t) { rpe_score_derivatives(worlds()[0], t, 0.0); }, "b_l without its second part"},
      {"E.14.printed", "the same with a minus between the two parts of b_l", "(E.14)", exact, false,
       [](const World& w, Tally& t) { rpe_score_derivatives(w, t, -1.0); },
       [](Tally& t) { rpe_score_derivatives(worlds()[0], t, -1.0); }, "the worked example"},
      {"E.14.range", "|b_l^T (e_h - e_i)| <= 2", "ours", exact, true,
       [](const World& w, Tally& t) { contrast_range(w, t, 2.0); },
       [](Tally& t) { contrast_range(worlds()[0], t, 1.0); }, "half the bound"},
      {"E.15", "d_t w^(h)_{-i} = a sigma_{-i} (e_i - sigma)^T E g_{h,0}", "(E.15)", exact, true,
       [](const World& w, Tally& t) { rpe_rates(w, t, 1.0); },
       [](Tally& t) { rpe_rates(worlds()[0], t, 0.0); }, "b_l without its second part"},
      {"E.15.printed", "the same with a minus between the two parts of b_l", "(E.15)", exact, false,
       [](const World& w, Tally& t) { rpe_rates(w, t, -1.0); },
       [](Tally& t) { rpe_rates(worlds()[0], t, -1.0); }, "the worked example"},
      {"w.sum", "flow and gradient descent keep the sum of every head's RPE weights", "ours", exact,
       true, [](const World& w, Tally& t) { conserved_sums(w, t, 0.0); },
       [](Tally& t) { conserved_sums(worlds()[0], t, 1e-3); }, "weights that decay"},
      {"E.16", "the pull on lag h exceeds that on lag i by contrasts of g alone", "(E.16)", exact,
       true, [](const World& w, Tally& t) { contrast_identity(w, t, true); },
       [](Tally& t) { contrast_identity(worlds()[0], t, false); }, "the last term left out"},
      {"E.17", "d_t (w_{-h} - w_{-i}) follows from the contrasts of g_{h,0}", "(E.17)", exact, true,
       [](const World& w, Tally& t) { gap_rates(w, t, 1.0); },
       [](Tally& t) { gap_rates(worlds()[0], t, 0.0); }, "b_l without its second part"},
  };
}

}  // namespace gih
