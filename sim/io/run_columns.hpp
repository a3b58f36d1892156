#pragma once
// The columns of a log, and of the parameters, in a run file.

#include <cstdint>
#include <span>

#include "gih/training/log.hpp"
#include "hdf5.hpp"

namespace gih {

/// What there is one number of.
enum class Per { row, subset, weight, word, channel };

/// One quantity of a log row. Adding a column: a row in the table of run_columns.cpp.
struct Column {
  const char* name;
  Per per;
  bool is_final;  ///< also in /final: it is a function of the parameters alone
  const char* description;
  void (*put)(const LogRow&, double*);
  void (*get)(LogRow&, const double*);  ///< null where the other columns determine it
};

std::span<const Column> run_columns();

/// What the shapes depend on.
struct Sizes {
  ModelSpec model;
  std::uint64_t nS, H, M, d;

  explicit Sizes(const ModelSpec& of)
      : model(of),
        nS(of.subsets().size()),
        H(static_cast<std::uint64_t>(of.H)),
        M(static_cast<std::uint64_t>(of.M)),
        d(static_cast<std::uint64_t>(of.d)) {}

  bool has(Per per) const {
    if (per == Per::word) return model.variant == Variant::full;
    if (per == Per::channel) return model.head_norm == HeadNorm::layer;
    return true;
  }
  hdf5::Shape of(Per per) const {
    if (per == Per::subset) return {nS};
    if (per == Per::weight) return {H, M};
    if (per == Per::word) return {H, d, d};
    if (per == Per::channel) return {d};
    return {};
  }
  hdf5::Shape of(Per per, std::uint64_t T) const {
    hdf5::Shape shape = of(per);
    shape.insert(shape.begin(), T);
    return shape;
  }
};

}  // namespace gih
