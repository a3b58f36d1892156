#include "gih/theory/gih_distance.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gih/data/prompts.hpp"
#include "gih/model/table_engine.hpp"
#include "gih/theory/estimators.hpp"
#include "gih/theory/population.hpp"

namespace gih {
namespace {

/// Positions of the prompt, and how many of them agree with the question on the lags in S.
struct Matches {
  double positions = 0.0, matching = 0.0;
};

Matches count_matches(const Prompts& prompts, const Question& question, Subset S) {
  const WindowCodes codes(prompts.d, prompts.M);
  const auto query = codes.decode(question.query);
  Matches found;
  for (const Cell& cell : prompts.cells_of(question.prompt)) {
    const auto window = codes.decode(cell.window);
    bool agrees = true;
    for (std::size_t i = 0; i < query.size(); ++i) {
      if (S >> i & 1U) agrees = agrees && window[i] == query[i];
    }
    found.positions += cell.weight;
    if (agrees) found.matching += cell.weight;
  }
  return found;
}

}  // namespace

Check check_gih_distance(const Setup& setup, const Parameters& theta) {
  Check check{"E.6",
              "||y - GIH||_1 <= 2 (L-M-N) e^-a / (N + (L-M-N) e^-a) + a (Delta_1 + Delta_2)",
              "Lemma E.6, ours",
              "exact",
              {},
              true,
              ""};
  if (!setup.data.L) {
    check.tally.skip("L = inf: no prompts");
    return check;
  }
  ModelSpec model = setup.model;
  model.mask = true;
  DataSpec data = setup.data;
  const Split split = data.validation > 0 ? Split::validation : Split::train;
  std::size_t& count = split == Split::validation ? data.validation : data.train;
  count = std::min<std::size_t>(count, 2000);
  const Prompts prompts = build_prompts(data, {.M = model.M, .mask = true}, split, setup.threads);

  const Eigen::VectorXd p = theta.p();
  Eigen::Index best = 0;
  p.maxCoeff(&best);
  EstimatorSpec spec;
  spec.S = model.subsets()[static_cast<std::size_t>(best)];
  const Matrix y = predictions(model, theta, prompts);
  const Matrix gih = estimate("gih", spec, prompts, setup.threads);
  const double Delta = (1.0 - p[best]) + (1.0 - focus(theta.w, spec.S));
  double sum = 0.0;
  for (Eigen::Index q = 0; q < y.rows(); ++q) {
    const auto [positions, N] =
        count_matches(prompts, prompts.questions[static_cast<std::size_t>(q)], spec.S);
    const double others = (positions - N) * std::exp(-theta.a);
    const double bound = (N > 0.0 ? 2.0 * others / (N + others) : 0.0) + theta.a * Delta;
    const double distance = (y.row(q) - gih.row(q)).cwiseAbs().sum();
    check.tally.at_most(distance, bound);
    sum += distance;
  }
  check.note = fmt::format(
      "GIH with S = {}: mean ||y - GIH||_1 = {:.4f} over {} prompts of {} tokens",
      subset_code(spec.S, model.H), sum / static_cast<double>(y.rows()), y.rows(), *setup.data.L);
  return check;
}

}  // namespace gih
