#include "gih/theory/information.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "claims_groups.hpp"
#include "kernel_families.hpp"
#include "sequence_terms.hpp"

namespace gih {
namespace {

std::vector<Subset> all_lag_sets(int M) {
  return subsets(M, M, SubsetRule::at_most);
}

/// mu(k), mu(E) and mu(k, E) of a table d^|S| x d.
struct Masses {
  Eigen::MatrixXd joint;  ///< d^|S| x d
  Eigen::VectorXd of_E, of_k;

  Masses(const WindowLaw& law, Subset S) {
    const std::vector<double> marginal = law.marginal(S);
    joint = Matrix::Map(marginal.data(), static_cast<Eigen::Index>(marginal.size()) / law.d, law.d);
    of_E = joint.rowwise().sum();
    of_k = joint.colwise().sum().transpose();
  }
};

/// I~ as (3.1) defines it; the weight mu(E) is raised to `power` - 1.
double defined_information(const Masses& mu, int power) {
  double mean = 0.0;
  for (Eigen::Index E = 0; E < mu.of_E.size(); ++E) {
    const Eigen::ArrayXd given = mu.joint.row(E).transpose() / mu.of_E(E);
    mean += std::pow(mu.of_E(E), power) * ((given.square() / mu.of_k.array()).sum() - 1.0);
  }
  return mean;
}

void definition_claim(const World& world, Tally& tally, int power) {
  for (const WindowLaw& law : world.laws) {
    for (const Subset S : all_lag_sets(law.M)) {
      const Masses mu(law, S);
      double excess = 0.0;
      for (Eigen::Index E = 0; E < mu.of_E.size(); ++E) {
        const Eigen::ArrayXd row = mu.joint.row(E).transpose();
        excess += (row.square() / mu.of_k.array()).sum() - mu.of_E(E) * mu.of_E(E);
      }
      const double modified = modified_information(law.marginal(S), law.d);
      tally.equal(modified, defined_information(mu, power));
      tally.equal(modified, excess);
      if (S == 0) tally.equal(modified, 0.0);
    }
  }
}

/// g_{3,S} of these RPE weights against I~(S).
void one_hot_claim(const World& world, Tally& tally, const Matrix& w) {
  for (const WindowLaw& law : world.laws) {
    const auto g = weighted_information(law, world.model, w);
    const auto I = kernel_information(law, world.subsets());
    for (std::size_t S = 0; S < g.size(); ++S) tally.equal(g[S], I.modified[S]);
  }
}

/// With `weighted` false, I stands where I~ should.
void sandwich_claim(const World& world, Tally& tally, bool weighted) {
  std::vector<Kernel> kernels = general_kernels(world, 20);
  for (const Kernel& kernel : uniform_kernels(world, 8)) kernels.push_back(kernel);
  for (const Kernel& kernel : kernels) {
    const WindowLaw law = window_law(kernel, world.M());
    for (const Subset S : all_lag_sets(law.M)) {
      const Masses mu(law, S);
      const double standard = standard_information(law.marginal(S), law.d);
      if (standard < 1e-9) continue;  // nothing but rounding
      const double modified = weighted ? modified_information(law.marginal(S), law.d) : standard;
      tally.at_most(mu.of_E.minCoeff() * standard, modified);
      tally.at_most(modified, mu.of_E.maxCoeff() * standard);
    }
  }
}

/// I(S) by its other form, `constant` being the 1 that is subtracted.
void standard_claim(const World& world, Tally& tally, double constant) {
  for (const WindowLaw& law : world.laws) {
    for (const Subset S : all_lag_sets(law.M)) {
      const Masses mu(law, S);
      const double sum =
          (mu.joint.array().square() / (mu.of_E * mu.of_k.transpose()).array()).sum();
      tally.equal(standard_information(law.marginal(S), law.d), sum - constant);
    }
  }
}

void processing_claim(const World& world, Tally& tally, Subset parents) {
  for (const Kernel& kernel : general_kernels(world, 40)) {
    const WindowLaw law = window_law(kernel, world.M());
    const double of_parents = standard_information(law.marginal(parents), law.d);
    for (const Subset S : all_lag_sets(law.M)) {
      tally.at_most(standard_information(law.marginal(S), law.d), of_parents);
    }
  }
}

/// The choice among the sets of a world's model.
Information choice_of(const World& world) {
  std::vector<double> modified, standard;
  for (const WindowLaw& law : world.laws) {
    const auto one = kernel_information(law, world.subsets());
    modified.insert(modified.end(), one.modified.begin(), one.modified.end());
    standard.insert(standard.end(), one.standard.begin(), one.standard.end());
  }
  return choose(world.subsets(), modified, standard);
}

/// The winner beats every set by the gap or more, and one of them by the gap.
void gap_claim(const Information& found, Tally& tally, std::size_t winner) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t S = 0; S < found.subsets.size(); ++S) {
    tally.at_most(found.modified[S], found.modified[winner]);
    if (S != winner) least = std::min(least, found.modified[winner] - found.modified[S]);
  }
  tally.equal(least, found.gap);
  tally.at_most(0.0, found.gap);
}

/// Smallest Dw that (3.6) admits with the constant k.
double demanded_gap(int M, double gap, double information, double k) {
  return std::log(M - 1) - std::log(std::pow(1.0 + gap / (k * information), 1.0 / (2.0 * M)) - 1.0);
}

/// Pi = prod_h (sigma^(h)_{-h})^2.
double concentration(const Matrix& w) {
  double product = 1.0;
  for (Eigen::Index h = 0; h < w.rows(); ++h) {
    const double own = softmax(w.row(h).transpose())(h);
    product *= own * own;
  }
  return product;
}

/// w^(h)_{-h} - w^(h)_{-j} over all h and j != h, the least or the largest.
double rpe_gap(const Matrix& w, bool least) {
  double gap = least ? std::numeric_limits<double>::infinity() : 0.0;
  for (Eigen::Index h = 0; h < w.rows(); ++h) {
    for (Eigen::Index j = 0; j < w.cols(); ++j) {
      if (j == h) continue;
      const double one = w(h, h) - w(h, j);
      gap = least ? std::min(gap, one) : std::max(gap, one);
    }
  }
  return gap;
}

double lower_bound(int M, double Dw) {
  return std::pow(1.0 + (M - 1) * std::exp(-Dw), -2.0 * M);
}

/// Heads whose own lag leads all the others by Dw.
Matrix even_heads(int M, double Dw) {
  Matrix w = Matrix::Zero(M, M);
  w.diagonal().setConstant(Dw);
  return w;
}

void concentration_claim(const World& world, Tally& tally, bool least) {
  const int M = world.M();
  Stream stream(5, Purpose::claims, 5000);
  for (int n = 0; n < 20; ++n) {
    Matrix w = Matrix::NullaryExpr(M, M, [&] { return stream.normal(); });
    if (n == 0) w = world.theta.w;
    tally.at_most(lower_bound(M, rpe_gap(w, least)), concentration(w));
  }
  for (const double Dw : {0.0, 0.5, 2.0, 8.0}) {
    tally.equal(lower_bound(M, Dw), concentration(even_heads(M, Dw)));
  }
}

/// (dI, I*) of the world, and of a pair of lags of which one says nothing and no larger set is
/// offered: dI = I*, the widest gap there can be.
std::vector<std::pair<double, double>> gaps(const World& world) {
  const Information found = choice_of(world);
  const Kernel apart{2, {2}, {0.8, 0.2, 0.2, 0.8}};
  const auto I = kernel_information(window_law(apart, 2), subsets(2, 1, SubsetRule::at_most));
  const Information widest = choose(subsets(2, 1, SubsetRule::at_most), I.modified, I.standard);
  return {{found.gap, found.modified[found.S_star]}, {widest.gap, widest.modified[widest.S_star]}};
}

/// Where Dw is just what (3.6) demands, (2/3) dI <= Pi dI - m (1 - Pi) I*; m = 2 in stage I, 4 in
/// stage II.
void bracket_claim(const World& world, Tally& tally, double k,
                   const std::vector<double>& multiples) {
  const int M = world.M();
  for (const auto& [gap, information] : gaps(world)) {
    const double Dw = demanded_gap(M, gap, information, k);
    const double Pi = concentration(even_heads(M, Dw));
    tally.equal(1.0 / lower_bound(M, Dw), 1.0 + gap / (k * information));
    for (const double m : multiples) {
      tally.at_most(2.0 / 3.0 * gap, Pi * gap - m * (1.0 - Pi) * information);
    }
  }
}

}  // namespace

std::vector<Claim> information_claims() {
  const auto exact = Mode::exact;
  return {
      {"3.1",
       "I~(S) is the mean of mu(Z_{-S}) times the chi-square of z given Z_{-S}; it is 0 for the "
       "empty set",
       "(3.1)", exact, true, [](const World& w, Tally& t) { definition_claim(w, t, 2); },
       [](Tally& t) { definition_claim(worlds()[0], t, 1); }, "the weight mu(Z_{-S}) left out"},
      {"g_3", "with one-hot heads g_{3,S} = I~(S)", "sec. E.2", exact, true,
       [](const World& w, Tally& t) { one_hot_claim(w, t, one_hot_heads(w.theta).w); },
       [](Tally& t) { one_hot_claim(worlds()[0], t, worlds()[0].theta.w); },
       "heads that mix their lags"},
      {"chi2", "I(S) = E chi2(mu(z | Z_{-S}) || mu(z)) = sum_{E,k} mu(E,k)^2 / (mu(E) mu(k)) - 1",
       "sec. C.5", exact, true, [](const World& w, Tally& t) { standard_claim(w, t, 1.0); },
       [](Tally& t) { standard_claim(worlds()[0], t, 0.0); }, "the 1 not subtracted"},
      {"sandwich", "min_E mu(E) I(S) <= I~(S) <= max_E mu(E) I(S)", "ours", exact, true,
       [](const World& w, Tally& t) { sandwich_claim(w, t, true); },
       [](Tally& t) { sandwich_claim(worlds()[0], t, false); }, "I in place of I~"},
      {"DPI", "I(S) <= I(pa) for every S", "sec. C.5", exact, true,
       [](const World& w, Tally& t) { processing_claim(w, t, w.parents()); },
       [](Tally& t) { processing_claim(worlds()[0], t, 1); }, "one of the two parents left out"},
      {"3.5", "S* leads every other set by the gap dI >= 0, and one of them by no more",
       "(3.2), (3.5)", exact, true,
       [](const World& w, Tally& t) {
         const Information found = choice_of(w);
         gap_claim(found, t, found.S_star);
       },
       [](Tally& t) {
         const Information found = choice_of(worlds()[0]);
         const auto most = std::max_element(found.standard.begin(), found.standard.end());
         gap_claim(found, t, static_cast<std::size_t>(most - found.standard.begin()));
       },
       "the set with the largest I, not I~"},
      {"E.10",
       "prod_h (sigma^(h)_{-h})^2 >= (1 + (M-1) e^{-Dw})^{-2M}, with equality where all other lags "
       "are equal",
       "(E.10)", exact, true, [](const World& w, Tally& t) { concentration_claim(w, t, true); },
       [](Tally& t) { concentration_claim(worlds()[0], t, false); },
       "Dw taken to be the largest lead of a head's own lag"},
      {"3.6",
       "with k = 14, (3.6) makes Pi dI - 2(1-Pi) I* of stage I and Pi dI - 4(1-Pi) I* of stage II "
       "at least (2/3) dI",
       "(3.6), (E.9)", exact, true,
       [](const World& w, Tally& t) {
         bracket_claim(w, t, 14.0, {2.0, 4.0});
       },
       [](Tally& t) {
         bracket_claim(worlds()[1], t, 13.0, {2.0, 4.0});
       },
       "k = 13"},
      {"3.6.stage1",
       "for the bracket Pi dI - 2(1-Pi) I* of stage I alone, k = 8 is enough in (3.6)",
       "(3.6), (E.11)", exact, true,
       [](const World& w, Tally& t) { bracket_claim(w, t, 8.0, {2.0}); },
       [](Tally& t) { bracket_claim(worlds()[1], t, 7.0, {2.0}); }, "k = 7"},
      {"3.6.printed",
       "one constant of a single digit, k = 8, in (3.6) makes both brackets at least (2/3) dI",
       "(3.6), (E.9)", exact, false,
       [](const World& w, Tally& t) {
         bracket_claim(w, t, 8.0, {2.0, 4.0});
       },
       [](Tally& t) {
         bracket_claim(worlds()[0], t, 9.0, {2.0, 4.0});
       },
       "k = 9, the largest of a single digit, in the worked example"},
  };
}

}  // namespace gih
