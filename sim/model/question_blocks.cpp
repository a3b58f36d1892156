#include "question_blocks.hpp"

#include <algorithm>
#include <cmath>

namespace gih {
namespace {

/// A question as numbers over classes: `classes` ascending, `counts` holds the planes of each.
struct Row {
  std::vector<std::uint32_t> classes;
  std::vector<double> counts;
  std::vector<double> weights;  // T

  std::size_t targets() const { return weights.size(); }
};

std::size_t planes(std::size_t targets, int d) {
  return targets < static_cast<std::size_t>(d) ? targets + 1 : targets;
}

Row make_row(const Prompts& prompts, const Question& question, bool all_tokens,
             const ClassOf& class_of) {
  Row row;
  std::vector<Token> targets;
  if (all_tokens) {
    for (int k = 0; k < prompts.d; ++k) {
      targets.push_back(static_cast<Token>(k));
      const double mass = question.soft < 0
                              ? (question.target == k ? 1.0 : 0.0)
                              : prompts.target_law(question)[static_cast<std::size_t>(k)];
      row.weights.push_back(question.weight * mass);
    }
  } else if (question.soft < 0) {
    targets.push_back(question.target);
    row.weights.push_back(question.weight);
  } else {
    const auto law = prompts.target_law(question);
    for (std::size_t k = 0; k < law.size(); ++k) {
      if (!(law[k] > 0.0)) continue;
      targets.push_back(static_cast<Token>(k));
      row.weights.push_back(question.weight * law[k]);
    }
  }
  const auto cells = prompts.cells_of(question.prompt);
  std::vector<std::pair<std::uint32_t, std::size_t>> order(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    order[i] = {class_of(cells[i].window, cells[i].next, question.query), i};
  }
  std::sort(order.begin(), order.end());
  const std::size_t stride = planes(targets.size(), prompts.d);
  for (const auto& [k, i] : order) {
    if (row.classes.empty() || row.classes.back() != k) {
      row.classes.push_back(k);
      row.counts.resize(row.counts.size() + stride, 0.0);
    }
    const auto plane = std::find(targets.begin(), targets.end(), cells[i].next) - targets.begin();
    row.counts[row.counts.size() - stride + static_cast<std::size_t>(plane)] += cells[i].weight;
  }
  return row;
}

/// Packs rows [begin, end), at most `lanes` of them with equal T, into one block. `slot_class`
/// holds classes until the chunks are cut.
void pack_block(const std::vector<Row>& rows, std::size_t begin, std::size_t end, int d,
                QuestionBlocks& packed) {
  std::vector<std::uint32_t> support;
  for (std::size_t r = begin; r < end; ++r) {
    support.insert(support.end(), rows[r].classes.begin(), rows[r].classes.end());
  }
  std::sort(support.begin(), support.end());
  support.erase(std::unique(support.begin(), support.end()), support.end());
  const std::size_t T = rows[begin].targets();
  const std::size_t stride = planes(T, d);
  packed.most_planes = std::max(packed.most_planes, stride);
  packed.most_slots = std::max(packed.most_slots, support.size());
  const std::size_t first_count = packed.counts.size();
  const std::size_t first_weight = packed.weights.size();
  packed.blocks.push_back({static_cast<std::uint32_t>(support.size()),
                           static_cast<std::uint32_t>(T), static_cast<std::uint32_t>(stride),
                           packed.slot_class.size(), first_count, first_weight});
  packed.slot_class.insert(packed.slot_class.end(), support.begin(), support.end());
  packed.counts.resize(first_count + support.size() * stride, Lanes{});
  packed.weights.resize(first_weight + T, Lanes{});
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::size_t r = begin + lane;
    if (r >= end) {
      // An empty lane has one position and no weight: finite everywhere, and adds nothing.
      packed.counts[first_count].set(lane, 1.0);
      continue;
    }
    const Row& row = rows[r];
    std::size_t slot = 0;
    for (std::size_t i = 0; i < row.classes.size(); ++i) {
      while (support[slot] != row.classes[i]) ++slot;
      for (std::size_t j = 0; j < stride; ++j) {
        packed.counts[first_count + slot * stride + j].set(lane, row.counts[i * stride + j]);
      }
    }
    for (std::size_t t = 0; t < T; ++t) packed.weights[first_weight + t].set(lane, row.weights[t]);
  }
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

/// Cuts the blocks into chunks, a number that depends on the blocks alone.
void cut_chunks(QuestionBlocks& packed) {
  constexpr std::size_t blocks_a_chunk = 64;
  constexpr std::size_t most_chunks = 256;
  const std::size_t blocks = packed.blocks.size();
  const std::size_t count = std::clamp<std::size_t>(blocks / blocks_a_chunk, 1, most_chunks);
  for (std::size_t c = 0; c < count; ++c) {
    BlockChunk chunk{c * blocks / count, (c + 1) * blocks / count, packed.chunk_class.size(), 0};
    const std::size_t begin = packed.blocks[chunk.first_block].first_slot;
    const QuestionBlock& last = packed.blocks[chunk.last_block - 1];
    const std::size_t end = last.first_slot + last.slots;
    std::vector<std::uint32_t> occurring(
        packed.slot_class.begin() + static_cast<std::ptrdiff_t>(begin),
        packed.slot_class.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(occurring.begin(), occurring.end());
    occurring.erase(std::unique(occurring.begin(), occurring.end()), occurring.end());
    for (std::size_t i = begin; i < end; ++i) {
      packed.slot_class[i] = static_cast<std::uint32_t>(
          std::lower_bound(occurring.begin(), occurring.end(), packed.slot_class[i]) -
          occurring.begin());
    }
    packed.chunk_class.insert(packed.chunk_class.end(), occurring.begin(), occurring.end());
    chunk.last_class = packed.chunk_class.size();
    packed.largest_chunk = std::max(packed.largest_chunk, occurring.size());
    packed.chunks.push_back(chunk);
  }
}

}  // namespace

QuestionBlocks pack_questions(const Prompts& prompts, bool all_tokens, const ClassOf& class_of) {
  std::vector<Row> rows;
  rows.reserve(prompts.questions.size());
  for (const Question& question : prompts.questions) {
    rows.push_back(make_row(prompts, question, all_tokens, class_of));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.targets() != b.targets()) return a.targets() < b.targets();
    if (a.classes != b.classes) return a.classes < b.classes;
    return a.counts < b.counts;
  });
  // The loss of a question depends on its row alone, so equal rows are one with the summed weight.
  std::size_t kept = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (kept > 0 && rows[kept - 1].targets() == rows[r].targets() &&
        rows[kept - 1].classes == rows[r].classes && rows[kept - 1].counts == rows[r].counts) {
      for (std::size_t t = 0; t < rows[r].targets(); ++t)
        rows[kept - 1].weights[t] += rows[r].weights[t];
    } else if (kept++ != r) {
      rows[kept - 1] = std::move(rows[r]);
    }
  }
  rows.resize(kept);

  QuestionBlocks packed;
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin + 1;
    while (end < rows.size() && end - begin < lanes &&
           rows[end].targets() == rows[begin].targets()) {
      ++end;
    }
    pack_block(rows, begin, end, prompts.d, packed);
    begin = end;
  }
  if (!packed.blocks.empty()) cut_chunks(packed);
  shorten(packed);
  return packed;
}

}  // namespace gih
