#include "gih/memory/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "evaluation_case.hpp"
#include "gih/base/error.hpp"
#include "gih/base/parallel.hpp"
#include "gih/memory/pooled_theory.hpp"
#include "gih/memory/snapshot_rank.hpp"
#include "gih/memory/snapshot_training.hpp"
#include "predictions.hpp"

namespace gih {
namespace {

constexpr std::size_t shown_singular_values = 9;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Measures of one sequence, in the order in which they are first named.
class Row {
 public:
  void set(std::string name, double value) { values_.emplace_back(std::move(name), value); }
  const std::vector<std::pair<std::string, double>>& values() const { return values_; }

 private:
  std::vector<std::pair<std::string, double>> values_;
};

std::span<const double> entries(const Eigen::VectorXd& y) {
  return {y.data(), static_cast<std::size_t>(y.size())};
}

/// Attention and items by age: six buckets of each part, oldest first.
/// Of sums, which have no slots, nothing is known.
void set_ages(Row& row, const std::vector<Block>& blocks, const Reading& reading) {
  static constexpr const char* parts[] = {"compressed", "memory", "current"};
  double mass[3][age_buckets] = {}, items[3][age_buckets] = {};
  double all = 0.0;
  std::size_t sizes[3] = {}, seen[3] = {}, slot = 0;
  const auto part_of = [&](std::size_t b) {
    return blocks[b].compressed ? 0U : b + 1 == blocks.size() ? 2U : 1U;
  };
  for (std::size_t b = 0; b < blocks.size(); ++b) sizes[part_of(b)] += blocks[b].slots->size();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::size_t part = part_of(b);
    for (std::size_t i = 0; i < blocks[b].slots->size(); ++i, ++slot) {
      const std::size_t age = seen[part]++ * age_buckets / sizes[part];
      const double n = blocks[b].slots->info(i).n;
      mass[part][age] += reading.P[slot];
      items[part][age] += n;
      all += n;
    }
  }
  for (const bool is_mass : {true, false}) {
    for (std::size_t part = 0; part < 3; ++part) {
      for (std::size_t age = 0; age < age_buckets; ++age) {
        const double value = reading.linear > 0.0 ? none
                             : is_mass            ? mass[part][age]
                             : all > 0.0          ? items[part][age] / all
                                                  : none;
        row.set(fmt::format("{}_{}_{}", is_mass ? "mass" : "items", parts[part], age + 1), value);
      }
    }
  }
}

/// Of keys that are 0 or 1: how surely what is attended to matches, and J at the slots' shares.
void set_matches(Row& row, const MemoryTask& task, const std::vector<Block>& blocks,
                 const Reading& reading, const double* u) {
  double match = 0.0, jensen = 0.0, compressed = 0.0, matching = 0.0, items = 0.0;
  std::size_t slot = 0;
  for (const Block& block : blocks) {
    for (std::size_t i = 0; i < block.slots->size(); ++i, ++slot) {
      const SlotInfo& info = block.slots->info(i);
      const double* key = block.slots->key(i);
      double f = 0.0;
      for (Eigen::Index j = 0; j < block.slots->d_e(); ++j) f += u[j] * key[j];
      match += reading.P[slot] * f;
      matching += info.n * f;
      items += info.n;
      if (!block.compressed) continue;
      if (std::isfinite(task.read.a) && f >= 0.0 && f <= 1.0) {
        jensen += info.n * jensen_deficit(task.read.a, f);
      }
      compressed += info.n;
    }
  }
  const bool is_mean = task.stream.compressor.kind == Compressor::mean;
  row.set("match_mass", task.reader.is_limit() && reading.linear == 0.0 ? match : none);
  row.set("match_share", task.reader.is_limit() && items > 0.0 ? matching / items : none);
  row.set("jensen",
          task.reader.is_limit() && is_mean && compressed > 0.0 && std::isfinite(task.read.a)
              ? jensen / compressed
              : none);
}

/// What both systems are asked: how far the answer is from four others.
void set_distances(Row& row, const MemoryTask& task, const Reader& head, const DataSpec& data,
                   const Case& of, const Reading& unc, const Reading& reading) {
  const std::size_t t = of.x.size() + 1;
  ReadOptions exact;
  exact.a = std::numeric_limits<double>::infinity();
  const Reading gih = read_uncompressed(head.items(of.x), t, exact);
  const auto smooth = [&](std::span<const double> p) {
    return smoothed(
        Eigen::Map<const Eigen::VectorXd>(p.data(), static_cast<Eigen::Index>(p.size())), task.eps);
  };
  const auto y = smooth(entries(reading.y));
  const auto towards = [&](std::span<const double> p) {
    return p.empty() ? none : divergence(smooth(p), y);
  };
  row.set("kl_unc", towards(entries(unc.y)));
  row.set("kl_gih", towards(entries(gih.y)));
  const std::vector<double> posterior = bayes(of, data, task.switching);
  row.set("kl_bayes", towards(posterior));
  row.set("kl_pi", towards(of.truth));
  row.set("cross_entropy", -std::log(y[of.next]));
  row.set("cross_entropy_unc", -std::log(smooth(entries(unc.y))[of.next]));
  row.set("tv_unc", 0.5 * (reading.y - unc.y).cwiseAbs().sum());
  const char* frequency = frequency_of(task, of);
  for (const char* name : {"rare", "mid", "frequent"}) {
    row.set(fmt::format("kl_unc_{}", name),
            std::string(name) == frequency ? towards(entries(unc.y)) : none);
  }
  if (!task.snap) {
    const std::vector<double> predicted = pooled(task, of);
    row.set("kl_pooled", towards(predicted));
    row.set("kl_unc_pooled",
            predicted.empty() ? none : divergence(smooth(entries(unc.y)), smooth(predicted)));
  }
  row.set("mass_compressed", reading.gamma);
}

/// The answer of the same attention to every item: distances stay, the biases of slots go.
Reading uncompressed(const MemoryTask& task, const Items& items, std::size_t t) {
  ReadOptions plain = task.read;
  plain.compressed_bias = 0.0;
  plain.convex = true;
  plain.combine = Combine::concat;
  return read_uncompressed(items, t, plain);
}

Row measure_stream(const MemoryTask& task, const Reader& head, const DataSpec& data,
                   const Case& of) {
  const Items items = task.reader.items(of.x, task.halo, task.stream.segment);
  const std::size_t t = of.x.size() + 1;
  const double* u = items.u.row(static_cast<Eigen::Index>(t) - 1).data();
  StreamingMemory memory(task.stream, task.compressor.weights, items.d_e(), items.d);
  run_stream(memory, items, task.read, compressor_row(task.stream.compressor.kind).uses_usage);
  const Reading reading = std::as_const(memory).read(u, t, task.read);
  const Items whole = task.halo == Halo::exact ? items : task.reader.items(of.x);
  Row row;
  set_distances(row, task, head, data, of, uncompressed(task, whole, t), reading);
  const std::vector<Block> blocks = memory.blocks();
  double slots = 0.0, kept = 0.0;
  for (const Block& block : blocks) {
    slots += static_cast<double>(block.slots->size());
    if (block.compressed) kept += block.slots->items();
  }
  if (memory.linear() != nullptr) kept += memory.linear()->n;
  set_matches(row, task, blocks, reading, u);
  set_ages(row, blocks, reading);
  row.set("clipped", reading.clipped ? 1.0 : 0.0);
  row.set("null_mass", reading.null_mass);
  row.set("slots_held", slots);
  row.set("items_compressed", kept);
  row.set("bytes", memory.bytes());
  row.set("compressor_flops", memory.flops());
  row.set("compressions", static_cast<double>(memory.compressions()));
  return row;
}

Row measure_snapshots(const MemoryTask& task, const Reader& head, const DataSpec& data,
                      const Case& of, Stream sizes) {
  const SnapTask& snap = *task.snap;
  const Items items = task.reader.items(of.x);
  const std::size_t t = of.x.size() + 1;
  const auto segments = snap_segments(snap.spec, of.x.size(), sizes);
  const SnapMemory memory = snap_memory(snap.spec, snap.weights, items, segments, t, task.read);
  const Reading reading = read_snapshots(memory, items, t, task.read);
  Row row;
  set_distances(row, task, head, data, of, uncompressed(task, items, t), reading);
  const auto slots = static_cast<double>(memory.snapshots.size() + memory.local.size());
  row.set("slots_held", slots);
  row.set("bytes", 8.0 * slots * static_cast<double>(items.d_e() + items.d));
  row.set("segments", static_cast<double>(segments.size()));
  row.set("size_variation", size_variation(segments));
  std::vector<double> beta(segments.size(), 0.0);
  for (std::size_t i = 0; i < memory.segment_of.size(); ++i) {
    beta[memory.segment_of[i]] += reading.P[i];
  }
  row.set("participation", participation(beta));
  row.set("segments_above_0.01", static_cast<double>(count_above(beta, 0.01)));
  const auto N = items.u.rows() - static_cast<Eigen::Index>(items.first);
  if (!task.reader.is_limit() || !std::isfinite(task.read.a) || N < 1) return row;  // for all alike
  const Matrix keys = items.u.middleRows(static_cast<Eigen::Index>(items.first) - 1, N);
  row.set("patterns", static_cast<double>((keys.colwise().sum().array() > 0.0).count()));
  const Matrix A = attention_rows(task.read.a * Matrix::Identity(items.d_e(), items.d_e()), keys);
  const std::size_t k = std::min(snap.spec.k, static_cast<std::size_t>(N));
  const std::vector<double> sigma = singular_values(A);
  for (std::size_t j = 0; j < shown_singular_values; ++j) {
    row.set(fmt::format("sigma_{}", j + 1), j < sigma.size() ? sigma[j] : 0.0);
  }
  row.set("floor_free", free_floor(A, k));
  row.set("floor_softmax", softmax_floor(A, k).floor);
  return row;
}

}  // namespace

std::vector<Measure> evaluate_memory(const MemoryTask& task, const DataSpec& data, Split split,
                                     int threads, const std::function<bool(std::size_t)>& done) {
  if (!data.L) throw InputError("length L = inf: a memory needs sequences of a finite length");
  if (task.switching > 0.0 && (data.table || data.prior.name == "file")) {
    throw InputError("switching kernels are drawn from a prior, not from a file");
  }
  if (task.snap) {
    check_snaptra(task.snap->spec);
  } else {
    check_stream(task.stream);
  }
  const Reader head = Reader::limit(data.d, task.reader.M(), task.S);
  const std::size_t count = data.count(split), round = 64 * static_cast<std::size_t>(threads);
  std::vector<Row> rows(count);
  for (std::size_t begin = 0; begin < count; begin += round) {
    const std::size_t end = std::min(count, begin + round);
    parallel_for(threads, end - begin, [&](std::size_t i) {
      const Case of = draw_case(task, data, split, begin + i);
      rows[begin + i] = task.snap ? measure_snapshots(task, head, data, of,
                                                      segment_stream(data, split, begin + i))
                                  : measure_stream(task, head, data, of);
    });
    if (done && !done(end)) return {};
  }
  std::vector<Measure> found;
  if (rows.empty()) return found;
  for (std::size_t k = 0; k < rows.front().values().size(); ++k) {
    Measure measure{rows.front().values()[k].first};
    for (const Row& row : rows) {
      const double value = row.values()[k].second;
      if (std::isnan(value)) continue;
      ++measure.count;
      measure.mean += value;
    }
    const auto n = static_cast<double>(measure.count);
    measure.mean = measure.count > 0 ? measure.mean / n : none;
    double squares = 0.0;
    for (const Row& row : rows) {
      const double value = row.values()[k].second;
      if (!std::isnan(value)) squares += (value - measure.mean) * (value - measure.mean);
    }
    measure.error = measure.count > 1 ? std::sqrt(squares / (n - 1.0) / n) : none;
    found.push_back(std::move(measure));
  }
  return found;
}

}  // namespace gih
