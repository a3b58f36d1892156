#pragma once
// Do the hypotheses of the convergence theorem hold for a configuration, and what do they demand?

#include <functional>
#include <string>
#include <vector>

#include "gih/data/dataset.hpp"
#include "gih/model/objective.hpp"
#include "gih/theory/information.hpp"
#include "gih/theory/mixing.hpp"
#include "gih/theory/tally.hpp"
#include "gih/training/schedule.hpp"

namespace gih {

/// One line of a verification: a comparison of two sides, and whether it had to hold here.
struct Check {
  std::string id, statement, equation;
  std::string mode = "exact";  ///< "exact" or "sampled"
  Tally tally;
  /// Its hypotheses hold here, so a FAIL is a failure of the theory or of the program. A check that
  /// is not binding reports what was found.
  bool binding = false;
  std::string note;
};

/// What the theorem's conditions need to know of a configuration.
struct Setup {
  DataSpec data;
  ModelSpec model;
  PromptSpec prompts;
  Parameters theta;  ///< at the start
  double eps = 0.0;
  Schedule schedule;
  std::size_t kernels = 2000;  ///< kernels of the prior that means are taken over
  int threads = 1;
};

/// Facts of the prior that conditions and run checks share.
struct PriorFacts {
  Information information;  ///< over subsets of the M lags with at most (exactly) D elements
  Choice weighted;          ///< g_{3,S} at the initial w, subsets of heads
  PriorMixing mixing;
  double gamma = 0.0;  ///< greatest lower bound of the entries under the prior: its floor

  Subset S_star() const { return information.subsets[information.S_star]; }
  double I_star() const { return information.modified[information.S_star]; }
};

/// `done`, when given, hears now and then how many kernels are measured; when it returns false, the
/// result is empty.
PriorFacts prior_facts(const Setup& setup, const std::function<bool(std::size_t)>& done = {});

/// Which subset stage I will select: the leader of g_{1,S} over the training prompts at the initial
/// weights (sec. E.2), against S*. No hypothesis, but what a violated one leads to.
Check forecast(const Setup& setup, const PriorFacts& facts);

/// (3.6): each head's own lag leads its others at weights w by the Delta_w that the gap demands, k
/// being 14 for all stages, 8 for the first. Left is what is demanded, right what there is.
Check gap_condition(const ModelSpec& model, const Matrix& w, const Information& information,
                    double k);

/// Hypotheses of the theorem, one check each, none binding: a configuration need not satisfy them.
std::vector<Check> check_conditions(const Setup& setup, const PriorFacts& facts);

/// All hypotheses that the stages' bounds rest on hold (no FAIL or UNDECIDED among the conditions).
bool conditions_hold(const std::vector<Check>& conditions);

}  // namespace gih
