#pragma once
// What `gih verify --rates` prints.

#include "gih/theory/growth_rates.hpp"

namespace gih::cli {

/// Every row as JSON, or a line a quantity.
void print_rates(const GrowthRates& found, const Setup& setup, bool as_json);

}  // namespace gih::cli
