#include "gih/theory/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gih/theory/population.hpp"

namespace gih {
namespace {

Check make(const char* id, std::string statement, const char* equation, const char* mode) {
  return {id, std::move(statement), equation, mode, {}, false, ""};
}

}  // namespace

PriorFacts prior_facts(const Setup& setup, const std::function<bool(std::size_t)>& done) {
  const PriorInformation found = prior_information(setup.data, setup.model, &setup.theta.w,
                                                   setup.kernels, setup.threads, done);
  if (found.information.subsets.empty()) return {};
  PriorFacts facts{found.information, found.weighted,
                   prior_mixing(setup.data, setup.kernels, setup.threads), 0.0};
  // A Dirichlet law comes as near to 0 as one waits for: its bound is the floor, not what was
  // drawn.
  const PriorSpec& prior = setup.data.prior;
  facts.gamma = prior.name == "file" ? facts.mixing.gamma : prior.floor;
  return facts;
}

Check forecast(const Setup& setup, const PriorFacts& facts) {
  Check check =
      make("forecast", "at these weights and this L, stage I selects S*", "E.7", "sampled");
  const Prompts prompts = build_prompts(setup.data, setup.prompts, Split::train, setup.threads);
  const Choice seen =
      finite_information(prompts, setup.data.train, setup.model, setup.theta.w, setup.eps);
  const auto heads = setup.model.subsets();
  const Subset leader = heads[seen.S_star];
  if (leader == facts.S_star()) {
    check.tally.at_most(0.0, seen.gap, seen.gap_error);
  } else {
    const auto star = std::find(heads.begin(), heads.end(), facts.S_star());
    if (star == heads.end()) {
      check.tally.skip("S* is no subset of the heads");
      return check;
    }
    const auto behind = static_cast<std::size_t>(star - heads.begin());
    check.tally.at_most(seen.behind[behind], 0.0, seen.behind_error[behind]);
  }
  check.note = fmt::format(
      "g_1 is largest for {}, ahead of {} by {:.4f} +- {:.4f} over {} sequences",
      subset_code(leader, setup.model.H), subset_code(heads[seen.runner_up], setup.model.H),
      seen.gap, seen.gap_error, setup.data.train);
  return check;
}

Check gap_condition(const ModelSpec& model, const Matrix& w, const Information& information,
                    double k) {
  Check check =
      make(k == 14.0 ? "3.6" : "3.6.k8",
           fmt::format("each head's lag leads its others by the demanded Delta_w (k = {})", k),
           "3.6, E.9", "sampled");
  const double I_star = information.modified[information.S_star];
  const double have = smallest_gap(w, (Subset{1} << model.H) - 1);
  const double needed = required_gap(k, model.M, information.gap, I_star);
  const double less = std::max(information.gap - information.gap_error, 1e-12);
  const double error = required_gap(k, model.M, less, I_star) - needed;
  check.tally.at_most(needed, have, std::isfinite(error) ? error : 0.0);
  check.note = fmt::format("Delta_w = {:.3f}, demanded {:.2f} +- {:.2f}", have, needed, error);
  return check;
}

std::vector<Check> check_conditions(const Setup& setup, const PriorFacts& facts) {
  const ModelSpec& model = setup.model;
  const Information& info = facts.information;
  const double I_star = facts.I_star();
  const double infinity = std::numeric_limits<double>::infinity();
  const double L = setup.data.L ? static_cast<double>(*setup.data.L) : infinity;
  std::vector<Check> checks;
  const auto add = [&](Check check) { checks.push_back(std::move(check)); };

  Check sizes = make("sizes", "M > r_n and H = M", "3.1", "exact");
  sizes.tally.at_most(setup.data.parents.back() + 1.0, model.M);
  sizes.tally.equal(model.H, model.M);
  add(sizes);

  Check primitive =
      make("A.1", "every kernel is primitive, with |lambda_2| below a common bound below 1",
           "Assumption 3.5", "sampled");
  primitive.tally.at_most(facts.mixing.share_breaking, 0.0);
  primitive.tally.require(facts.gamma >
                          0.0);  // without a floor the prior holds kernels near any other
  primitive.note = fmt::format(
      "{}reducible, periodic or with an entry 0: {:.4g} of the kernels; |lambda_2| median {:.3f}, "
      "largest {:.6f}, "
      "above 0.99 in {:.2g}",
      facts.gamma > 0.0
          ? ""
          : "the prior has no lower bound (data.floor = 0), so kernels come near any; ",
      facts.mixing.share_breaking, facts.mixing.lambda_median, facts.mixing.lambda,
      facts.mixing.share_lambda_above_099);
  add(primitive);

  Check entries = make("A.2", "gamma, the greatest lower bound of all entries, is above 0",
                       "Assumption 3.5", "exact");
  entries.tally.require(facts.gamma > 0.0);
  entries.note = fmt::format("gamma = {:.4g}", facts.gamma);
  add(entries);

  Check unique =
      make("S*", "one subset has the largest modified information", "3.2, 3.5", "sampled");
  unique.tally.at_most(0.0, info.gap, info.gap_error);
  if (!info.decided && unique.tally.verdict() == Verdict::pass)
    unique.tally.at_most(0.0, -1.0, infinity);
  unique.note = fmt::format("S* = {}, I* = {:.4f}, gap {:.4f} +- {:.4f} to {}",
                            subset_code(facts.S_star(), model.M), I_star, info.gap, info.gap_error,
                            subset_code(info.subsets[info.runner_up], model.M));
  add(unique);

  Check start = make("a(0)", "0 < a(0) <= L^(-3/2)", "Theorem 3.6", "exact");
  start.tally.require(setup.theta.a > 0.0);
  if (setup.data.L) {
    start.tally.at_most(setup.theta.a, std::pow(L, -1.5));
  } else {
    start.note = "only a(0) > 0: the bound is 0 at L = inf, where any small a stands for it";
  }
  add(start);

  for (const double k : {14.0, 8.0}) add(gap_condition(model, setup.theta.w, info, k));

  const Subset every_head = (Subset{1} << model.H) - 1;
  const double all = focus(setup.theta.w, every_head);
  const double own = focus(setup.theta.w, facts.S_star());
  const auto bracket = [&](const char* id, const char* statement, const char* equation,
                           double product, double factor) {
    Check check = make(id, statement, equation, "sampled");
    const double value = product * info.gap - factor * (1.0 - product) * I_star;
    check.tally.at_most(2.0 / 3.0 * info.gap, value, product * info.gap_error);
    check.note = fmt::format("bracket / gap = {:.3g}, at least 2/3 is demanded", value / info.gap);
    add(check);
  };
  bracket("E.11", "stage I: Pi gap - 2 (1 - Pi) I* >= 2/3 gap", "E.11", all, 2.0);
  bracket("E.26", "stage II: Pi_S* gap - 4 (1 - Pi_S*) I* >= 2/3 gap", "E.26", own, 4.0);

  Check length =
      make("E.1", "L is long enough for the errors of finite length", "E.1, constant 1", "sampled");
  if (setup.data.L) {
    const double spectral = std::max(1.0 - facts.mixing.lambda, 0.0);  // rounding can pass 1
    const double gap2 = info.gap * info.gap * spectral;
    const double demanded =
        std::max(1.0 / (gap2 * std::pow(facts.gamma, setup.data.parents.back() + 2)),
                 1.0 / (spectral * std::pow(facts.gamma, model.D)));
    length.tally.at_most(demanded, L);
    length.note = fmt::format("L = {}, demanded {:.3g}", *setup.data.L, demanded);
  } else {
    length.tally.require(true);
    length.note = "L = inf";
  }
  add(length);

  Check eps = make("eps", "eps is of order L^(-1/2)", "2.1", "exact");
  if (setup.data.L) {
    eps.tally.at_most(setup.eps, 10.0 / std::sqrt(L));
    eps.tally.at_most(0.1 / std::sqrt(L), setup.eps);
  } else {
    eps.tally.equal(setup.eps, 0.0);
  }
  eps.note = fmt::format("eps = {:.4g}; taken as within a factor 10", setup.eps);
  add(eps);
  return checks;
}

bool conditions_hold(const std::vector<Check>& conditions) {
  return std::all_of(conditions.begin(), conditions.end(), [](const Check& check) {
    return check.id == "3.6.k8" || check.tally.verdict() == Verdict::pass;
  });
}

}  // namespace gih
