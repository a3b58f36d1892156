#pragma once
// The keys memory.*, one row each, and what they say, typed: what gih memory takes besides data,
// model and init.

#include <optional>
#include <string>
#include <vector>

#include "gih/memory/evaluation.hpp"
#include "gih/memory/snapshot_training.hpp"
#include "gih/memory/training.hpp"

namespace gih {

/// Where the snapshots' queries come from.
enum class SnapQueries { mean, oracle, trained };

struct MemorySettings {
  bool snaptra = false;     ///< snapshots in place of a streaming memory
  bool trained = false;     ///< features from trained parameters instead of their limit
  std::vector<int> lags{};  ///< S of the head; empty: data.parents
  Halo halo = Halo::exact;
  StreamSpec stream;
  bool trained_scale = false;  ///< read.a is the trained a
  ReadOptions read{.a = 8.0};
  MemoryTraining training{.by = TrainBy::none};
  double eps = 1e-3;
  double switching = 0.0;

  SnapSpec snap;  ///< its segment is the stream's
  SnapQueries snap_queries = SnapQueries::mean;
  bool snap_tune_all = false;

  std::string lags_text() const;
};

struct KeyRow;
/// Rows of the table in config.hpp.
std::vector<KeyRow> memory_keys();
/// Those of them that are about snapshots.
std::vector<KeyRow> snap_keys();

}  // namespace gih
