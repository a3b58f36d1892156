#pragma once
// Do the hypotheses of the convergence theorem hold for a configuration, and what do they demand?

#include <string>
#include <vector>

#include "gih/data/dataset.hpp"
#include "gih/model/objective.hpp"
#include "gih/theory/information.hpp"
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
  Parameters theta;  ///< at the start
  double eps = 0.0;
  Schedule schedule;
  std::size_t kernels = 2000;  ///< kernels of the prior that means are taken over
  int threads = 1;
};

/// Facts of the prior that conditions and run checks share.
struct PriorFacts {
  Information information;  ///< over subsets of the M lags with at most (exactly) D elements
  double gamma = 0.0;       ///< greatest lower bound of the entries under the prior: its floor
  double lambda = 0.0;      ///< largest |lambda_2|
  double lambda_median = 0.0;
  double share_near_one = 0.0;  ///< share of kernels with |lambda_2| > 0.99
  double share_breaking = 0.0;  ///< share of kernels that break Assumption 3.5
  std::vector<double> weighted, weighted_error;  ///< mean g_{3,S} at the initial w, subsets of heads
  std::size_t weighted_best = 0;                 ///< index of the largest
  double weighted_gap = 0.0, weighted_gap_error = 0.0;  ///< paired, to the nearest

  Subset S_star() const { return information.subsets[information.S_star]; }
  double I_star() const { return information.modified[information.S_star]; }
};

PriorFacts prior_facts(const Setup& setup);

/// Delta_w: by how much each head's own lag leads its others (3.6); the smallest over heads.
double concentration(const Matrix& w);

/// The Delta_w that (3.6) demands with constant k: 14 is what both stages need.
double demanded_concentration(int M, double gap, double I_star, double k);

/// Hypotheses of the theorem, one check each, none binding: a configuration need not satisfy them.
std::vector<Check> check_conditions(const Setup& setup, const PriorFacts& facts);

/// All hypotheses that the stages' bounds rest on hold (no FAIL or UNDECIDED among the conditions).
bool conditions_hold(const std::vector<Check>& conditions);

}  // namespace gih
