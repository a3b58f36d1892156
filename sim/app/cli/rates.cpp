#include "rates.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace gih::cli {
namespace {

using nlohmann::json;

void print_json(const GrowthRates& found, const std::string& S_star) {
  json rows = json::array();  // what is no number becomes null
  for (const GrowthRate& rate : found.rates) {
    rows.push_back({{"stage", rate.stage},
                    {"of", rate.of},
                    {"from", rate.from},
                    {"to", rate.to},
                    {"value", rate.value},
                    {"measured", rate.measured},
                    {"predicted", rate.predicted},
                    {"bound", rate.bound}});
  }
  const json document{{"S_star", S_star},
                      {"I_star", found.choice.I_star},
                      {"gap", found.choice.gap},
                      {"rates", rows}};
  fmt::print("{}\n", document.dump(1));
}

}  // namespace

void print_rates(const GrowthRates& found, const Setup& setup, bool as_json) {
  const std::string S_star = subset_code(found.choice.S_star, setup.model.H);
  if (as_json) return print_json(found, S_star);
  fmt::print("S* = {}, I* = {:.5g}, gap = {:.5g} of the run's own {} kernels\n\n", S_star,
             found.choice.I_star, found.choice.gap, setup.data.train);
  fmt::print("{:<5} {:<14} {:>4} {:>12} {:>12}  {:<18} {}\n", "stage", "of", "rows", "first",
             "predicted", "all / predicted", "all / bound");
  for (const RateSummary& line : summaries(found)) {
    fmt::print("{:<5} {:<14} {:>4} {:>12.5g} {:>12.5g}  {:<18} {}\n", line.first.stage,
               line.first.of, line.rows, line.first.measured, line.first.predicted,
               fmt::format("{:.4f} to {:.4f}", line.least, line.most),
               std::isnan(line.least_of_bound) ? "-" : fmt::format("{:.4g}", line.least_of_bound));
  }
}

}  // namespace gih::cli
