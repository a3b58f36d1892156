#pragma once
// The keys memory.*, one row each, and what they say, typed: what gih memory takes besides data,
// model and init.

#include <optional>
#include <string>
#include <vector>

#include "gih/memory/evaluation.hpp"
#include "gih/memory/training.hpp"

namespace gih {

struct MemorySettings {
  bool trained = false;     ///< features from trained parameters instead of their limit
  std::vector<int> lags{};  ///< S of the head; empty: data.parents
  Halo halo = Halo::exact;
  StreamSpec stream;
  bool trained_scale = false;  ///< read.a is the trained a
  ReadOptions read{.a = 8.0};
  MemoryTraining training{.by = TrainBy::none};
  double eps = 1e-3;
  double switching = 0.0;

  std::string lags_text() const;
};

struct KeyRow;
/// Rows of the table in config.hpp. Their defaults are not written into configurations.
std::vector<KeyRow> memory_keys();

}  // namespace gih
