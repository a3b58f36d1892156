#pragma once
// The estimators' part of `gih evaluate`: what others would predict on the same prompts, and how
// good each is.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli.hpp"
#include "gih/data/prompts.hpp"
#include "gih/io/data_file.hpp"
#include "gih/theory/measures.hpp"

namespace gih::cli {

/// One predictor; the measures are in the order of measure_table(), none where pi is not known.
struct Compared {
  std::string name;
  Matrix y;             ///< questions x d; no rows when refused
  std::string refused;  ///< why it has no answer; empty when it has
  std::vector<std::optional<Measured>> measures;
  std::vector<std::optional<Measured>> differences;  ///< the reference's minus its own, paired
  std::optional<Measured> distance;                  ///< ||reference's y - its own||_1
};

struct Comparison {
  std::string gih_subset;          ///< S of the GIH
  std::string reference;           ///< the predictor that the others are compared with
  std::vector<Compared> compared;  ///< the model first
};

nlohmann::json to_json(const Matrix& m);

/// The options that tell what estimators may know, and what they are compared with.
std::vector<Option> estimator_options();

/// S of the GIH: --subset, otherwise the subset of largest p_S.
Subset gih_subset(const Arguments& arguments, const ParameterFile& parameters);

/// `data` holds the token table read from --data, y the model's predictions of its sequences.
Comparison compare_estimators(const Arguments& arguments, const DataSpec& data,
                              const ParameterFile& parameters, const Matrix& y);

/// Adds "gih_subset", "against", "estimators" (unless a summary is wanted), "refused", "measures",
/// "differences" and "distances".
void add_json(const Comparison& comparison, bool only_summary, nlohmann::json& answer);

void print(const Comparison& comparison);

}  // namespace gih::cli
