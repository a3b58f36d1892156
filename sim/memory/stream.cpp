#include "gih/memory/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "gih/base/error.hpp"

namespace gih {

void check_stream(const StreamSpec& spec) {
  check_compressor(spec.compressor);
  const CompressorRow& row = compressor_row(spec.compressor.kind);
  const auto refuse = [](const std::string& what) { throw InputError(what); };
  if (spec.segment < 1) refuse("segment length 0: must be 1 or more");
  if (spec.levels < 1 || spec.levels > 20) {
    refuse(fmt::format("{} levels of compressed memory: must be 1 to 20", spec.levels));
  }
  if (spec.levels > 1 && (!row.blocks || spec.n_cmem == unlimited_slots)) {
    refuse(
        fmt::format("{} levels of compressed memory need a compressor of blocks (not {}) and a "
                    "capacity of compressed memory",
                    spec.levels, row.name));
  }
  if (spec.start == Start::zeros && (spec.n_cmem == unlimited_slots || !row.blocks)) {
    refuse("a start with zeros needs a capacity of compressed memory and a compressor of blocks");
  }
  if (spec.leftover == Leftover::floor && spec.compressor.rate > spec.segment && row.blocks) {
    refuse(
        fmt::format("leftover floor with rate {} above the segment length {} never compresses: "
                    "the rate must be at most the segment length",
                    spec.compressor.rate, spec.segment));
  }
  if (spec.leftover == Leftover::ragged && !row.ragged) {
    refuse(fmt::format("leftover ragged with compressor {}: needs one that takes a smaller block",
                       row.name));
  }
}

StreamingMemory::StreamingMemory(const StreamSpec& spec, const Eigen::VectorXd& weights,
                                 Eigen::Index d_e, Eigen::Index d)
    : spec_(spec), weights_(weights), d_e_(d_e), d_(d), memory_(d_e, d), current_(d_e, d) {
  check_stream(spec);
  const bool keeps = spec.compressor.kind == Compressor::matrix ||
                     spec.compressor.kind == Compressor::matrix_decay;
  if (keeps && spec.n_cmem > 0) {
    const double decay =
        spec.compressor.kind == Compressor::matrix_decay ? spec.compressor.decay : 1.0;
    linear_ = std::make_unique<LinearMemory>(d_e, d, decay);
  }
  for (int j = 0; j < spec.levels; ++j) {
    levels_.push_back({Slots(d_e, d), Slots(d_e, d), Slots(d_e, d)});
  }
  if (spec.start == Start::zeros) {
    const std::vector<double> zeros(static_cast<std::size_t>(std::max(d_e, d)), 0.0);
    SlotInfo info;
    info.null = true;
    for (std::size_t i = 0; i < spec.n_mem; ++i) memory_.push(zeros.data(), zeros.data(), info);
    for (Level& level : levels_) {
      for (std::size_t i = 0; i < spec.n_cmem; ++i) {
        level.slots.push(zeros.data(), zeros.data(), info);
      }
    }
  }
}

std::vector<Block> StreamingMemory::blocks() const {
  std::vector<Block> blocks;
  for (std::size_t j = levels_.size(); j-- > 0;) {
    blocks.push_back({&levels_[j].slots, true});
    blocks.push_back({&levels_[j].waiting, j > 0});
  }
  blocks.push_back({&memory_, false});
  blocks.push_back({&current_, false});
  return blocks;
}

Reading StreamingMemory::read(const double* u, std::size_t t, const ReadOptions& options) const {
  ReadOptions here = options;
  here.convex = is_convex(spec_.compressor);
  return attend(u, t, blocks(), linear_.get(), here, d_);
}

Reading StreamingMemory::read(const double* u, std::size_t t, const ReadOptions& options,
                              bool track) {
  Reading reading = std::as_const(*this).read(u, t, options);
  if (!track) return reading;
  std::size_t at = 0;
  const auto add = [&](Slots& slots) {
    for (std::size_t i = 0; i < slots.size(); ++i, ++at) {
      slots.info(i).use += reading.P[at];
      slots.info(i).queries += 1.0;
    }
  };
  for (std::size_t j = levels_.size(); j-- > 0;) {
    add(levels_[j].slots);
    add(levels_[j].waiting);
  }
  add(memory_);
  add(current_);
  return reading;
}

void StreamingMemory::write(std::size_t t, const double* u, Token x) {
  std::vector<double> value(static_cast<std::size_t>(d_), 0.0);
  value[x] = 1.0;
  SlotInfo info;
  info.lo = info.hi = t;
  info.cen = static_cast<double>(t);
  if (tape_ != nullptr) {
    tape_->now = t;
    info.id = tape_->next_id(t);
  }
  current_.push(u, value.data(), info);
  if (t % spec_.segment == 0) end_segment();
}

void StreamingMemory::skip(std::size_t t) {
  if (tape_ != nullptr) tape_->now = t;
  if (t % spec_.segment == 0) end_segment();
}

void StreamingMemory::end_segment() {
  current_.move_front(current_.size(), memory_);
  evict();
}

void StreamingMemory::evict() {
  if (memory_.size() <= spec_.n_mem) return;
  std::size_t count = memory_.size() - spec_.n_mem;
  const CompressorRow& row = compressor_row(spec_.compressor.kind);
  if (spec_.n_cmem == 0 || spec_.compressor.kind == Compressor::drop) {
    return memory_.drop_front(count);  // as in Transformer-XL
  }
  Level& level = levels_.front();
  const std::size_t c = spec_.compressor.rate;
  if (!row.blocks) {
    ++compressions_;
    flops_ +=
        compress_flops(spec_.compressor, static_cast<double>(count), static_cast<double>(d_e_),
                       static_cast<double>(d_), static_cast<double>(level.slots.size()));
    if (linear_) {
      for (std::size_t i = 0; i < count; ++i) linear_->add(memory_.key(i), memory_.value(i));
    } else {
      merge(spec_.compressor, memory_, count, level.slots);
      if (level.slots.size() > spec_.n_cmem) {
        level.slots.drop_front(level.slots.size() - spec_.n_cmem);
      }
    }
    return memory_.drop_front(count);
  }
  if (spec_.leftover == Leftover::pad && count % c != 0) {
    const std::vector<double> zeros(static_cast<std::size_t>(std::max(d_e_, d_)), 0.0);
    SlotInfo info;
    info.null = true;
    info.n = 0.0;
    for (std::size_t i = count % c; i < c; ++i) {
      level.waiting.push(zeros.data(), zeros.data(), info);
    }
  }
  const std::size_t whole = count / c * c;
  if (spec_.leftover == Leftover::floor) {
    memory_.move_front(whole, level.waiting);
    memory_.drop_front(count - whole);
  } else {
    memory_.move_front(count, level.waiting);
  }
  for (std::size_t j = 0; j < levels_.size(); ++j) compress_level(j);
}

/// Turns whole blocks of what waits into slots; what overflows waits for the next level.
void StreamingMemory::compress_level(std::size_t j) {
  Level& level = levels_[j];
  const std::size_t c = spec_.compressor.rate;
  std::size_t rows = level.waiting.size() / c * c;
  if (spec_.leftover == Leftover::ragged && j == 0) rows = level.waiting.size();
  if (rows > 0) {
    ++compressions_;
    flops_ += compress_flops(spec_.compressor, static_cast<double>(rows), static_cast<double>(d_e_),
                             static_cast<double>(d_), 0.0);
    compress(spec_.compressor, weights_, level.waiting, rows, level.halo, level.slots, tape_);
    if (const std::size_t before = spec_.compressor.halo_rows(); before > 0) {
      level.waiting.move_front(rows, level.halo);
      if (level.halo.size() > before) level.halo.drop_front(level.halo.size() - before);
    } else {
      level.waiting.drop_front(rows);
    }
  }
  if (level.slots.size() <= spec_.n_cmem) return;
  const std::size_t over = level.slots.size() - spec_.n_cmem;
  if (j + 1 < levels_.size()) {
    level.slots.move_front(over, levels_[j + 1].waiting);
  } else {
    level.slots.drop_front(over);
  }
}

double StreamingMemory::bytes() const {
  double slots = 0.0;
  for (const Block& block : blocks()) slots += static_cast<double>(block.slots->size());
  const auto d_e = static_cast<double>(d_e_), d = static_cast<double>(d_);
  return 8.0 * (slots * (d_e + d) + (linear_ ? d_e * d + d_e + d + 1.0 : 0.0));
}

void StreamingMemory::check_partition(std::size_t first, std::size_t t) const {
  std::size_t next = 0;
  for (const Block& block : blocks()) {
    for (std::size_t i = 0; i < block.slots->size(); ++i) {
      const SlotInfo& info = block.slots->info(i);
      if (info.null) continue;
      const bool follows = next == 0 ? info.lo >= first : info.lo == next;
      if (!follows || info.hi < info.lo || info.n != static_cast<double>(info.hi - info.lo + 1)) {
        throw std::logic_error(fmt::format("memory: positions {} to {} after {}, {} items", info.lo,
                                           info.hi, next, info.n));
      }
      next = info.hi + 1;
    }
  }
  if (next != 0 && next != t) throw std::logic_error(fmt::format("memory ends at {}", next));
}

void run_stream(StreamingMemory& stream, const Items& items, const ReadOptions& options, bool track,
                const std::function<void(std::size_t, const Reading&)>& visit) {
  for (std::size_t t = 1; t <= items.length(); ++t) {
    const double* u = items.u.row(static_cast<Eigen::Index>(t) - 1).data();
    if ((track || visit) && t >= items.first) {
      const Reading reading = stream.read(u, t, options, track);
      if (visit) visit(t, reading);
    }
    if (t >= items.first) {
      stream.write(t, u, items.x[t - 1]);
    } else {
      stream.skip(t);
    }
  }
}

Reading read_uncompressed(const Items& items, std::size_t t, const ReadOptions& options) {
  StreamSpec spec;
  spec.segment = spec.n_mem = unlimited_slots;
  spec.compressor.kind = Compressor::drop;
  const Eigen::VectorXd none;
  StreamingMemory stream(spec, none, items.d_e(), items.d);
  for (std::size_t l = items.first; l < t; ++l) {
    stream.write(l, items.u.row(static_cast<Eigen::Index>(l) - 1).data(), items.x[l - 1]);
  }
  return std::as_const(stream).read(items.u.row(static_cast<Eigen::Index>(t) - 1).data(), t,
                                    options);
}

double reach(const StreamSpec& spec, double current, double pending) {
  double sum = current + static_cast<double>(spec.n_mem) + pending, power = 1.0;
  for (int j = 1; j <= spec.levels; ++j) {
    power *= static_cast<double>(spec.compressor.rate);
    sum += power * static_cast<double>(spec.n_cmem);
  }
  return sum;
}

}  // namespace gih
