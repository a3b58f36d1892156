// What a streaming memory holds, and how far it reaches.

#include <cmath>
#include <utility>

#include "memory_claims_groups.hpp"

namespace gih {
namespace {

constexpr const char* compressive = "Compressive Transformer";

StreamSpec spec_of(Compressor kind, std::size_t n_mem, std::size_t n_cmem, std::size_t rate) {
  StreamSpec spec;
  spec.segment = 4;
  spec.n_mem = n_mem;
  spec.n_cmem = n_cmem;
  spec.compressor.kind = kind;
  spec.compressor.rate = rate;
  return spec;
}

/// The memory after all items.
StreamingMemory filled(const StreamSpec& spec, const Items& items) {
  static const Eigen::VectorXd none;
  StreamingMemory memory(spec, none, items.d_e(), items.d);
  run_stream(memory, items, ReadOptions{}, false);
  return memory;
}

Reading answer(const StreamSpec& spec, const Items& items, const ReadOptions& options) {
  const StreamingMemory memory = filled(spec, items);
  return memory.read(items.u.row(items.u.rows() - 1).data(), items.length() + 1, options);
}

void check_longer_memory(const World& world, std::size_t capacity, Tally& tally) {
  const Items items = claim_items(world, 42);
  const ReadOptions options{.a = 2.0};
  for (const Compressor kind : {Compressor::mean, Compressor::max, Compressor::decimate}) {
    same(answer(spec_of(kind, 8, 12, 1), items, options).y,
         answer(spec_of(Compressor::drop, capacity, 0, 1), items, options).y, tally);
  }
}

/// Positions back to the oldest that the memory stands for, against `reach_of`.
template <class Reach>
void check_reach(const World& world, const Reach& reach_of, Tally& tally) {
  for (const std::size_t L : {61U, 62U, 64U}) {
    const Items items = claim_items(world, L);
    for (const std::size_t rate : {2U, 3U}) {
      const StreamSpec spec = spec_of(Compressor::mean, 5, 4, rate);
      const StreamingMemory memory = filled(spec, items);
      const auto oldest = static_cast<double>(memory.compressed().info(0).lo);
      tally.equal(static_cast<double>(L) + 1.0 - oldest, reach_of(spec, memory));
    }
  }
}

double whole_reach(const StreamSpec& spec, const StreamingMemory& memory) {
  return reach(spec, static_cast<double>(memory.current().size()),
               static_cast<double>(memory.pending().size()));
}

double slots_alone(const StreamSpec& spec, const StreamingMemory&) {
  return reach(spec, 0.0, 0.0);
}

/// A further level of m slots multiplies what lies beyond the memory by about c.
void check_cascade(double least, Tally& tally) {
  StreamSpec spec = spec_of(Compressor::mean, 8, 8, 2);
  for (spec.levels = 1; spec.levels < 8; ++spec.levels) {
    StreamSpec deeper = spec;
    ++deeper.levels;
    const double beyond = reach(spec, 0.0, 0.0) - 8.0, more = reach(deeper, 0.0, 0.0) - 8.0;
    tally.at_most(least * beyond, more);
  }
}

/// Twice the slots in two levels.
void check_doubling(double factor, Tally& tally) {
  for (const std::size_t slots : {8U, 64U, 512U}) {
    const double once = reach(spec_of(Compressor::mean, slots, slots, 3), 0.0, 0.0);
    const double twice = reach(spec_of(Compressor::mean, 2 * slots, 2 * slots, 3), 0.0, 0.0);
    tally.at_most(factor * once, twice);
  }
}

void check_gate(const World& world, double bend, Tally& tally) {
  const Items items = claim_soft_items(world, 40, 5);
  const StreamSpec spec = spec_of(Compressor::mean, 6, 20, 3);
  const StreamingMemory memory = filled(spec, items);
  const ReadOptions options{.a = 1.5};
  const double* u = items.u.row(items.u.rows() - 1).data();
  const auto blocks = memory.blocks();
  std::vector<Block> old, recent;
  for (const Block& block : blocks) (block.compressed ? old : recent).push_back(block);
  const auto read = [&](const std::vector<Block>& of) {
    return attend(u, 41, of, nullptr, options, items.d);
  };
  const Reading all = read(blocks), A = read(old), B = read(recent);
  const double gamma = 1.0 / (1.0 + std::exp(bend * (all.log_Z_rest - all.log_Z_compressed)));
  same(all.y, gamma * A.y + (1.0 - gamma) * B.y, tally);
}

void check_content(const World& world, Compressor kind, bool multiplicity, double decay,
                   Tally& tally) {
  const Items items = claim_items(world, 60);
  for (const double a : {0.3, 3.0, 9.0}) {
    ReadOptions options{.a = a, .multiplicity = multiplicity};
    StreamSpec spec = spec_of(kind, 6, unlimited_slots, 4);
    spec.compressor.decay = decay;
    same(answer(spec, items, options).y, read_uncompressed(items, 61, {.a = a}).y, tally);
  }
}

}  // namespace

std::vector<Claim> stream_claims() {
  return {
      {"memory fifo", "compressed at rate 1 it is a first-in first-out memory of n_m + n_c slots",
       compressive, Mode::exact, true,
       [](const World& world, Tally& tally) { check_longer_memory(world, 20, tally); },
       [](Tally& tally) { check_longer_memory(small_world(), 19, tally); }, "a slot less"},
      {"memory reach",
       "a full memory reaches |Cur| + n_m + |Pend| + c n_c positions back, and no farther",
       compressive, Mode::exact, true,
       [](const World& world, Tally& tally) { check_reach(world, whole_reach, tally); },
       [](Tally& tally) { check_reach(small_world(), slots_alone, tally); },
       "without what is under way and what waits"},
      {"memory reach.printed", "it reaches n_m + c n_c positions back", compressive, Mode::exact,
       false, [](const World& world, Tally& tally) { check_reach(world, slots_alone, tally); },
       [](Tally& tally) { check_reach(small_world(), slots_alone, tally); }, "the claim itself"},
      {"memory hierarchy",
       "in a cascade of levels each level of as many slots reaches c times as far as the one below",
       "ours", Mode::exact, true, [](const World&, Tally& tally) { check_cascade(2.0, tally); },
       [](Tally& tally) { check_cascade(3.5, tally); }, "a factor above c + 1"},
      {"memory hierarchy.printed",
       "two levels are a logarithmic hierarchy: twice the slots reach c times as far", compressive,
       Mode::exact, false, [](const World&, Tally& tally) { check_doubling(3.0, tally); },
       [](Tally& tally) { check_doubling(2.5, tally); }, "a factor above 2"},
      {"memory gate",
       "one softmax over both is a gate: gamma Att(A) + (1-gamma) Att(B), gamma = Z_A / (Z_A+Z_B)",
       compressive, Mode::exact, true,
       [](const World& world, Tally& tally) { check_gate(world, 1.0, tally); },
       [](Tally& tally) { check_gate(small_world(), 0.0, tally); }, "half each"},
      {"memory content",
       "with hard keys one slot a key, log n added, answers as all items do, at any scale", "ours",
       Mode::exact, true,
       [](const World& world, Tally& tally) {
         check_content(world, Compressor::group, true, 1.0, tally);
       },
       [](Tally& tally) { check_content(small_world(), Compressor::group, false, 1.0, tally); },
       "without log n"},
      {"memory matrix",
       "with hard keys the sums of u x^T, u and x answer as all items do, at any scale", "ours",
       Mode::exact, true,
       [](const World& world, Tally& tally) {
         check_content(world, Compressor::matrix, false, 1.0, tally);
       },
       [](Tally& tally) {
         check_content(small_world(), Compressor::matrix_decay, false, 0.9, tally);
       },
       "sums that fade"},
  };
}

}  // namespace gih
