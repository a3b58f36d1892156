#include "gih/model/table_engine.hpp"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "gih/base/error.hpp"
#include "gih/base/parallel.hpp"
#include "gih/model/scores.hpp"
#include "question_blocks.hpp"

namespace gih {
namespace {

/// Beyond this spread of a s, exponentials relative to the largest class could underflow in a
/// question that has only small ones; then each question takes its own maximum.
constexpr double safe_spread = 600.0;

double sum_lanes(const Lanes& v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/// What a thread needs for a chunk: exponentials and derivative sums of the chunk's classes.
struct Workspace {
  std::vector<Lanes> E;     // classes: exp(a s - m), the same in all lanes unless careful
  std::vector<double> e;    // classes: the same, one number
  std::vector<Lanes> sum;   // classes: dL/dE, or E dL/dE when careful
  std::vector<Lanes> y, g;  // targets: y_t, and -dL/dy_t / Z
};

class TableEngine final : public Objective {
 public:
  TableEngine(const ModelSpec& model, const LossSpec& loss, const Prompts& prompts, int threads)
      : loss_(loss), team_(threads), workspaces_(static_cast<std::size_t>(threads)) {
    check_model(model);
    if (prompts.d != model.d || prompts.M != model.reach()) {
      throw InputError(fmt::format("prompts have d = {}, M = {}; the model has d = {}, reach {}",
                                   prompts.d, prompts.M, model.d, model.reach()));
    }
    zero_ = zero_parameters(model);
    scores_ = make_scores(model);
    blocks_ = pack_questions(prompts, loss.kind == LossKind::softmax_cross_entropy,
                             [this](WindowCode window, Token own, WindowCode query) {
                               return scores_->class_of(window, own, query);
                             });
    chunk_loss_.resize(blocks_.chunks.size());
    chunk_sum_.resize(blocks_.chunk_class.size());
    for (Workspace& work : workspaces_) {
      work.E.resize(blocks_.largest_chunk);
      work.e.resize(blocks_.largest_chunk);
      work.sum.resize(blocks_.largest_chunk);
      work.y.resize(blocks_.most_targets);
      work.g.resize(blocks_.most_targets);
    }
  }

  double loss(const Parameters& theta) override { return evaluate(theta, {}, true).loss; }

  Evaluation evaluate(const Parameters& theta, Blocks blocks, bool with_loss) override {
    s_ = scores_->forward(theta);
    a_ = theta.a;
    exponentials();
    const bool with_gradient = blocks.any();
    const auto chunks = static_cast<std::ptrdiff_t>(blocks_.chunks.size());
    const int threads = chunks > 1 ? team_.next() : 1;
    const auto start = std::chrono::steady_clock::now();
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      Workspace& work = workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(static)
      for (std::ptrdiff_t c = 0; c < chunks; ++c) {
        run_chunk(static_cast<std::size_t>(c), with_loss, with_gradient, work);
      }
    }
    team_.took(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    Evaluation result;
    result.gradient = zero_;
    for (const double part : chunk_loss_) result.loss += part;
    if (!with_loss) result.loss = std::numeric_limits<double>::quiet_NaN();
    if (with_gradient) gather(blocks, result.gradient);
    return result;
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
    for (std::size_t k = 0; k < s_.size(); ++k)
      e_[k] = careful_ ? a_ * s_[k] : std::exp(a_ * s_[k] - high);
  }

  void run_chunk(std::size_t c, bool with_loss, bool with_gradient, Workspace& work) {
    const BlockChunk& chunk = blocks_.chunks[c];
    const std::size_t count = chunk.last_class - chunk.first_class;
    for (std::size_t k = 0; k < count; ++k) {
      work.e[k] = e_[blocks_.chunk_class[chunk.first_class + k]];
      work.sum[k] = Lanes{};
    }
    Lanes loss{};
    for (std::size_t b = chunk.first_block; b < chunk.last_block; ++b) {
      const QuestionBlock& block = blocks_.blocks[b];
      if (blocks_.short_counts.empty()) {
        run_block(block, blocks_.counts.data(), with_loss, with_gradient, work, loss);
      } else {
        run_block(block, blocks_.short_counts.data(), with_loss, with_gradient, work, loss);
      }
    }
    chunk_loss_[c] = sum_lanes(loss);
    for (std::size_t k = 0; k < count; ++k) {
      chunk_sum_[chunk.first_class + k] = sum_lanes(work.sum[k]);
    }
  }

  template <class Count>
  void run_block(const QuestionBlock& block, const Count* counts, bool with_loss,
                 bool with_gradient, Workspace& work, Lanes& loss) {
    const Count* n = counts + block.first_count;
    if (careful_) {
      run_block<true>(block, n, with_loss, with_gradient, work, loss);
    } else {
      run_block<false>(block, n, with_loss, with_gradient, work, loss);
    }
  }

  /// y_t = N_t / Z; dL/dE of a class is n sum_t g_t y_t - sum_t g_t n_t with g_t = -dL/dy_t / Z.
  template <bool careful, class Count>
  void run_block(const QuestionBlock& block, const Count* n, bool with_loss, bool with_gradient,
                 Workspace& work, Lanes& loss) {
    const std::size_t stride = 1 + block.targets;
    const std::uint32_t* slot = blocks_.slot_class.data() + block.first_slot;
    const Lanes* weight = blocks_.weights.data() + block.first_weight;
    if constexpr (careful) own_maximum(block, n, work);
    const auto E = [&](std::size_t j) {
      if constexpr (careful) {
        return work.E[j];
      } else {
        return work.e[slot[j]];
      }
    };
    const auto dot = [&](std::size_t plane) {
      Lanes even{}, odd{};
      std::size_t j = 0;
      for (; j + 1 < block.slots; j += 2) {
        even += E(j) * widened(n[j * stride + plane]);
        odd += E(j + 1) * widened(n[(j + 1) * stride + plane]);
      }
      if (j < block.slots) even += E(j) * widened(n[j * stride + plane]);
      return even + odd;
    };
    const Lanes Z = dot(0);
    for (std::size_t t = 0; t < block.targets; ++t) work.y[t] = dot(1 + t) / Z;
    if (loss_.kind == LossKind::cross_entropy) {
      cross_entropy(weight, Z, block.targets, with_loss, work, loss);
    } else {
      softmax_cross_entropy(weight, Z, block.targets, with_loss, work, loss);
    }
    if (!with_gradient) return;
    Lanes mean{};
    for (std::size_t t = 0; t < block.targets; ++t) {
      const Lanes g = work.g[t];
      mean += g * work.y[t];
      for (std::size_t j = 0; j < block.slots; ++j) {
        Lanes term = g * widened(n[j * stride + 1 + t]);
        if constexpr (careful) term = term * work.E[j];
        work.sum[slot[j]] -= term;
      }
    }
    for (std::size_t j = 0; j < block.slots; ++j) {
      Lanes term = mean * widened(n[j * stride]);
      if constexpr (careful) term = term * work.E[j];
      work.sum[slot[j]] += term;
    }
  }

  /// -sum_t weight_t log(y_t + eps) (2.1).
  void cross_entropy(const Lanes* weight, const Lanes& Z, std::size_t targets, bool with_loss,
                     Workspace& work, Lanes& loss) const {
    for (std::size_t t = 0; t < targets; ++t) {
      const Lanes& y = work.y[t];
      if (with_loss) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          if (!(weight[t][lane] > 0.0)) continue;
          loss.set(lane, loss[lane] - weight[t][lane] * std::log(y[lane] + loss_.eps));
        }
      }
      work.g[t] = weight[t] / (Z * (y + Lanes::all(loss_.eps)));
      // An empty lane with eps = 0 would be 0 / 0.
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        if (!(weight[t][lane] > 0.0)) work.g[t].set(lane, 0.0);
      }
    }
  }

  /// sum_t weight_t (log sum_j exp(y_j) - y_t); every token is a target, and y is in [0, 1], where
  /// nothing overflows.
  void softmax_cross_entropy(const Lanes* weight, const Lanes& Z, std::size_t targets,
                             bool with_loss, Workspace& work, Lanes& loss) const {
    Lanes sum{}, weights{};
    for (std::size_t t = 0; t < targets; ++t) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        work.g[t].set(lane, std::exp(work.y[t][lane]));
      }
      sum += work.g[t];
      weights += weight[t];
    }
    for (std::size_t t = 0; t < targets; ++t) {
      if (with_loss) loss -= weight[t] * work.y[t];
      work.g[t] = (weight[t] - weights * work.g[t] / sum) / Z;
    }
    if (!with_loss) return;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      loss.set(lane, loss[lane] + weights[lane] * std::log(sum[lane]));
    }
  }

  /// exp(a s - maximum over the question's own positions), by slot and lane.
  template <class Count>
  void own_maximum(const QuestionBlock& block, const Count* n, Workspace& work) {
    const std::size_t stride = 1 + block.targets;
    const std::uint32_t* slot = blocks_.slot_class.data() + block.first_slot;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      double largest = -std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < block.slots; ++j) {
        if (n[j * stride][lane] > 0) largest = std::max(largest, work.e[slot[j]]);
      }
      for (std::size_t j = 0; j < block.slots; ++j) {
        const bool occurs = n[j * stride][lane] > 0;
        work.E[j].set(lane, occurs ? std::exp(work.e[slot[j]] - largest) : 0.0);
      }
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
    if (blocks.a) {
      for (std::size_t k = 0; k < ds_.size(); ++k) gradient.a += ds_[k] * s_[k];
    }
    if (!blocks.c && !blocks.w && !blocks.qkv) return;
    for (double& d : ds_) d *= a_;
    scores_->backward(ds_, blocks, gradient);
  }

  LossSpec loss_;
  TeamSize team_;
  std::vector<Workspace> workspaces_;  // by thread
  Parameters zero_;
  std::unique_ptr<Scores> scores_;
  QuestionBlocks blocks_;
  std::vector<double> chunk_loss_, chunk_sum_;

  std::span<const double> s_;
  double a_ = 0.0;
  bool careful_ = false;
  std::vector<double> e_;   // by class: exp(a s - max), or a s itself when careful
  std::vector<double> ds_;  // by class
};

}  // namespace

std::unique_ptr<Objective> make_table_engine(const ModelSpec& model, const LossSpec& loss,
                                             const Prompts& prompts, int threads) {
  return std::make_unique<TableEngine>(model, loss, prompts, threads);
}

double table_engine_bytes(const DataSpec& data, const PromptSpec& prompts, const ModelSpec& model,
                          const LossSpec& loss, Split split) {
  // Each class of a question takes (1 + T) numbers of a lane, and while packing as much again; no
  // question has more classes than its prompt has cells. Half of the lanes may be padding.
  const bool soft = !data.L || prompts.target == Target::conditional ||
                    loss.kind == LossKind::softmax_cross_entropy;
  const double T = soft ? data.d : 1.0;
  const double per_question = data.L ? 1.0 : std::pow(data.d, prompts.M);
  const double cells = prompts_bytes(data, prompts, split) / sizeof(Cell);
  double a_class = 0.0;
  if (!model.is_simplified()) {
    // Inner products and kernels of each pair, derivatives, maps; features of each place.
    const double terms = 2.0 * model.H + static_cast<double>(model.subsets().size()) + 6.0;
    a_class = sizeof(double) * (terms + 4.0 * model.H * model.d) + 200.0;
  }
  return cells * per_question * ((1.0 + T) * 3.0 * sizeof(double) + 8.0 + a_class);
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
