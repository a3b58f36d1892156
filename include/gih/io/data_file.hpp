#pragma once
// Data files (HDF5) and the JSON forms of tokens, kernels and parameters; docs/files.md.

#include <filesystem>
#include <string>
#include <vector>

#include "gih/data/dataset.hpp"
#include "gih/model/objective.hpp"

namespace gih {

/// Writes /tokens (rows x columns; uint8 up to d = 256, else uint16), and when present /kernels
/// (rows x d^n x d) and /conditional (rows x d); atomically, like write_run.
void write_data(const std::filesystem::path& path, const TokenTable& table,
                const std::vector<int>& parents, const std::string& config);

/// Tokens from a data file or from JSON {"vocab": d, "tokens": [[...]]}; the first bytes tell
/// which. InputError naming file, row and value when a token is outside the vocabulary.
TokenTable read_tokens(const std::filesystem::path& path);

/// Kernels from JSON (one object, or {"kernels": [objects]}) or from a data file's /kernels.
std::vector<Kernel> read_kernels(const std::filesystem::path& path);

/// Parameters and the model and loss they belong to.
struct ParameterFile {
  ModelSpec model;
  double eps = 0.0;
  Parameters theta;
  LossKind loss_kind = LossKind::cross_entropy;

  LossSpec loss() const { return {eps, loss_kind}; }
};

/// From JSON {"window", "degree", "mask", "eps", "w", "c", "a"}, in the full variant "W_Q", "W_K",
/// "W_V" too; d is the caller's.
ParameterFile read_parameters_json(const std::filesystem::path& path);

}  // namespace gih
