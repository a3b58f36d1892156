#include "gih/memory/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "gih/base/error.hpp"
#include "gih/base/parallel.hpp"
#include "gih/data/chain.hpp"
#include "gih/memory/pooled_theory.hpp"
#include "predictions.hpp"

namespace gih {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Measures of one sequence, in the order in which they are first named.
class Row {
 public:
  void set(std::string name, double value) { values_.emplace_back(std::move(name), value); }
  const std::vector<std::pair<std::string, double>>& values() const { return values_; }

 private:
  std::vector<std::pair<std::string, double>> values_;
};

/// One sequence and what answers it.
struct Case {
  std::vector<Token> x;  // x_1 .. x_L
  Token next = 0;
  Kernel kernel;
  std::vector<double> truth;  // pi(. | parents)
};

Case draw_case(const MemoryTask& task, const DataSpec& data, Split split, std::size_t index) {
  Case found;
  found.x.resize(*data.L + 1);
  if (task.switching > 0.0) {
    found.kernel = draw_switching(data, split, index, task.stream.segment, task.switching, found.x);
  } else {
    found.kernel = sequence_kernel(data, split, index);
    draw_sequence(data, found.kernel, split, index, found.x);
  }
  found.next = found.x.back();
  found.x.pop_back();
  const std::vector<Token> lags(found.x.rbegin(), found.x.rbegin() + found.kernel.largest_lag());
  const auto row = found.kernel.row(found.kernel.parent_code(lags));
  found.truth.assign(row.begin(), row.end());
  return found;
}

/// Posterior mean of the query's row under a Dirichlet prior, parents known; nothing for other
/// laws.
std::vector<double> bayes(const Case& of, const DataSpec& data, double switching) {
  if (data.table || data.prior.name != "dirichlet" || data.prior.floor > 0.0 || switching > 0.0)
    return {};
  const auto r = static_cast<std::size_t>(data.parents.back());
  const auto matches = [&](std::size_t l) {  // of x[l] and the query, which follows x
    return std::all_of(data.parents.begin(), data.parents.end(), [&](int lag) {
      const auto back = static_cast<std::size_t>(lag);
      return of.x[l - back] == of.x[of.x.size() - back];
    });
  };
  const double alpha = data.prior.alpha;
  std::vector<double> p(static_cast<std::size_t>(data.d), alpha);
  double sum = alpha * data.d;
  for (std::size_t l = r; l < of.x.size(); ++l) {
    if (!matches(l)) continue;
    p[of.x[l]] += 1.0;
    sum += 1.0;
  }
  for (double& value : p) value /= sum;
  return p;
}

std::span<const double> entries(const Eigen::VectorXd& y) {
  return {y.data(), static_cast<std::size_t>(y.size())};
}

/// Attention and items by age: six buckets of each part, oldest first.
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
        const double value = is_mass ? mass[part][age] : all > 0.0 ? items[part][age] / all : none;
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

/// Prediction of the closed form for infinitely many slots; nothing where there is none.
std::vector<double> pooled(const MemoryTask& task, const Case& of) {
  const Compressor kind = task.stream.compressor.kind;
  if (!task.reader.is_limit() || !std::isfinite(task.read.a) || task.switching > 0.0 ||
      (kind != Compressor::mean && kind != Compressor::sum)) {
    return {};
  }
  std::vector<Token> query;
  for (std::size_t lag = 1; task.S >> (lag - 1) != 0; ++lag) {
    if (task.S >> (lag - 1) & 1U) query.push_back(of.x[of.x.size() - lag]);
  }
  if (task.S >> 12 != 0) return {};
  const auto c = static_cast<int>(task.stream.compressor.rate);
  const double theta = kind == Compressor::mean ? task.read.a / c : task.read.a;
  return pooled_prediction(of.kernel, task.S, query, theta, c);
}

/// Share of the query's pattern in the long run, against that of all patterns alike.
const char* frequency_of(const MemoryTask& task, const Case& of) {
  const WindowChain chain(of.kernel);
  const auto w = static_cast<std::size_t>(
      std::max(of.kernel.largest_lag(), static_cast<int>(std::bit_width(task.S))));
  const std::vector<double> law = extend_law(of.kernel, chain.long_run_law(), static_cast<int>(w));
  const WindowCodes codes(of.kernel.d, static_cast<int>(w));
  double mu = 0.0, alike = 1.0;
  for (std::size_t Z = 0; Z < law.size(); ++Z) {
    if (law[Z] == 0.0) continue;
    const auto lags = codes.decode(codes.first(static_cast<int>(w)) + Z);
    bool matches = true;
    for (std::size_t lag = 1; lag <= w && matches; ++lag) {
      if (task.S >> (lag - 1) & 1U) matches = lags[lag - 1] == of.x[of.x.size() - lag];
    }
    if (matches) mu += law[Z];
  }
  for (Subset S = task.S; S != 0; S &= S - 1) alike /= of.kernel.d;
  return mu < alike / 2.0 ? "rare" : mu > 2.0 * alike ? "frequent" : "mid";
}

Row measure(const MemoryTask& task, const Reader& head, const DataSpec& data, const Case& of) {
  const Items items = task.reader.items(of.x, task.halo, task.stream.segment);
  const std::size_t t = of.x.size() + 1;
  const double* u = items.u.row(static_cast<Eigen::Index>(t) - 1).data();
  StreamingMemory memory(task.stream, task.compressor.weights, items.d_e(), items.d);
  run_stream(memory, items, task.read, compressor_row(task.stream.compressor.kind).uses_usage);
  const Reading reading = std::as_const(memory).read(u, t, task.read);
  ReadOptions plain = task.read;  // neither signs of compression nor places
  plain.compressed_bias = 0.0;
  plain.convex = true;
  plain.combine = Combine::concat;
  const Items whole = task.halo == Halo::exact ? items : task.reader.items(of.x);
  const Reading unc = read_uncompressed(whole, t, plain);
  ReadOptions exact;
  exact.a = std::numeric_limits<double>::infinity();
  const Reading gih = read_uncompressed(head.items(of.x), t, exact);

  const auto y = smoothed(reading.y, task.eps);
  const auto smooth = [&](std::span<const double> p) {
    return smoothed(
        Eigen::Map<const Eigen::VectorXd>(p.data(), static_cast<Eigen::Index>(p.size())), task.eps);
  };
  const auto towards = [&](std::span<const double> p) {
    return p.empty() ? none : divergence(smooth(p), y);
  };
  Row row;
  row.set("kl_unc", towards(entries(unc.y)));
  row.set("kl_gih", towards(entries(gih.y)));
  const std::vector<double> posterior = bayes(of, data, task.switching);
  row.set("kl_bayes", towards(posterior));
  row.set("kl_pi", towards(of.truth));
  row.set("cross_entropy", -std::log(y[of.next]));
  row.set("cross_entropy_unc", -std::log(smoothed(unc.y, task.eps)[of.next]));
  row.set("tv_unc", 0.5 * (reading.y - unc.y).cwiseAbs().sum());
  const char* frequency = frequency_of(task, of);
  for (const char* name : {"rare", "mid", "frequent"}) {
    row.set(fmt::format("kl_unc_{}", name),
            std::string(name) == frequency ? towards(entries(unc.y)) : none);
  }
  const std::vector<double> predicted = pooled(task, of);
  row.set("kl_pooled", towards(predicted));
  row.set("kl_unc_pooled",
          predicted.empty() ? none : divergence(smooth(entries(unc.y)), smooth(predicted)));
  row.set("gamma", reading.gamma);
  const std::vector<Block> blocks = memory.blocks();
  double slots = 0.0, kept = 0.0;
  for (const Block& block : blocks) {
    slots += static_cast<double>(block.slots->size());
    if (block.compressed) kept += block.slots->items();
  }
  set_matches(row, task, blocks, reading, u);
  set_ages(row, blocks, reading);
  row.set("clipped", reading.clipped ? 1.0 : 0.0);
  row.set("null_mass", reading.null_mass);
  row.set("slots", slots);
  row.set("items_compressed", kept);
  row.set("bytes", memory.bytes());
  row.set("compressor_flops", memory.flops());
  row.set("compressions", static_cast<double>(memory.compressions()));
  return row;
}

}  // namespace

std::vector<Measure> evaluate_memory(const MemoryTask& task, const DataSpec& data, Split split,
                                     int threads, const std::function<bool(std::size_t)>& done) {
  if (!data.L) throw InputError("length L = inf: a memory needs sequences of a finite length");
  if (task.switching > 0.0 && (data.table || data.prior.name == "file")) {
    throw InputError("switching kernels are drawn from a prior, not from a file");
  }
  check_stream(task.stream);
  const Reader head = Reader::limit(data.d, task.reader.M(), task.S);
  const std::size_t count = data.count(split), round = 64 * static_cast<std::size_t>(threads);
  std::vector<Row> rows(count);
  for (std::size_t begin = 0; begin < count; begin += round) {
    const std::size_t end = std::min(count, begin + round);
    parallel_for(threads, end - begin, [&](std::size_t i) {
      rows[begin + i] = measure(task, head, data, draw_case(task, data, split, begin + i));
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

Kernel draw_switching(const DataSpec& data, Split split, std::size_t index, std::size_t segment,
                      double switching, std::span<Token> x) {
  // Each kernel has a stream of its own, and so have the tokens: none moves another.
  const std::uint64_t number = 2 * index + (split == Split::train ? 0 : 1);
  std::uint64_t kernels = 0;
  const auto next_kernel = [&] {
    const Stream own(data.seed, Purpose::memory_switching, (++kernels << 40) + number);
    return draw_kernel(data.prior, data.d, data.parents, own, index);
  };
  Stream stream(data.seed, Purpose::memory_switching, number);
  Kernel kernel = next_kernel();
  const auto r = static_cast<std::size_t>(kernel.largest_lag());
  std::vector<Token> lags(r);
  for (std::size_t l = 0; l < x.size(); ++l) {
    if (l > 0 && l % segment == 0 && stream.uniform() < switching) {
      kernel = next_kernel();
    }
    const double at = stream.uniform();
    if (l < r) {
      x[l] = static_cast<Token>(at * data.d);
      continue;
    }
    for (std::size_t i = 0; i < r; ++i) lags[i] = x[l - 1 - i];
    const auto p = kernel.row(kernel.parent_code(lags));
    double left = at;
    std::size_t k = 0;
    while (k + 1 < p.size() && left >= p[k]) left -= p[k++];
    x[l] = static_cast<Token>(k);
  }
  return kernel;
}

}  // namespace gih
