#include "gih/memory/snaptra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "gih/base/error.hpp"

namespace gih {
namespace {

using Index = Eigen::Index;
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

Eigen::Map<const Eigen::VectorXd> key_at(const Items& items, std::size_t l) {
  return {items.u.row(static_cast<Index>(l) - 1).data(), items.d_e()};
}

/// How many snapshotted segments have the position, which `segment` does: its neighbours to either
/// side, as far as they reach. One that the end of the sequence cuts has no snapshots.
double segments_of(const std::vector<SnapSegment>& segments, const SnapSpec& spec,
                   std::size_t segment, std::size_t l) {
  double count = 0.0;
  for (std::size_t j = segment + 1; j-- > 0 && segments[j].hi >= l;) {
    count += segments[j].lo + spec.skip <= l && segments[j].is_whole;
  }
  for (std::size_t j = segment + 1; j < segments.size() && segments[j].lo + spec.skip <= l; ++j) {
    count += segments[j].is_whole;
  }
  return count;
}

/// log of the mean of e^{a <u_t, u_i>} over the items of two segments; nothing where they share
/// none.
double overlap_score(const Items& items, const SnapSegment& a, const SnapSegment& b, std::size_t t,
                     double scale) {
  const std::size_t lo = std::max({a.lo, b.lo, items.first}), hi = std::min(a.hi, b.hi);
  if (lo > hi) return 0.0;
  std::vector<double> scores;
  for (std::size_t l = lo; l <= hi; ++l) {
    scores.push_back(scale * key_at(items, t).dot(key_at(items, l)));
  }
  const double top = *std::max_element(scores.begin(), scores.end());
  double sum = 0.0;
  for (const double score : scores) sum += std::exp(score - top);
  return top + std::log(sum / static_cast<double>(scores.size()));
}

}  // namespace

void check_snaptra(const SnapSpec& spec) {
  if (spec.segment < 1) throw InputError("segment = 0: must be 1 or more");
  if (spec.snapshots < 1) throw InputError("snapshots = 0: must be 1 or more");
  if (spec.skip >= spec.segment) {
    throw InputError(fmt::format("skipped items = {}: must be below the segment's {} tokens",
                                 spec.skip, spec.segment));
  }
  if (spec.sizes == SegmentSizes::uniform && spec.spread >= spec.segment) {
    throw InputError(fmt::format("spread of sizes = {}: must be below the segment's {} tokens",
                                 spec.spread, spec.segment));
  }
  const std::size_t least = spec.sizes == SegmentSizes::uniform ? spec.segment - spec.spread
                            : spec.sizes == SegmentSizes::fixed ? spec.segment
                                                                : spec.overlap + 1;
  if (spec.overlap >= least) {
    throw InputError(
        fmt::format("overlap of segments = {}: must be below the smallest segment's {} tokens",
                    spec.overlap, least));
  }
}

SnapWeights mean_weights(const SnapSpec& spec, Index d_e) {
  return {Matrix::Zero(static_cast<Index>(spec.snapshots), d_e), {}, 1.0};
}

SnapWeights oracle_weights(Index d_e) {
  return {Matrix::Identity(d_e, d_e), {}, std::numeric_limits<double>::infinity()};
}

std::vector<SnapSegment> snap_segments(const SnapSpec& spec, std::size_t L, Stream& stream) {
  check_snaptra(spec);
  std::vector<SnapSegment> segments;
  std::size_t lo = 1;
  while (lo <= L) {
    std::size_t size = spec.segment;
    if (spec.sizes == SegmentSizes::uniform) {
      const auto range = static_cast<double>(2 * spec.spread + 1);
      size = spec.segment - spec.spread + static_cast<std::size_t>(stream.uniform() * range);
    } else if (spec.sizes == SegmentSizes::geometric && spec.segment > 1) {
      const double rest = 1.0 - 1.0 / static_cast<double>(spec.segment);
      const double drawn = 1.0 + std::floor(std::log(stream.open_uniform()) / std::log(rest));
      size = static_cast<std::size_t>(std::min(drawn, static_cast<double>(L)));
      size = std::max(size, spec.overlap + 1);
    }
    const std::size_t hi = std::min(L, lo + size - 1);
    segments.push_back({lo, hi, hi == lo + size - 1});
    if (hi == L) break;
    lo = hi + 1 - spec.overlap;
  }
  return segments;
}

double size_variation(const std::vector<SnapSegment>& segments) {
  if (segments.size() < 2) return 0.0;
  const auto count = static_cast<double>(segments.size() - 1);
  double mean = 0.0, square = 0.0;
  for (std::size_t j = 0; j + 1 < segments.size(); ++j) {
    const auto size = static_cast<double>(segments[j].size());
    mean += size / count;
    square += size * size / count;
  }
  return square / (mean * mean) - 1.0;
}

SnapWeight snap_weight(const SnapSpec& spec, const SnapWeights& weights, const Items& items,
                       const std::vector<SnapSegment>& segments, std::size_t segment, std::size_t r,
                       std::size_t t) {
  const SnapSegment& of = segments[segment];
  std::size_t last = of.hi;
  if (!spec.inclusive && spec.local == Local::last_k) {
    last = std::min(last, t - 1 > spec.k ? t - 1 - spec.k : 0);
  }
  const Eigen::VectorXd q = weights.q.row(static_cast<Index>(r));
  const bool is_hard = std::isinf(weights.scale);
  SnapWeight found;
  double total = 0.0, top = minus_infinity;
  std::vector<double> scores, shares;
  for (std::size_t l = std::max(of.lo + spec.skip, items.first); l <= last; ++l) {
    const double share = spec.share_overlap ? 1.0 / segments_of(segments, spec, segment, l) : 1.0;
    double score = q.dot(key_at(items, l)) - (spec.log_Z ? q.squaredNorm() : 0.0);
    if (!is_hard) score *= weights.scale;
    const auto place = static_cast<Index>(l - of.lo);
    if (place < weights.rho.size()) score += weights.rho[place];
    found.positions.push_back(l);
    scores.push_back(score);
    shares.push_back(share);
    total += share;
    top = std::max(top, score);
  }
  if (found.positions.empty() || (is_hard && spec.log_Z && top < -tie)) return {};
  double sum = 0.0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double weight =
        is_hard ? (scores[i] >= top - tie ? 1.0 : 0.0) : std::exp(scores[i] - top);
    found.alpha.push_back(shares[i] * weight);
    sum += found.alpha.back();
  }
  for (double& alpha : found.alpha) alpha /= sum;
  found.log_Z = std::log(sum) + (is_hard ? 0.0 : top);
  found.items = total / static_cast<double>(weights.q.rows());
  return found;
}

SnapMemory snap_memory(const SnapSpec& spec, const SnapWeights& weights, const Items& items,
                       const std::vector<SnapSegment>& segments, std::size_t t,
                       const ReadOptions& options) {
  SnapMemory memory{Slots(items.d_e(), items.d), Slots(items.d_e(), items.d), {}};
  std::size_t open = 1;  // first position that no segment before t has
  Eigen::VectorXd key(items.d_e()), value(items.d);
  for (std::size_t j = 0; j < segments.size() && segments[j].hi < t && segments[j].is_whole; ++j) {
    open = segments[j].hi + 1;
    for (std::size_t r = 0; r < static_cast<std::size_t>(weights.q.rows()); ++r) {
      const SnapWeight weight = snap_weight(spec, weights, items, segments, j, r, t);
      if (weight.positions.empty()) continue;
      key.setZero();
      value.setZero();
      SlotInfo info;
      for (std::size_t i = 0; i < weight.alpha.size(); ++i) {
        const std::size_t l = weight.positions[i];
        key += weight.alpha[i] * key_at(items, l);
        value[items.x[l - 1]] += weight.alpha[i];
        info.cen += weight.alpha[i] * static_cast<double>(l);
      }
      info.n = weight.items;
      info.lo = weight.positions.front();
      info.hi = weight.positions.back();
      info.bias = spec.log_Z ? weight.log_Z : 0.0;
      if (spec.overlap_logit != 0.0) {
        for (const std::size_t other : {j - 1, j + 1}) {
          if (other >= segments.size()) continue;
          info.bias +=
              spec.overlap_logit * overlap_score(items, segments[j], segments[other], t, options.a);
        }
      }
      memory.snapshots.push(key.data(), value.data(), info);
      memory.segment_of.push_back(j);
    }
  }
  std::size_t from = open;
  if (spec.local == Local::last_k) from = t > spec.k ? t - spec.k : 1;
  for (std::size_t l = std::max(from, items.first); l < t; ++l) {
    value.setZero();
    value[items.x[l - 1]] = 1.0;
    SlotInfo info;
    info.lo = info.hi = l;
    info.cen = static_cast<double>(l);
    memory.local.push(key_at(items, l).data(), value.data(), info);
  }
  return memory;
}

Reading read_snapshots(const SnapMemory& memory, const Items& items, std::size_t t,
                       const ReadOptions& options) {
  const std::array<Block, 2> blocks{{{&memory.snapshots, true}, {&memory.local, false}}};
  return attend(items.u.row(static_cast<Index>(t) - 1).data(), t, blocks, nullptr, options,
                items.d);
}

}  // namespace gih
