#pragma once
// `gih evaluate --attention`: where both layers look on each prompt, by the reference formulas, and
// beside it where the generalised induction head looks.

#include <nlohmann/json.hpp>

#include "gih/data/dataset.hpp"
#include "gih/io/data_file.hpp"

namespace gih::cli {

/// `data` holds the token table read from --data, S is that of the GIH.
nlohmann::json attention_json(const DataSpec& data, const ParameterFile& parameters, Subset S);

/// The first `shown` prompts, of each the positions with most attention.
void print_attention(const DataSpec& data, const ParameterFile& parameters, Subset S,
                     std::size_t shown);

}  // namespace gih::cli
