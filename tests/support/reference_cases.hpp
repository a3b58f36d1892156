#pragma once
// The cases of transformer_cases.json, made by an independent autograd program.

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "gih/model/parameters.hpp"

namespace gih::test {

/// The cases of a variant, "simple" or "full".
inline std::vector<nlohmann::json> read_cases(const char* variant) {
  std::ifstream file(GIH_TEST_DATA "/transformer_cases.json");
  if (!file) throw std::runtime_error("transformer_cases.json is missing");
  return nlohmann::json::parse(file).at(variant).get<std::vector<nlohmann::json>>();
}

inline Eigen::VectorXd vector_of(const nlohmann::json& values) {
  const auto entries = values.get<std::vector<double>>();
  return Eigen::VectorXd::Map(entries.data(), static_cast<Eigen::Index>(entries.size()));
}

inline Matrix matrix_of(const nlohmann::json& rows) {
  Matrix result(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(rows[0].size()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    result.row(static_cast<Eigen::Index>(r)) = vector_of(rows[r]).transpose();
  }
  return result;
}

}  // namespace gih::test
