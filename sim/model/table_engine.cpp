#include "gih/model/table_engine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "chunk_work.hpp"
#include "gih/base/error.hpp"
#include "gih/model/scores.hpp"
#include "lanes.hpp"
#include "question_rows.hpp"
#include "shared_blocks.hpp"

namespace gih {
namespace {

/// Beyond this spread of a s, exponentials relative to the largest class could underflow in a
/// question that has only small ones; then each question takes its own maximum.
constexpr double safe_spread = 300.0;  // products of two sums are still normal numbers

class TableEngine final : public Objective {
 public:
  TableEngine(const ModelSpec& model, const LossSpec& loss, const Prompts& prompts, int threads,
              Sharing sharing)
      : sharing_(sharing) {
    check_model(model);
    if (prompts.d != model.d || prompts.M != model.reach()) {
      throw InputError(fmt::format("prompts have d = {}, M = {}; the model has d = {}, reach {}",
                                   prompts.d, prompts.M, model.d, model.reach()));
    }
    zero_ = zero_parameters(model);
    scores_ = make_scores(model);
    blocks_ = pack_questions(prompts, loss.kind == LossKind::softmax_cross_entropy, threads,
                             [this](WindowCode window, Token own, WindowCode query) {
                               return scores_->class_of(window, own, query);
                             });
    chunk_loss_.resize(blocks_.chunks.size());
    chunk_sum_.resize(blocks_.chunk_class.size());
    std::size_t own = blocks_.chunks.size();
    if (sharing_.ranks) {
      order(Order::take);
      own = deal_chunks(*sharing_.ranks, blocks_);
      std::uint64_t classes = scores_->classes();
      broadcast(*sharing_.ranks, classes);
    }
    work_ = std::make_unique<ChunkWork>(loss, blocks_, own, threads);
  }

  double loss(const Parameters& theta) override { return evaluate(theta, {}, true).loss; }

  void evaluate_into(const Parameters& theta, Blocks blocks, bool with_loss,
                     Evaluation& result) override {
    s_ = scores_->forward(theta);
    a_ = theta.a;
    exponentials();
    const bool with_gradient = blocks.any();
    const PassMode mode{careful_, with_loss, with_gradient};
    if (sharing_.ranks) {
      order(Order::pass, flags_of(mode));
      broadcast(*sharing_.ranks, std::span(e_));
    }
    work_->run(e_, mode, chunk_loss_.data(), chunk_sum_.data());
    if (sharing_.ranks) collect(mode);
    result.gradient = zero_;
    result.loss = with_loss ? std::accumulate(chunk_loss_.begin(), chunk_loss_.end(), 0.0)
                            : std::numeric_limits<double>::quiet_NaN();
    if (with_gradient) gather(blocks, result.gradient);
  }

 private:
  void exponentials() {
    double high = -std::numeric_limits<double>::infinity();
    double low = -high;
    for (const double s : s_) {
      high = std::max(high, a_ * s);
      low = std::min(low, a_ * s);
    }
    careful_ = !(high - low <= safe_spread);
    e_.resize(s_.size());
    const double largest = careful_ ? 0.0 : high;
    for (std::size_t k = 0; k < s_.size(); ++k) e_[k] = a_ * s_[k] - largest;
    if (!careful_) exp_each(e_);
  }

  void order(Order::Kind kind, std::uint32_t flags = 0) {
    Order order{kind, sharing_.number, flags};
    broadcast(*sharing_.ranks, order);
  }

  /// What the other ranks made of their chunks, each to its place.
  void collect(PassMode mode) {
    Ranks& ranks = *sharing_.ranks;
    for (int from = 1; from < ranks.count(); ++from) {
      const Share of = share_of(blocks_.chunks.size(), ranks.count(), from);
      const std::span<double> losses(chunk_loss_.data() + of.first, of.size());
      if (mode.loss) ranks.receive(from, std::as_writable_bytes(losses));
      if (!mode.gradient) continue;
      const std::size_t begin = of.size() > 0 ? blocks_.chunks[of.first].first_class : 0;
      const std::size_t end = of.size() > 0 ? blocks_.chunks[of.last - 1].last_class : 0;
      const std::span<double> sums(chunk_sum_.data() + begin, end - begin);
      ranks.receive(from, std::as_writable_bytes(sums));
    }
  }

  /// The chunks' sums in their order, then back through a s, s, and the pairs.
  void gather(Blocks blocks, Parameters& gradient) {
    ds_.assign(s_.size(), 0.0);
    for (std::size_t i = 0; i < chunk_sum_.size(); ++i)
      ds_[blocks_.chunk_class[i]] += chunk_sum_[i];
    if (!careful_) {
      for (std::size_t k = 0; k < ds_.size(); ++k) ds_[k] *= e_[k];
    }
    if (blocks.a) gradient.a = dot(ds_, s_);
    if (!blocks.c && !blocks.w && !blocks.qkv) return;
    for (double& d : ds_) d *= a_;
    scores_->backward(ds_, blocks, gradient);
  }

  Sharing sharing_;
  Parameters zero_;
  std::unique_ptr<Scores> scores_;
  QuestionBlocks blocks_;  // those of other ranks left out, but for their chunks and classes
  std::unique_ptr<ChunkWork> work_;
  std::vector<double> chunk_loss_, chunk_sum_;

  std::span<const double> s_;
  double a_ = 0.0;
  bool careful_ = false;
  std::vector<double> e_;   // by class: exp(a s - max), or a s itself when careful
  std::vector<double> ds_;  // by class
};

}  // namespace

std::unique_ptr<Objective> make_table_engine(const ModelSpec& model, const LossSpec& loss,
                                             const Prompts& prompts, int threads, Sharing sharing) {
  return std::make_unique<TableEngine>(model, loss, prompts, threads, sharing);
}

double table_engine_bytes(const DataSpec& data, const PromptSpec& prompts, const ModelSpec& model,
                          const LossSpec& loss, Split split) {
  // Each cell of a question is at most one entry of its row, and of a block, which exists twice
  // while blocks are joined; a lane's part of it is small or, where questions share few classes,
  // all of it.
  const bool is_short = data.L && *data.L <= std::numeric_limits<std::uint16_t>::max();
  const double entry = sizeof(std::uint32_t) + (is_short ? sizeof(ShortLanes) : sizeof(Lanes));
  const double per_question = data.L ? 1.0 : std::pow(data.d, prompts.M);
  const double cells = prompts_bytes(data, prompts, split) / sizeof(Cell) * per_question;
  double a_class = 0.0;
  if (!model.is_simplified()) {
    // Inner products and kernels of each pair, derivatives, maps; features of each place.
    const double terms = 2.0 * model.H + static_cast<double>(model.subsets().size()) + 6.0;
    a_class = sizeof(double) * (terms + 4.0 * model.H * model.d) + 200.0;
  }
  const bool soft = !data.L || prompts.target == Target::conditional ||
                    loss.kind == LossKind::softmax_cross_entropy;
  const double positions = prompts.positions == Positions::sequential && data.L
                               ? static_cast<double>(*data.L)
                               : per_question;
  const double targets = static_cast<double>(data.count(split)) * positions * (soft ? data.d : 1.0);
  const double pairs = std::min(cells, std::pow(data.d, 2.0 * model.reach()) * 4.0);
  constexpr double known_pair = 56.0;  // in the hash table of classes
  return cells * (sizeof(RowEntry) + 2.0 * entry + a_class) + pairs * known_pair +
         targets * 3.0 * sizeof(double);
}

Matrix predictions(const ModelSpec& model, const Parameters& theta, const Prompts& prompts) {
  check_model(model);
  check_parameters(model, theta);
  const auto scores = make_scores(model);
  std::vector<std::uint32_t> classes;
  for (const Question& question : prompts.questions) {
    for (const Cell& cell : prompts.cells_of(question.prompt)) {
      classes.push_back(scores->class_of(cell.window, cell.next, question.query));
    }
  }
  const auto s = scores->forward(theta);
  Matrix y = Matrix::Zero(static_cast<Eigen::Index>(prompts.questions.size()), model.d);
  std::size_t next = 0;
  for (Eigen::Index q = 0; q < y.rows(); ++q) {
    const auto cells = prompts.cells_of(prompts.questions[static_cast<std::size_t>(q)].prompt);
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      largest = std::max(largest, theta.a * s[classes[next + i]]);
    }
    double Z = 0.0;
    for (const Cell& cell : cells) {
      const double E = cell.weight * std::exp(theta.a * s[classes[next++]] - largest);
      y(q, cell.next) += E;
      Z += E;
    }
    y.row(q) /= Z;
  }
  return y;
}

}  // namespace gih
