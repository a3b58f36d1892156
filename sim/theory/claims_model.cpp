#include <algorithm>
#include <cmath>
#include <complex>
#include <map>

#include "claims_groups.hpp"
#include "gih/base/window.hpp"
#include "gih/data/chain.hpp"
#include "gih/model/reference_engine.hpp"
#include "gih/model/table_engine.hpp"
#include "sequence_terms.hpp"

namespace gih {
namespace {

using Subsets = std::vector<Subset>;

/// P_pi(Z', Z) (1.1), windows in WindowCodes order.
Eigen::MatrixXd window_matrix(const Kernel& kernel) {
  const int r = kernel.largest_lag();
  const WindowCodes codes(kernel.d, r);
  const auto states = static_cast<Eigen::Index>(codes.count(r));
  const auto lags_of = [&](Eigen::Index Z) {
    return codes.decode(codes.first(r) + static_cast<WindowCode>(Z));
  };
  Eigen::MatrixXd P = Eigen::MatrixXd::Zero(states, states);
  for (Eigen::Index from = 0; from < states; ++from) {
    const auto z = lags_of(from);
    const auto row = kernel.row(kernel.parent_code(z));
    for (Eigen::Index to = 0; to < states; ++to) {
      const auto next = lags_of(to);
      if (std::equal(next.begin() + 1, next.end(), z.begin())) P(to, from) = row[next[0]];
    }
  }
  return P;
}

/// With `transposed`, the reading in which rows would sum to 1.
void window_matrix_claim(const World& world, Tally& tally, bool transposed) {
  for (const Kernel& kernel : world.kernels) {
    Eigen::MatrixXd P = window_matrix(kernel);
    if (transposed) P.transposeInPlace();
    const std::vector<double> law = WindowChain(kernel).long_run_law();
    const auto mu = Eigen::VectorXd::Map(law.data(), static_cast<Eigen::Index>(law.size()));
    const Eigen::VectorXd moved = P * mu;
    for (Eigen::Index Z = 0; Z < P.cols(); ++Z) {
      tally.equal(P.col(Z).sum(), 1.0);
      tally.equal(moved(Z), mu(Z));
    }
  }
}

/// The law of (window, next token) at the end of a sequence whose first tokens are drawn from
/// `start` (the stationary law when empty) is mu, with all its marginals.
void stationary_marginals(const World& world, Tally& tally, const std::vector<double>& start) {
  for (std::size_t k = 0; k < world.kernels.size(); ++k) {
    const Kernel& kernel = world.kernels[k];
    const WindowLaw& law = world.laws[k];
    const WindowCodes codes(law.d, law.M);
    WindowLaw seen{law.d, law.M, std::vector<double>(law.joint.size(), 0.0)};
    const auto from = start.empty() ? WindowChain(kernel).long_run_law() : start;
    each_sequence(kernel, from, world.L, [&](std::span<const Token> x, double probability) {
      const auto L = static_cast<std::size_t>(world.L);
      const WindowCode Z = codes.at(x, L) - codes.first(law.M);
      seen.joint[Z * static_cast<std::size_t>(law.d) + x[L]] += probability;
    });
    for (const Subset S : subsets(law.M, law.M, SubsetRule::at_most)) {
      const auto left = seen.marginal(S), right = law.marginal(S);
      double total = 0.0;
      for (std::size_t i = 0; i < left.size(); ++i) {
        tally.equal(left[i], right[i]);
        total += right[i];
      }
      tally.equal(total, 1.0);
    }
    // A token has the same law wherever it stands.
    const auto mu = law.of_tokens();
    for (int i = 0; i < law.M; ++i) {
      const auto lag = law.marginal(Subset{1} << i);
      for (std::size_t z = 0; z < mu.size(); ++z) {
        double sum = 0.0;
        for (std::size_t next = 0; next < mu.size(); ++next) sum += lag[z * mu.size() + next];
        tally.equal(sum, mu[z]);
      }
    }
  }
}

Token query_of(std::span<const Token> x) {
  return x.back();
}
std::span<const Token> prompt_of(std::span<const Token> x) {
  return x.first(x.size() - 1);
}

/// The engine's loss against -E log(y + eps) with y by the formulas.
void loss_claim(const World& world, Tally& tally, double eps) {
  const AllSequences all = all_sequences(world);
  for (const bool mask : {true, false}) {
    ModelSpec model = world.model;
    model.mask = mask;
    double loss = 0.0;
    for (std::size_t n = 0; n < all.x.size(); ++n) {
      const auto y = reference_trace(model, world.theta, prompt_of(all.x[n])).y;
      loss -= all.weight[n] * std::log(y(query_of(all.x[n])) + eps);
    }
    const auto engine = make_table_engine(model, {world.eps}, world_prompts(world, all, mask), 1);
    tally.equal(engine->loss(world.theta), loss);
  }
}

/// E[-log(y + eps)] = E KL(pi || y) + E H(pi), y a predictor without any sense.
void divergence_claim(const World& world, Tally& tally, double eps) {
  const auto d = static_cast<std::size_t>(world.d());
  for (std::size_t k = 0; k < world.kernels.size(); ++k) {
    const Kernel& kernel = world.kernels[k];
    Stream stream(k, Purpose::claims, 2000);
    std::map<std::vector<Token>, std::vector<double>> predictor;
    double loss = 0.0, divergence = 0.0, entropy = 0.0;
    each_sequence(kernel, world.start, world.L, [&](std::span<const Token> x, double probability) {
      const auto prompt = prompt_of(x);
      auto& y = predictor[{prompt.begin(), prompt.end()}];
      if (y.empty()) {
        y.resize(d);
        stream.dirichlet(1.0, y);
      }
      std::vector<Token> lags(prompt.rbegin(), prompt.rend());
      const double pi = kernel.row(kernel.parent_code(lags))[query_of(x)];
      loss -= probability * std::log(y[query_of(x)] + eps);
      divergence += probability * std::log(pi / y[query_of(x)]);
      entropy -= probability * std::log(pi);
    });
    tally.equal(loss, divergence + entropy);
  }
}

/// The loss of all positions against the losses of the prefixes of first .. L tokens.
void sequential_claim(const World& world, Tally& tally, bool mask, int first) {
  ModelSpec model = world.model;
  model.mask = mask;
  const AllSequences all = all_sequences(world);
  double mean = 0.0;
  for (std::size_t n = 0; n < all.x.size(); ++n) {
    const std::span<const Token> x = all.x[n];
    for (int l = first; l <= world.L; ++l) {
      const auto prompt = x.first(static_cast<std::size_t>(l));
      const auto y = reference_trace(model, world.theta, prompt).y;
      mean -= all.weight[n] * std::log(y(x[prompt.size()]) + world.eps) / (world.L + 1 - first);
    }
  }
  const auto engine = make_table_engine(model, {world.eps},
                                        world_prompts(world, all, mask, Positions::sequential), 1);
  tally.equal(engine->loss(world.theta), mean);
}

/// v_l = sum_i sigma_{-i} x_{l-i} from position `first` on, against the matrix form.
void attention_claim(const World& world, Tally& tally, int first) {
  for (const auto& x : some_sequences(world, 17)) {
    const auto v = first_attention(ComplexParameters(world.theta), world.d(), prompt_of(x));
    for (int l = first; l <= world.L + 1; ++l) {
      for (Eigen::Index h = 0; h < world.model.H; ++h) {
        const Eigen::VectorXd sigma = softmax(world.theta.w.row(h).transpose());
        Eigen::VectorXd sum = Eigen::VectorXd::Zero(world.d());
        for (int i = 1; i <= std::min(world.M(), l - 1); ++i) {
          sum(x[static_cast<std::size_t>(l - i - 1)]) += sigma(i - 1);
        }
        for (Eigen::Index z = 0; z < sum.size(); ++z) {
          tally.equal(v[static_cast<std::size_t>(l - 1)](h, z).real(), sum(z));
        }
      }
    }
  }
}

/// Calls visit(v_l, v_{L+1}, s_l) for the positions l > M of some sequences.
void each_pair(
    const World& world, const Parameters& theta,
    const std::function<void(const Eigen::MatrixXd&, const Eigen::MatrixXd&, double)>& visit) {
  const ModelSpec model = masked_model(world);
  for (const auto& x : some_sequences(world, 17)) {
    const auto v = first_attention(ComplexParameters(theta), world.d(), prompt_of(x));
    const auto s = reference_trace(model, theta, prompt_of(x)).s;
    for (int l = world.M() + 1; l <= world.L; ++l) {
      visit(v[static_cast<std::size_t>(l - 1)].real(), v.back().real(), s(l - 1));
    }
  }
}

void kernel_claim(const World& world, Tally& tally, double C_D) {
  const Eigen::VectorXcd c = world.theta.c.cast<std::complex<double>>();
  const Subsets sets = world.subsets();
  each_pair(world, world.theta, [&](const auto& v, const auto& query, double s) {
    tally.equal(C_D * s, kernel_of(sets, c, v, query).real());
  });
}

/// `degree`: the features stop there.
void feature_claim(const World& world, Tally& tally, int degree) {
  const Subsets sets = world.subsets();
  Eigen::VectorXd c = world.theta.c;
  for (std::size_t S = 0; S < sets.size(); ++S) {
    if (subset_size(sets[S]) > degree) c(static_cast<Eigen::Index>(S)) = 0.0;
  }
  each_pair(world, world.theta, [&](const auto& v, const auto& query, double s) {
    tally.equal(features(sets, c, v).dot(features(sets, c, query)), world.theta.C_D() * s);
  });
}

/// Features of a model against sum_k C(H, k) d^k, k up to `degree`.
void dimension_claim(Tally& tally, const ModelSpec& model, int degree) {
  const Subsets sets = model.subsets();
  const auto phi = features(sets, Eigen::VectorXd::Ones(static_cast<Eigen::Index>(sets.size())),
                            Eigen::MatrixXd::Ones(model.H, model.d));
  double dimension = 0.0, term = 1.0;
  for (int k = 0; k <= degree; ++k) {
    dimension += term;
    term *= static_cast<double>(model.d * (model.H - k)) / (k + 1);
  }
  tally.equal(static_cast<double>(phi.size()), dimension);
}

void norm_claim(const World& world, Tally& tally, const Parameters& theta) {
  each_pair(world, theta, [&](const auto& v, const auto& query, double) {
    tally.equal(features(world.subsets(), theta.c, v).squaredNorm(), theta.C_D());
    tally.equal(features(world.subsets(), theta.c, query).squaredNorm(), theta.C_D());
  });
}

/// Both engines, and the formulas where the first M positions are masked; `mask` of the engines.
void prediction_claim(const World& world, Tally& tally, bool formulas_for_unmasked) {
  AllSequences all{some_sequences(world, 17), {}};
  all.weight.assign(all.x.size(), 1.0);
  for (const bool mask : {true, false}) {
    ModelSpec model = world.model;
    model.mask = mask;
    const Matrix y = predictions(model, world.theta, world_prompts(world, all, mask));
    for (std::size_t n = 0; n < all.x.size(); ++n) {
      const auto& x = all.x[n];
      const auto row = static_cast<Eigen::Index>(n);
      const ReferenceTrace trace = reference_trace(model, world.theta, prompt_of(x));
      for (Eigen::Index k = 0; k < world.d(); ++k) tally.equal(y(row, k), trace.y(k));
      if (!mask && !formulas_for_unmasked) continue;
      const auto s = masked_scores(model, ComplexParameters(world.theta), prompt_of(x));
      const double own = std::exp(-loss_of_scores(s, world.theta.a, 0.0, x).real());
      tally.equal(y(row, x.back()), own);
    }
  }
}

/// Scores of a few parameters lie in [0, 1]; `scale` multiplies them.
void range_claim(const World& world, Tally& tally, double scale) {
  for (const Parameters& theta : {world.theta, one_hot_heads(world.theta)}) {
    each_pair(world, theta, [&](const auto&, const auto&, double s) {
      tally.at_most(0.0, scale * s);
      tally.at_most(scale * s, 1.0);
    });
  }
}

/// s_l = sum_S p_S 1(X_{l-S} = X_{L+1-S}).
void match_claim(const World& world, Tally& tally, const Parameters& theta) {
  const Subsets sets = world.subsets();
  const Eigen::VectorXd p = theta.p();
  for (const auto& x : some_sequences(world, 17)) {
    const auto s = reference_trace(masked_model(world), theta, prompt_of(x)).s;
    const auto L = static_cast<std::size_t>(world.L), M = static_cast<std::size_t>(world.M());
    for (std::size_t l = M + 1; l <= L; ++l) {
      double sum = 0.0;
      for (std::size_t S = 0; S < sets.size(); ++S) {
        bool match = true;
        for (std::size_t i = 1; i <= M; ++i) {
          if (sets[S] >> (i - 1) & 1U) match = match && x[l - i - 1] == x[L - i];
        }
        if (match) sum += p(static_cast<Eigen::Index>(S));
      }
      tally.equal(s(static_cast<Eigen::Index>(l) - 1), sum);
    }
  }
}

/// The loss after every token k of each `stride`-th position became k + 1 modulo d.
void relabel_claim(const World& world, Tally& tally, std::size_t stride) {
  AllSequences all = all_sequences(world);
  const double before = world_objective(world)->loss(world.theta);
  for (auto& x : all.x) {
    for (std::size_t l = 0; l < x.size(); l += stride) {
      x[l] = static_cast<Token>((x[l] + 1) % world.d());
    }
  }
  const auto engine =
      make_table_engine(masked_model(world), {world.eps}, world_prompts(world, all, true), 1);
  tally.equal(engine->loss(world.theta), before);
}

}  // namespace

std::vector<Claim> model_claims() {
  const auto exact = Mode::exact;
  return {
      {"P_pi", "the columns of the window matrix sum to 1, and it keeps the stationary law",
       "sec. 3.2", exact, true, [](const World& w, Tally& t) { window_matrix_claim(w, t, false); },
       [](Tally& t) { window_matrix_claim(worlds()[0], t, true); },
       "the transposed matrix, whose rows would have to sum to 1"},
      {"mu",
       "under a stationary start every window and its next token have the law mu, marginals "
       "included",
       "sec. 3.2", exact, true, [](const World& w, Tally& t) { stationary_marginals(w, t, {}); },
       [](Tally& t) { stationary_marginals(worlds()[0], t, worlds()[0].start); },
       "a start that is not stationary"},
      {"2.1", "the loss is -E log(y(x_{L+1}) + eps)", "(2.1)", exact, true,
       [](const World& w, Tally& t) { loss_claim(w, t, w.eps); },
       [](Tally& t) { loss_claim(worlds()[0], t, 2.0 * worlds()[0].eps); },
       "twice the eps on one side"},
      {"KL", "without eps the loss of any predictor is E KL(pi || y) + E H(pi)", "ours", exact,
       true, [](const World& w, Tally& t) { divergence_claim(w, t, 0.0); },
       [](Tally& t) { divergence_claim(worlds()[0], t, worlds()[0].eps); }, "eps above 0"},
      {"C.5",
       "the sequential loss is the plain mean of the losses of the prefixes of M+1 .. L tokens",
       "(C.5)", exact, true,
       [](const World& w, Tally& t) {
         sequential_claim(w, t, true, w.M() + 1);
         sequential_claim(w, t, false, w.M() + 1);
       },
       [](Tally& t) { sequential_claim(worlds()[0], t, false, 1); }, "prefixes of 1 .. L tokens"},
      {"2.2",
       "after M positions a head returns sum_i sigma_{-i} x_{l-i}, and the query never reads its "
       "padding",
       "(2.2)", exact, true, [](const World& w, Tally& t) { attention_claim(w, t, w.M() + 1); },
       [](Tally& t) { attention_claim(worlds()[0], t, 1); }, "the first M positions too"},
      {"2.3", "C_D times the score is the polynomial kernel of the two head outputs", "(2.3)",
       exact, true, [](const World& w, Tally& t) { kernel_claim(w, t, w.theta.C_D()); },
       [](Tally& t) { kernel_claim(worlds()[0], t, 1.0); },
       "scores taken without their normalisation"},
      {"C.3", "the inner product of the explicit features is the kernel", "(C.3)", exact, true,
       [](const World& w, Tally& t) { feature_claim(w, t, w.model.D); },
       [](Tally& t) { feature_claim(worlds()[0], t, worlds()[0].model.D - 1); },
       "features of one degree less"},
      {"C.4", "there are sum_{k<=D} C(H,k) d^k features", "(C.4)", exact, true,
       [](const World& w, Tally& t) {
         for (int D = 1; D <= w.model.H; ++D) {
           ModelSpec model = w.model;
           model.D = D;
           dimension_claim(t, model, D);
         }
       },
       [](Tally& t) { dimension_claim(t, worlds()[0].model, worlds()[0].model.D + 1); },
       "one degree too many"},
      {"2.4",
       "with one-hot heads ||phi(v)||^2 = C_D, so that dividing by sqrt(C_D) is layer "
       "normalisation",
       "(2.4)", exact, true,
       [](const World& w, Tally& t) { norm_claim(w, t, one_hot_heads(w.theta)); },
       [](Tally& t) { norm_claim(worlds()[0], t, worlds()[0].theta); },
       "heads that mix their lags"},
      {"2.5", "table engine, literal model and formula give the same prediction", "(2.5)", exact,
       true, [](const World& w, Tally& t) { prediction_claim(w, t, false); },
       [](Tally& t) { prediction_claim(worlds()[0], t, true); },
       "the masked formula for a model without mask"},
      {"D.1", "0 <= s_l <= 1", "(D.1)", exact, true,
       [](const World& w, Tally& t) { range_claim(w, t, 1.0); },
       [](Tally& t) { range_claim(worlds()[0], t, worlds()[0].theta.C_D()); },
       "features without their normalisation"},
      {"D.2", "with one-hot heads s_l = sum_S p_S 1(X_{l-S} = X_{L+1-S})", "(D.2)", exact, true,
       [](const World& w, Tally& t) { match_claim(w, t, one_hot_heads(w.theta)); },
       [](Tally& t) { match_claim(worlds()[0], t, worlds()[0].theta); },
       "heads that mix their lags"},
      {"relabel", "renaming the tokens leaves the loss unchanged", "ours", exact, true,
       [](const World& w, Tally& t) { relabel_claim(w, t, 1); },
       [](Tally& t) { relabel_claim(worlds()[0], t, 2); }, "only every other position renamed"},
  };
}

}  // namespace gih
