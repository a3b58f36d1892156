#include <algorithm>
#include <cmath>
#include <map>

#include "claims_groups.hpp"
#include "gih/base/window.hpp"
#include "gih/data/chain.hpp"
#include "gih/model/reference_engine.hpp"
#include "gih/model/table_engine.hpp"
#include "sequence_terms.hpp"

namespace gih {
namespace {

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

std::vector<Claim> loss_claims() {
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
      {"relabel", "renaming the tokens leaves the loss unchanged", "ours", exact, true,
       [](const World& w, Tally& t) { relabel_claim(w, t, 1); },
       [](Tally& t) { relabel_claim(worlds()[0], t, 2); }, "only every other position renamed"},
  };
}

}  // namespace gih
