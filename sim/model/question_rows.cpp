#include "question_rows.hpp"

#include <algorithm>
#include <numeric>

namespace gih {

void QuestionRows::add(const Prompts& prompts, const Question& question, bool all_tokens,
                       const ClassOf& class_of) {
  targets_.clear();
  const std::size_t first_weight = weights_.size();
  const auto add_target = [&](Token k, double mass) {
    targets_.push_back(k);
    weights_.push_back(question.weight * mass);
  };
  if (question.soft < 0 && !all_tokens) {
    add_target(question.target, 1.0);
  } else {
    for (int k = 0; k < prompts.d; ++k) {
      const double mass = question.soft < 0
                              ? (question.target == k ? 1.0 : 0.0)
                              : prompts.target_law(question)[static_cast<std::size_t>(k)];
      if (all_tokens || mass > 0.0) add_target(static_cast<Token>(k), mass);
    }
  }
  cells_.clear();
  for (const Cell& cell : prompts.cells_of(question.prompt)) {
    const auto plane = std::find(targets_.begin(), targets_.end(), cell.next) - targets_.begin();
    cells_.push_back({static_cast<std::uint32_t>(plane),
                      class_of(cell.window, cell.next, question.query), cell.weight});
  }
  // Stable, so that counts that are not whole are added in the order of the cells.
  std::stable_sort(cells_.begin(), cells_.end(),
                   [](const RowEntry& a, const RowEntry& b) { return a.key() < b.key(); });
  const std::size_t first_entry = entries_.size();
  for (const RowEntry& cell : cells_) {
    if (entries_.size() > first_entry && entries_.back().key() == cell.key()) {
      entries_.back().count += cell.count;
    } else {
      entries_.push_back(cell);
    }
  }
  rows_.push_back({first_entry, entries_.size(), first_weight, targets_.size()});
}

void QuestionRows::merge() {
  order_.resize(rows_.size());
  std::iota(order_.begin(), order_.end(), std::uint32_t{0});
  const auto by_entry = [](const RowEntry& a, const RowEntry& b) {
    return a.key() != b.key() ? a.key() <=> b.key() : std::strong_order(a.count, b.count);
  };
  const auto compare = [&](std::uint32_t i, std::uint32_t j) {
    if (rows_[i].targets != rows_[j].targets) return rows_[i].targets <=> rows_[j].targets;
    const auto a = entries_of(i), b = entries_of(j);
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end(), by_entry);
  };
  std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t i, std::uint32_t j) {
    return compare(i, j) == std::strong_ordering::less;
  });
  std::size_t kept = 0;
  for (const std::uint32_t i : order_) {
    if (kept > 0 && compare(order_[kept - 1], i) == std::strong_ordering::equal) {
      double* to = weights_.data() + rows_[order_[kept - 1]].first_weight;
      const double* from = weights_.data() + rows_[i].first_weight;
      for (std::size_t t = 0; t < rows_[i].targets; ++t) to[t] += from[t];
    } else {
      order_[kept++] = i;
    }
  }
  order_.resize(kept);
}

QuestionRows::QuestionRows(const Prompts& prompts, bool all_tokens, const ClassOf& class_of) {
  rows_.reserve(prompts.questions.size());
  for (const Question& question : prompts.questions) add(prompts, question, all_tokens, class_of);
  merge();
}

}  // namespace gih
