#include "question_blocks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "gih/base/parallel.hpp"
#include "question_rows.hpp"

namespace gih {
namespace {

/// Rows that are packed on their own, so that packing is parallel and its order fixed.
struct Segment {
  std::size_t begin, end;
};

std::vector<Segment> cut_segments(const QuestionRows& rows) {
  constexpr std::size_t longest = 8192;  // a multiple of the lanes, so that few blocks are not full
  std::vector<Segment> segments;
  for (std::size_t begin = 0; begin < rows.count();) {
    std::size_t end = begin + 1;
    while (end < rows.count() && end - begin < longest &&
           rows.targets(end) == rows.targets(begin)) {
      ++end;
    }
    segments.push_back({begin, end});
    begin = end;
  }
  return segments;
}

void sort_unique(std::vector<std::uint64_t>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

/// The keys of each row of a segment as a set of bits; none of them when there are so many keys
/// that sets are not worth it.
struct KeySets {
  static constexpr std::size_t most_keys = 1 << 15;
  std::vector<std::uint64_t> keys;  // ascending
  std::size_t words = 0;            // a set
  std::vector<std::uint64_t> bits;

  KeySets(const QuestionRows& rows, Segment segment) {
    for (std::size_t r = segment.begin; r < segment.end; ++r) {
      for (const RowEntry& entry : rows.entries(r)) keys.push_back(entry.key());
      const bool last = r + 1 == segment.end;
      if (!last && keys.size() < 2 * most_keys) continue;
      sort_unique(keys);
      if (keys.size() > most_keys) return;
    }
    words = (keys.size() + 63) / 64;
    fill(rows, segment);
  }

 private:
  void fill(const QuestionRows& rows, Segment segment) {
    bits.assign(words * (segment.end - segment.begin), 0);
    for (std::size_t r = segment.begin; r < segment.end; ++r) {
      std::uint64_t* set = bits.data() + (r - segment.begin) * words;
      auto at = keys.begin();
      for (const RowEntry& entry : rows.entries(r)) {
        at = std::lower_bound(at, keys.end(), entry.key());
        const auto i = static_cast<std::size_t>(at - keys.begin());
        set[i / 64] |= std::uint64_t{1} << (i % 64);
      }
    }
  }
};

/// An order of a segment's rows in which each eight that follow each other have few keys in all: of
/// the next rows the largest, then seven times the one that adds the fewest keys.
std::vector<std::size_t> order_of(const QuestionRows& rows, Segment segment) {
  std::vector<std::size_t> order(segment.end - segment.begin);
  std::iota(order.begin(), order.end(), segment.begin);
  const KeySets sets(rows, segment);
  if (sets.bits.empty()) return order;  // sorted by their entries, as they are
  // As many candidates as can be looked through in some microseconds a row.
  const std::size_t window = std::min<std::size_t>(512, 8192 / sets.words);
  const auto bits_of = [&](std::size_t r) {
    return sets.bits.data() + (r - segment.begin) * sets.words;
  };
  std::vector<std::size_t> packed;
  packed.reserve(order.size());
  std::vector<std::size_t> candidates;
  std::vector<std::uint64_t> all(sets.words);
  std::size_t next = 0;
  while (packed.size() < order.size()) {
    std::fill(all.begin(), all.end(), 0);
    for (std::size_t lane = 0; lane < lanes && packed.size() < order.size(); ++lane) {
      while (candidates.size() < window && next < order.size()) candidates.push_back(order[next++]);
      std::size_t best = 0;
      int fewest = 0;
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        const std::uint64_t* set = bits_of(candidates[i]);
        int added = 0;
        for (std::size_t j = 0; j < sets.words; ++j) added += std::popcount(set[j] & ~all[j]);
        if (lane == 0) added = -added;
        if (i > 0 && added >= fewest) continue;
        best = i;
        fewest = added;
      }
      const std::uint64_t* set = bits_of(candidates[best]);
      for (std::size_t j = 0; j < sets.words; ++j) all[j] |= set[j];
      packed.push_back(candidates[best]);
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(best));
    }
  }
  return packed;
}

/// Packs at most `lanes` rows with equal T into one block. `entry_class` holds classes until the
/// chunks are cut.
void pack_block(const QuestionRows& rows, std::span<const std::size_t> of, int d,
                QuestionBlocks& packed) {
  std::vector<std::uint64_t> keys;
  for (const std::size_t r : of) {
    for (const RowEntry& entry : rows.entries(r)) keys.push_back(entry.key());
  }
  sort_unique(keys);
  const std::size_t T = rows.targets(of.front());
  const std::size_t planes = T < static_cast<std::size_t>(d) ? T + 1 : T;
  packed.most_planes = std::max(packed.most_planes, planes);
  packed.most_entries = std::max(packed.most_entries, keys.size());
  const std::size_t first = packed.entry_class.size();
  const std::size_t first_weight = packed.weights.size();
  packed.blocks.push_back({static_cast<std::uint32_t>(T), static_cast<std::uint32_t>(planes),
                           packed.runs.size() - 1, first_weight});
  std::size_t at = 0;
  for (std::size_t p = 0; p < planes; ++p) {
    while (at < keys.size() && keys[at] >> 32 == p) ++at;
    packed.runs.push_back(first + at);
  }
  for (const std::uint64_t key : keys)
    packed.entry_class.push_back(static_cast<std::uint32_t>(key));
  packed.counts.resize(first + keys.size(), Lanes{});
  packed.weights.resize(first_weight + T, Lanes{});
  for (std::size_t lane = 0; lane < of.size(); ++lane) {
    std::size_t i = 0;
    for (const RowEntry& entry : rows.entries(of[lane])) {
      while (keys[i] != entry.key()) ++i;
      packed.counts[first + i].set(lane, entry.count);
    }
    const auto weights = rows.weights(of[lane]);
    for (std::size_t t = 0; t < T; ++t) packed.weights[first_weight + t].set(lane, weights[t]);
  }
  // An empty lane has a position in each plane and no weight: finite everywhere, and adds nothing.
  for (std::size_t lane = of.size(); lane < lanes; ++lane) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i == 0 || keys[i] >> 32 != keys[i - 1] >> 32) packed.counts[first + i].set(lane, 1.0);
    }
  }
}

void append(QuestionBlocks& all, const QuestionBlocks& part) {
  const std::size_t runs = all.runs.size() - 1;
  const std::size_t entries = all.runs.back();
  for (QuestionBlock block : part.blocks) {
    block.first_run += runs;
    block.first_weight += all.weights.size();
    all.blocks.push_back(block);
  }
  for (std::size_t i = 1; i < part.runs.size(); ++i) all.runs.push_back(entries + part.runs[i]);
  all.entry_class.insert(all.entry_class.end(), part.entry_class.begin(), part.entry_class.end());
  all.counts.insert(all.counts.end(), part.counts.begin(), part.counts.end());
  all.short_counts.insert(all.short_counts.end(), part.short_counts.begin(),
                          part.short_counts.end());
  all.weights.insert(all.weights.end(), part.weights.begin(), part.weights.end());
  all.most_planes = std::max(all.most_planes, part.most_planes);
  all.most_entries = std::max(all.most_entries, part.most_entries);
}

void lengthen(QuestionBlocks& packed) {
  for (const ShortLanes& n : packed.short_counts) packed.counts.push_back(widened(n));
  packed.short_counts = {};
}

/// Moves the counts into short_counts if that changes none.
void shorten(QuestionBlocks& packed) {
  std::vector<ShortLanes> shorter(packed.counts.size());
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double n = packed.counts[i][lane];
      if (!(n <= 65535.0) || n != std::floor(n)) return;
      shorter[i].n[lane] = static_cast<std::uint16_t>(n);
    }
  }
  packed.short_counts = std::move(shorter);
  packed.counts = {};
}

/// Cuts the blocks into chunks of about as many entries each. Their number depends on the blocks
/// alone, and is a power of two, which threads share evenly.
void cut_chunks(QuestionBlocks& packed) {
  constexpr std::size_t blocks_a_chunk = 96;
  constexpr std::size_t most_chunks = 256;
  const std::size_t blocks = packed.blocks.size();
  const std::size_t count =
      std::bit_floor(std::clamp<std::size_t>(blocks / blocks_a_chunk, 1, most_chunks));
  const std::size_t entries = packed.runs.back();
  const auto first_entry = [&](std::size_t b) {
    return b < blocks ? packed.runs[packed.blocks[b].first_run] : entries;
  };
  std::size_t b = 0;
  for (std::size_t c = 0; c < count; ++c) {
    const std::size_t first = b;
    const std::size_t most = blocks - (count - 1 - c);  // one block at least for each that follows
    for (++b; b < most && first_entry(b) < (c + 1) * entries / count; ++b) {
    }
    if (c + 1 == count) b = blocks;
    BlockChunk chunk{first, b, packed.chunk_class.size(), 0};
    const auto begin = packed.entry_class.begin() + static_cast<std::ptrdiff_t>(first_entry(first));
    const auto end = packed.entry_class.begin() + static_cast<std::ptrdiff_t>(first_entry(b));
    std::vector<std::uint32_t> occurring(begin, end);
    std::sort(occurring.begin(), occurring.end());
    occurring.erase(std::unique(occurring.begin(), occurring.end()), occurring.end());
    for (auto i = begin; i != end; ++i) {
      *i = static_cast<std::uint32_t>(std::lower_bound(occurring.begin(), occurring.end(), *i) -
                                      occurring.begin());
    }
    packed.chunk_class.insert(packed.chunk_class.end(), occurring.begin(), occurring.end());
    chunk.last_class = packed.chunk_class.size();
    packed.largest_chunk = std::max(packed.largest_chunk, occurring.size());
    packed.chunks.push_back(chunk);
  }
}

}  // namespace

double QuestionBlocks::bytes() const {
  return static_cast<double>(
      blocks.size() * sizeof(QuestionBlock) + runs.size() * sizeof(std::size_t) +
      entry_class.size() * sizeof(std::uint32_t) + counts.size() * sizeof(Lanes) +
      short_counts.size() * sizeof(ShortLanes) + weights.size() * sizeof(Lanes));
}

QuestionBlocks pack_questions(const Prompts& prompts, bool all_tokens, int threads,
                              const ClassOf& class_of) {
  const QuestionRows rows(prompts, all_tokens, class_of);
  const std::vector<Segment> segments = cut_segments(rows);
  std::vector<QuestionBlocks> parts(segments.size());
  parallel_for(threads, segments.size(), [&](std::size_t s) {
    parts[s].runs = {0};
    const std::vector<std::size_t> order = order_of(rows, segments[s]);
    for (std::size_t i = 0; i < order.size(); i += lanes) {
      const std::size_t size = std::min(lanes, order.size() - i);
      pack_block(rows, std::span(order).subspan(i, size), prompts.d, parts[s]);
    }
    shorten(parts[s]);
  });
  const bool is_short = std::all_of(parts.begin(), parts.end(),
                                    [](const QuestionBlocks& part) { return part.counts.empty(); });
  QuestionBlocks packed;
  packed.runs = {0};
  for (QuestionBlocks& part : parts) {
    if (!is_short) lengthen(part);
    append(packed, std::exchange(part, {}));
  }
  if (!packed.blocks.empty()) cut_chunks(packed);
  return packed;
}

}  // namespace gih
