#pragma once
// Questions as rows of counts over classes and planes, before they are packed.

#include <cstdint>
#include <span>
#include <vector>

#include "gih/data/prompts.hpp"
#include "question_blocks.hpp"

namespace gih {

/// Positions of one class whose token is in one plane.
struct RowEntry {
  std::uint32_t plane, class_;
  double count;
  std::uint64_t key() const { return std::uint64_t{plane} << 32 | class_; }
};

/// Rows with different entries or numbers of targets; the weights of equal ones are added up, since
/// the loss of a question depends on its row alone. Sorted by targets, then entries.
class QuestionRows {
 public:
  QuestionRows(const Prompts& prompts, bool all_tokens, const ClassOf& class_of);

  std::size_t count() const { return order_.size(); }
  std::size_t targets(std::size_t r) const { return rows_[order_[r]].targets; }
  /// Ascending by key.
  std::span<const RowEntry> entries(std::size_t r) const { return entries_of(order_[r]); }
  /// Share in the loss of each target.
  std::span<const double> weights(std::size_t r) const {
    return {weights_.data() + rows_[order_[r]].first_weight, targets(r)};
  }

 private:
  struct Row {
    std::size_t first_entry, last_entry, first_weight, targets;
  };
  void add(const Prompts& prompts, const Question& question, bool all_tokens,
           const ClassOf& class_of);
  void merge();
  std::span<const RowEntry> entries_of(std::size_t i) const {
    return {entries_.data() + rows_[i].first_entry, rows_[i].last_entry - rows_[i].first_entry};
  }

  std::vector<Row> rows_;
  std::vector<RowEntry> entries_;
  std::vector<double> weights_;
  std::vector<std::uint32_t> order_;  // rows that are kept

  std::vector<Token> targets_;   // of the question being added
  std::vector<RowEntry> cells_;  // of it, one a cell
};

}  // namespace gih
