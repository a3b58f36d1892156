#pragma once
// Compression functions f_c: c consecutive slots become one. A table of them; adding one is a row
// in compress.cpp, and for one with weights its formulas in weights.cpp.

#include <string>
#include <vector>

#include "gih/memory/attend.hpp"
#include "gih/memory/slots.hpp"

namespace gih {

enum class Compressor {
  drop,
  mean,
  sum,
  max,
  conv,
  conv_dw,
  conv_scalar,
  conv_kv,
  dilated,
  most_used,
  decimate,
  group,
  matrix,
  matrix_decay,
  snap_att
};

enum class MaxValue { norm, raw, mean };  ///< value part of max pooling
enum class Edge { halo, zero };           ///< what a dilated convolution sees before its block

struct CompressorSpec {
  Compressor kind = Compressor::mean;
  std::size_t rate = 4;  ///< c, 1 or more
  MaxValue max_value = MaxValue::norm;
  bool keep_first = false;    ///< decimate: the first of a block instead of the last
  bool keep_counts = false;   ///< most_used: kept items stand for all of their group
  int layers = 2, width = 2;  ///< dilated: R layers of w taps
  Edge edge = Edge::halo;
  bool softmax_taps = false;       ///< conv_scalar: its taps are a softmax, so z is convex
  double similarity = 1.0 - 1e-9;  ///< group: least cosine of keys that share a slot
  double decay = 0.99;             ///< matrix_decay: per item, above 0 to 1

  /// Rows before a block that a dilated convolution sees: sum_rho (w-1) w^rho.
  std::size_t halo_rows() const;
};

struct CompressorRow {
  Compressor kind;
  const char* name;
  const char* meaning;
  bool weights;     ///< has trained weights
  bool convex;      ///< values stay in the simplex
  bool blocks;      ///< works on blocks of c; else takes every evicted item at once
  bool ragged;      ///< takes a smaller last block
  bool uses_usage;  ///< depends on the attention that slots received
};

const std::vector<CompressorRow>& compressor_table();
const CompressorRow& compressor_row(Compressor kind);
/// By name; InputError listing the names when there is none.
const CompressorRow& compressor_row(const std::string& name);
/// Values stay in the simplex: also of conv_scalar with softmax taps, not of max with raw values.
bool is_convex(const CompressorSpec& spec);

/// InputError, naming value and range, unless the fields are usable.
void check_compressor(const CompressorSpec& spec);

/// What became what, by slot ids, for gradients: output j of a compression came from its block of
/// the inputs.
struct Compression {
  std::vector<std::size_t> inputs, outputs, before;  ///< before: ids of the halo
  Matrix old, halo;      ///< rows of the inputs and of those before them
  std::size_t made = 0;  ///< position at whose end it happened
};
struct Tape {
  std::vector<Compression> steps;
  std::vector<std::size_t> positions{0};  ///< by id: position of a raw item, 0 for others
  std::size_t now = 0;                    ///< position under way
  std::size_t next_id(std::size_t position) {
    positions.push_back(position);
    return positions.size() - 1;
  }
};

/// Compresses the first `rows` of `from`, in blocks of c (the last may be smaller, `ragged`), to
/// the end of `to`. `weights` as in weights.hpp, empty for those without; `halo` are the slots
/// before `from`. For the compressors that work on blocks.
void compress(const CompressorSpec& spec, const Eigen::VectorXd& weights, const Slots& from,
              std::size_t rows, const Slots& halo, Slots& to, Tape* tape);

/// group: the first `rows` of `from` into the slots of `to` with their key, or into new ones.
void merge(const CompressorSpec& spec, const Slots& from, std::size_t rows, Slots& to);

/// Multiply-adds of compressing n evicted items of p entries (d_e of them key); table in
/// docs/memory.md.
double compress_flops(const CompressorSpec& spec, double n, double d_e, double d, double slots);

}  // namespace gih
