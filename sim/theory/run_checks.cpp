#include "gih/theory/run_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gih/theory/population.hpp"
#include "run_view.hpp"

namespace gih {
namespace {

double own_weight(const Matrix& w, Eigen::Index h) {
  return lag_attention(w)(h, h);
}

struct RunRow {
  const char* id;
  const char* statement;
  const char* equation;
  bool always;  ///< binding whether or not the theorem's conditions hold
  void (*check)(const RunView&, Check&);
};

void selected(const RunView& run, Check& check) {
  const StageRows* stage = only(run, &Blocks::c);
  if (stage == nullptr) return skip_without("c", check);
  const Eigen::VectorXd p = stage->rows.back().theta.p();
  Eigen::Index best = 0;
  p.maxCoeff(&best);
  check.tally.require(best == run.star);
  check.note =
      fmt::format("p_{} = {:.6f} at the end, S* = {}",
                  subset_code(run.subsets[static_cast<std::size_t>(best)], run.setup.model.H),
                  p[best], subset_code(run.facts.S_star(), run.setup.model.M));
}

void foretold(const RunView& run, Check& check) {
  const StageRows* stage = only(run, &Blocks::c);
  if (stage == nullptr) return skip_without("c", check);
  if (stage->rows.front().theta.w != run.setup.theta.w) {
    return check.tally.skip("w was trained before c");
  }
  const Eigen::VectorXd p = stage->rows.back().theta.p();
  Eigen::Index best = 0;
  p.maxCoeff(&best);
  check.tally.require(static_cast<std::size_t>(best) == run.facts.weighted.S_star);
  check.note = fmt::format(
      "largest g_3 at the initial w: {}, ahead by {:.4f} +- {:.4f}; finite L can change a close "
      "call",
      subset_code(run.subsets[run.facts.weighted.S_star], run.setup.model.H),
      run.facts.weighted.gap, run.facts.weighted.gap_error);
}

void stage_one_bound(const RunView& run, Check& check) {
  const StageRows* stage = only(run, &Blocks::c);
  if (stage == nullptr) return skip_without("c", check);
  if (run.star < 0) return check.tally.skip("S* is no subset of the heads");
  const LogRow& first = stage->rows.front();
  const double p0 = run.p_star(first);
  const double rate = first.theta.a * p0 * run.facts.information.gap / (2.0 * first.theta.C_D());
  for (const LogRow& row : stage->rows) {
    check.tally.at_most(1.0 - run.p_star(row), (1.0 - p0) * std::exp(-rate * row.time));
  }
  check.note = fmt::format("t_1 = {:.4g}, trained to {:.4g}", std::log(run.L()) / rate,
                           stage->rows.back().time);
}

void stage_one_end(const RunView& run, Check& check) {
  const StageRows* stage = only(run, &Blocks::c);
  if (stage == nullptr) return skip_without("c", check);
  if (run.star < 0) return check.tally.skip("S* is no subset of the heads");
  if (!run.setup.data.L) return check.tally.skip("1/L is 0 at L = inf");
  check.tally.at_most(1.0 - run.p_star(stage->rows.back()), 1.0 / run.L());
}

void normalisation(const RunView& run, Check& check) {
  const StageRows* stage = only(run, &Blocks::c);
  if (stage == nullptr) return skip_without("c", check);
  const double first = stage->rows.front().theta.C_D();
  const double last = stage->rows.back().theta.C_D();
  check.binding = stage->stage.method == "flow";
  const double allowed = check.binding ? 10.0 * stage->stage.tolerance : 0.01;
  for (const LogRow& row : stage->rows) {
    check.tally.at_most(std::abs(row.theta.C_D() / first - 1.0), allowed);
  }
  check.note = fmt::format(
      "C_D(end) / C_D(0) = {:.4f}; the lemma is about the flow, a gd step adds rate^2 |grad_c|^2",
      last / first);
}

void never_shrinks(const RunView& run, Check& check) {
  const StageRows* stage = only(run, &Blocks::c);
  if (stage == nullptr) return skip_without("c", check);
  if (stage->stage.method != "gd") return check.tally.skip("stage I is no gradient descent");
  for (std::size_t i = 1; i < stage->rows.size(); ++i) {
    check.tally.at_most(stage->rows[i - 1].theta.C_D(), stage->rows[i].theta.C_D() * (1.0 + 1e-9));
  }
}

void focus_rises(const RunView& run, Check& check) {
  const StageRows* stage = only(run, &Blocks::w);
  if (stage == nullptr) return skip_without("w", check);
  for (Eigen::Index h = 0; h < run.setup.model.H; ++h) {
    if (!(run.facts.S_star() >> h & 1U)) continue;
    for (std::size_t i = 1; i < stage->rows.size(); ++i) {
      check.tally.at_most(own_weight(stage->rows[i - 1].theta.w, h),
                          own_weight(stage->rows[i].theta.w, h));
    }
  }
}

void stage_two_bound(const RunView& run, Check& check) {
  const StageRows* stage = only(run, &Blocks::w);
  if (stage == nullptr) return skip_without("w", check);
  const Parameters& first = stage->rows.front().theta;
  double sigma_min = 1.0;
  for (Eigen::Index h = 0; h < run.setup.model.H; ++h) {
    if (run.facts.S_star() >> h & 1U) sigma_min = std::min(sigma_min, own_weight(first.w, h));
  }
  const double rate = first.a * run.facts.information.gap * sigma_min / 2.0;
  const double others = run.setup.model.M - 1.0;
  const double factor = 2.0 * subset_size(run.facts.S_star()) * others;
  for (const LogRow& row : stage->rows) {
    check.tally.at_most(
        1.0 - focus(row.theta.w, run.facts.S_star()),
        factor / (std::exp(smallest_gap(first.w, run.facts.S_star())) + rate * row.time));
  }
  check.note = fmt::format("t_2 - t_1 = {:.4g}, trained to {:.4g}", run.L() * factor / rate,
                           stage->rows.back().time);
}

void unused_heads(const RunView& run, Check& check) {
  const StageRows* stage = only(run, &Blocks::w);
  if (stage == nullptr) return skip_without("w", check);
  const Parameters& first = stage->rows.front().theta;
  const Eigen::VectorXd p = first.p();
  Eigen::Index best = 0;
  p.maxCoeff(&best);
  const double Delta_1 = 1.0 - p[best];
  const Subset S = run.subsets[static_cast<std::size_t>(best)];
  for (Eigen::Index h = 0; h < run.setup.model.H; ++h) {
    if (S >> h & 1U) continue;
    for (const LogRow& row : stage->rows) {
      const double moved = (row.theta.w.row(h) - first.w.row(h)).cwiseAbs().maxCoeff();
      check.tally.at_most(moved, 4.0 * first.a * Delta_1 * row.time);
    }
  }
  if (check.tally.checked() == 0) check.tally.skip("every head is in the selected set");
}

void focus_sums(const RunView& run, Check& check) {
  for (const StageRows& stage : run.stages) {
    const Eigen::VectorXd first = stage.rows.front().theta.w.rowwise().sum();
    for (const LogRow& row : stage.rows) {
      const Eigen::VectorXd now = row.theta.w.rowwise().sum();
      for (Eigen::Index h = 0; h < now.size(); ++h) {
        if (stage.stage.method == "flow") {
          // Over its long steps the rounding of the gradient adds up.
          check.tally.at_most(std::abs(now[h] - first[h]), 10.0 * stage.stage.tolerance);
        } else {
          check.tally.equal(now[h], first[h]);
        }
      }
    }
  }
}

void frozen_blocks(const RunView& run, Check& check) {
  for (const StageRows& stage : run.stages) {
    const Parameters& first = stage.rows.front().theta;
    const Blocks& trains = stage.stage.trains;
    for (const LogRow& row : stage.rows) {
      if (!trains.c) check.tally.require(row.theta.c == first.c);
      if (!trains.w) check.tally.require(row.theta.w == first.w);
      if (!trains.a) check.tally.require(row.theta.a == first.a);
    }
  }
  if (check.tally.checked() == 0) check.tally.skip("every stage trains everything");
}

void loss_falls(const RunView& run, Check& check) {
  bool flow = true;
  for (const StageRows& stage : run.stages) {
    flow = flow && stage.stage.method == "flow";
    for (std::size_t i = 1; i < stage.rows.size(); ++i) {
      check.tally.at_most(stage.rows[i].train_loss, stage.rows[i - 1].train_loss);
    }
  }
  check.binding = flow && check.tally.checked() > 0;
  if (check.tally.checked() == 0) check.tally.skip("no stage");
}

const RunRow run_rows[] = {
    {"selected", "S* has the largest p at the end of stage I", "Theorem 3.6, I", false, selected},
    {"foretold", "stage I selects the subset of the largest g_3 at the initial w", "E.7", false,
     foretold},
    {"I.bound", "1 - p_S*(t) <= (1 - p_S*(0)) exp(-a p_S*(0) gap t / (2 C_D(0)))", "Theorem 3.6, I",
     false, stage_one_bound},
    {"I.end", "1 - p_S* <= 1/L at the end of stage I", "Theorem 3.6, I", false, stage_one_end},
    {"E.1.flow", "C_D is conserved in stage I: within 10 tolerances of a flow, 1 % of gd",
     "Lemma E.1", false, normalisation},
    {"E.1.gd", "C_D never falls in stage I", "ours, from E.1", true, never_shrinks},
    {"E.2", "sigma^(h)_{-h} of every head in S* rises in stage II", "Lemma E.2", false,
     focus_rises},
    {"II.bound",
     "1 - prod_{h in S*} (sigma^(h)_{-h})^2 <= 2 |S*| (M-1) / (e^Delta_w + a gap sigma_min t / 2)",
     "Theorem 3.6, II", false, stage_two_bound},
    {"II.unused", "heads outside the selected set move by at most 4 a Delta_1 t in stage II",
     "ours", true, unused_heads},
    {"III.rises", "a rises in stage III", "Theorem 3.6, III", false, a_rises},
    {"III.regimes", "a grows at first more than ten times as fast as at last", "Theorem 3.6, III",
     false, two_regimes},
    {"rows", "sum_i w^(h)_{-i} of every head is conserved, in a flow within 10 tolerances",
     "ours, from E.15", true, focus_sums},
    {"blocks", "each stage moves nothing but what it trains", "B.1", true, frozen_blocks},
    {"loss", "the training loss never rises between log rows", "3.4", false, loss_falls},
};

}  // namespace

std::vector<Check> check_run(const Setup& setup, const PriorFacts& facts,
                             const std::vector<Check>& conditions, const Log& log) {
  RunView run{setup, facts, conditions_hold(conditions), setup.model.subsets(), -1, {}};
  const auto at = std::find(run.subsets.begin(), run.subsets.end(), facts.S_star());
  if (at != run.subsets.end()) run.star = at - run.subsets.begin();
  for (std::size_t begin = 0; begin < log.size();) {
    std::size_t end = begin;
    while (end < log.size() && log[end].stage == log[begin].stage) ++end;
    const int number = log[begin].stage;
    if (number >= 1 && static_cast<std::size_t>(number) <= setup.schedule.size()) {
      run.stages.push_back({setup.schedule[static_cast<std::size_t>(number - 1)],
                            std::span(log).subspan(begin, end - begin)});
    }
    begin = end;
  }
  std::vector<Check> checks;
  for (const RunRow& row : run_rows) {
    Check check{row.id, row.statement, row.equation, "exact", {}, row.always || run.conditions, ""};
    if (run.stages.empty()) {
      check.tally.skip("the run has no stage");
    } else {
      row.check(run, check);
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace gih
