#pragma once
// What gih information found, as JSON and as a table.

#include <optional>
#include <string>

#include "gih/app/settings.hpp"
#include "gih/theory/information.hpp"
#include "gih/theory/mixing.hpp"

namespace gih::cli {

/// What is asked for, and everything that was found.
struct InformationReport {
  Settings settings;
  ModelSpec model;
  std::size_t kernels = 0;
  PriorInformation prior;
  std::string not_weighted;  // why g_3 was left out
  std::optional<Choice> finite;
  std::optional<Mixing> chain;  // of one kernel
  PriorMixing chains;           // of several

  std::string code(std::size_t S) const { return subset_code(model.subsets()[S], model.H); }
};

/// InputError for what would take hours or more memory than there is, with what is feasible.
void check_effort(const Settings& settings, std::size_t kernels);

std::string information_json(const InformationReport& report);
std::string information_text(const InformationReport& report);

}  // namespace gih::cli
