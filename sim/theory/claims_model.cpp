#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>

#include "claims_groups.hpp"
#include "gih/model/reference_engine.hpp"
#include "gih/model/table_engine.hpp"
#include "sequence_terms.hpp"

namespace gih {
namespace {

using Subsets = std::vector<Subset>;

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

}  // namespace

std::vector<Claim> model_claims() {
  const auto exact = Mode::exact;
  return {
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
  };
}

}  // namespace gih
