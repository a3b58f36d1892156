#include "gih/memory/compress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gih/base/error.hpp"
#include "gih/memory/weights.hpp"

namespace gih {

const std::vector<CompressorRow>& compressor_table() {
  using enum Compressor;
  static const std::vector<CompressorRow> table{
      // weights, convex, blocks, ragged, usage
      {drop, "drop", "nothing is kept, as in Transformer-XL", false, true, true, true, false},
      {mean, "mean", "mean of c items", false, true, true, true, false},
      {sum, "sum", "mean of values, sum of keys", false, true, true, true, false},
      {max, "max", "largest entries; values see memory.max-value", false, true, true, true, false},
      {conv, "conv", "z = sum_i W_i h_i + b", true, false, true, false, false},
      {conv_dw, "conv-dw", "conv with diagonal W_i", true, false, true, false, false},
      {conv_scalar, "conv-scalar", "conv with W_i = omega_i 1", true, false, true, false, false},
      {conv_kv, "conv-kv", "conv of keys, convex mean of values", true, true, true, false, false},
      {dilated, "dilated", "dilated causal layers, then conv", true, false, true, false, false},
      {most_used, "most-used", "the items with the largest mean attention", false, true, true, true,
       true},
      {decimate, "decimate", "one item of c", false, true, true, true, false},
      {group, "group", "one slot a key, whatever the time", false, true, false, true, false},
      {matrix, "matrix", "the sums of u x^T, u and x", false, true, false, true, false},
      {matrix_decay, "matrix-decay", "matrix with fading items", false, true, false, true, false},
      {snap_att, "snap-att", "attention with a trained query", true, true, true, false, false},
  };
  return table;
}

const CompressorRow& compressor_row(Compressor kind) {
  return compressor_table()[static_cast<std::size_t>(kind)];
}

const CompressorRow& compressor_row(const std::string& name) {
  std::string names;
  for (const CompressorRow& row : compressor_table()) {
    if (name == row.name) return row;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  }
  throw InputError(fmt::format("compressor \"{}\": must be one of {}", name, names));
}

bool is_convex(const CompressorSpec& spec) {
  if (spec.kind == Compressor::conv_scalar) return spec.softmax_taps;
  if (spec.kind == Compressor::max) return spec.max_value != MaxValue::raw;
  return compressor_row(spec.kind).convex;
}

std::size_t CompressorSpec::halo_rows() const {
  if (kind != Compressor::dilated || edge == Edge::zero) return 0;
  std::size_t rows = 0, step = 1;
  for (int layer = 0; layer < layers; ++layer, step *= static_cast<std::size_t>(width)) {
    rows += static_cast<std::size_t>(width - 1) * step;
  }
  return rows;
}

void check_compressor(const CompressorSpec& spec) {
  if (spec.rate < 1 || spec.rate > 1000000) {
    throw InputError(fmt::format("compression rate {}: must be from 1 to 1e6", spec.rate));
  }
  if (spec.kind == Compressor::dilated &&
      (spec.layers < 1 || spec.layers > 10 || spec.width < 1 || spec.width > 10)) {
    throw InputError(
        fmt::format("dilated convolution of {} layers of {} taps: both must be from 1 "
                    "to 10",
                    spec.layers, spec.width));
  }
  if (!(spec.decay > 0.0 && spec.decay <= 1.0)) {
    throw InputError(fmt::format("decay {}: must be above 0 and at most 1", spec.decay));
  }
}

namespace {

using Index = Eigen::Index;

/// What a slot that stands for these ones knows of itself.
SlotInfo joint_info(const Slots& from, std::size_t first, std::size_t count) {
  SlotInfo info;
  info.n = 0.0;
  info.null = true;
  double weight = 0.0;
  for (std::size_t i = first; i < first + count; ++i) {
    const SlotInfo& member = from.info(i);
    info.use += member.use;
    info.queries = std::max(info.queries, member.queries);
    if (member.null) continue;
    if (info.null) info.lo = member.lo;
    info.null = false;
    info.hi = member.hi;
    info.n += member.n;
    info.cen += member.n * member.cen;
    weight += member.n;
  }
  if (weight > 0.0) info.cen /= weight;
  if (info.null) info.n = static_cast<double>(count);  // a null slot is as visible as its members
  return info;
}

Matrix rows_of(const Slots& from, std::size_t first, std::size_t count) {
  Matrix rows(static_cast<Index>(count), from.d_e() + from.d());
  for (std::size_t i = 0; i < count; ++i) {
    double* row = rows.row(static_cast<Index>(i)).data();
    std::copy(from.key(first + i), from.key(first + i) + from.d_e(), row);
    std::copy(from.value(first + i), from.value(first + i) + from.d(), row + from.d_e());
  }
  return rows;
}

/// The floor(rows/c) most used of the first `rows`, in their order; of equals the newest.
void keep_most_used(const CompressorSpec& spec, const Slots& from, std::size_t rows, Slots& to) {
  const std::size_t kept = rows / spec.rate;
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    const double of_i = from.info(i).usage(), of_j = from.info(j).usage();
    return of_i != of_j ? of_i > of_j : i > j;
  });
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept));
  double items = 0.0;
  for (std::size_t i = 0; i < rows; ++i) items += from.info(i).null ? 0.0 : from.info(i).n;
  for (std::size_t i = 0; i < kept; ++i) {
    SlotInfo info = from.info(order[i]);
    if (spec.keep_counts && !info.null) info.n = items / static_cast<double>(kept);
    to.push(from.key(order[i]), from.value(order[i]), info);
  }
}

void push_block(const CompressorSpec& spec, const Slots& from, std::size_t first, std::size_t count,
                const double* z, Slots& to, std::size_t id) {
  SlotInfo info = joint_info(from, first, count);
  info.id = id;
  if (spec.kind == Compressor::sum) {
    // Sums of sums: the gains of the members multiply with their number.
    info.gain = static_cast<double>(count) * from.info(first).gain;
  }
  to.push(z, z + from.d_e(), info);
}

}  // namespace

void compress(const CompressorSpec& spec, const Eigen::VectorXd& weights, const Slots& from,
              std::size_t rows, const Slots& halo, Slots& to, Tape* tape) {
  if (spec.kind == Compressor::drop || rows == 0) return;
  if (spec.kind == Compressor::most_used) return keep_most_used(spec, from, rows, to);
  CompressorSpec here = spec;
  const std::size_t before = std::min(halo.size(), spec.halo_rows());
  const Matrix halo_rows = rows_of(halo, halo.size() - before, before);
  for (std::size_t first = 0; first < rows;) {
    // All whole blocks at once, then the smaller one.
    const std::size_t left = rows - first;
    const std::size_t count = left >= spec.rate ? left / spec.rate * spec.rate : left;
    here.rate = std::min(spec.rate, count);
    const Matrix old = rows_of(from, first, count);
    const Matrix z = compress_rows(here, weights, from.d_e(), old, halo_rows);
    Compression step;
    for (std::size_t j = 0; j < count / here.rate; ++j) {
      const std::size_t at = first + j * here.rate;
      if (spec.kind == Compressor::decimate) {
        const std::size_t kept = spec.keep_first ? at : at + here.rate - 1;
        SlotInfo info = from.info(kept);
        info.n = joint_info(from, at, here.rate).n;
        to.push(from.key(kept), from.value(kept), info);
        continue;
      }
      const std::size_t id = tape != nullptr ? tape->next_id(0) : 0;
      push_block(spec, from, at, here.rate, z.row(static_cast<Index>(j)).data(), to, id);
      step.outputs.push_back(id);
    }
    if (tape != nullptr && !step.outputs.empty()) {
      for (std::size_t i = 0; i < count; ++i) step.inputs.push_back(from.info(first + i).id);
      for (std::size_t i = halo.size() - before; i < halo.size(); ++i) {
        step.before.push_back(halo.info(i).id);
      }
      step.old = old;
      step.halo = halo_rows;
      step.made = tape->now;
      tape->steps.push_back(std::move(step));
    }
    first += count;
  }
}

void merge(const CompressorSpec& spec, const Slots& from, std::size_t rows, Slots& to) {
  for (std::size_t i = 0; i < rows; ++i) {
    const double* u = from.key(i);
    const SlotInfo& item = from.info(i);
    if (item.null) continue;
    std::size_t at = to.size();
    double best = spec.similarity, length = 0.0;
    for (Index e = 0; e < from.d_e(); ++e) length += u[e] * u[e];
    for (std::size_t j = 0; j < to.size(); ++j) {
      double inner = 0.0, other = 0.0;
      for (Index e = 0; e < from.d_e(); ++e) {
        inner += u[e] * to.key(j)[e];
        other += to.key(j)[e] * to.key(j)[e];
      }
      const double product = std::sqrt(length * other);
      const double cosine = product > 0.0 ? inner / product : (length == other ? 1.0 : 0.0);
      if (cosine >= best) {
        best = cosine;
        at = j;
      }
    }
    if (at == to.size()) {
      to.push(u, from.value(i), item);
      continue;
    }
    SlotInfo& info = to.info(at);
    const double share = item.n / (info.n + item.n);
    for (Index e = 0; e < from.d_e(); ++e) to.key(at)[e] += share * (u[e] - to.key(at)[e]);
    for (Index k = 0; k < from.d(); ++k) {
      to.value(at)[k] += share * (from.value(i)[k] - to.value(at)[k]);
    }
    info.cen += share * (item.cen - info.cen);
    info.n += item.n;
    info.hi = item.hi;
  }
}

double compress_flops(const CompressorSpec& spec, double n, double d_e, double d, double slots) {
  const double p = d_e + d;
  switch (spec.kind) {
    case Compressor::drop:
      return 0.0;
    case Compressor::conv:
      return n * p * p;
    case Compressor::conv_kv:
      return n * (d_e * d_e + d);
    case Compressor::dilated:
      return n * p * p * (spec.layers * spec.width + 1);
    case Compressor::most_used:
      return n * std::log2(std::max(2.0, n));
    case Compressor::decimate:
      return n / static_cast<double>(spec.rate) * p;
    case Compressor::group:
      return n * slots * d_e;
    case Compressor::matrix:
    case Compressor::matrix_decay:
      return n * d_e * d;
    case Compressor::snap_att:
      return n * (d_e + p);
    default:
      return n * p;
  }
}

}  // namespace gih
