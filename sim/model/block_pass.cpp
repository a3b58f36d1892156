#include "block_pass.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gih {
namespace {

Lanes sum_of(const Lanes* planes, std::size_t count) {
  Lanes sum = planes[0];
  for (std::size_t p = 1; p < count; ++p) sum += planes[p];
  return sum;
}

}  // namespace

/// y_t = N_t / Z, and the loss is -sum_t weight_t log(y_t + eps) (2.1).
void BlockPass::add_cross_entropy(const QuestionBlock& block, const Lanes* planes) {
  const Lanes* weight = blocks_.weights.data() + block.first_weight;
  const Lanes Z = sum_of(planes, block.planes);
  for (std::size_t t = 0; t < block.targets; ++t) {
    const Lanes logarithm = log(planes[t] / Z + Lanes::all(spec_.eps));
    loss_ -= Lanes::where_positive(weight[t], weight[t] * logarithm);
  }
}

/// With g_t = -dL/dy_t / Z, dL/dE of a position in plane t is sum_j g_j y_j - g_t, and in the plane
/// of other tokens the same without g_t. Z (y_t + eps) is N_t + eps Z, so that g_t and g_t y_t
/// share a division.
void BlockPass::differentiate_cross_entropy(const QuestionBlock& block, Lanes* planes) {
  const Lanes* weight = blocks_.weights.data() + block.first_weight;
  const Lanes eps = Lanes::all(spec_.eps);
  const Lanes Z = sum_of(planes, block.planes);
  Lanes mean{};
  for (std::size_t t = 0; t < block.targets; ++t) {
    const Lanes N = planes[t];
    const Lanes scaled = weight[t] / (Z * (N + eps * Z));
    planes[t] = scaled * Z;
    mean += scaled * N;
  }
  for (std::size_t t = 0; t < block.targets; ++t) planes[t] = mean - planes[t];
  if (block.planes > block.targets) planes[block.targets] = mean;
}

/// sum_t weight_t (log sum_j exp(y_j) - y_t); every token is a target, and y is in [0, 1], where
/// nothing overflows.
void BlockPass::add_softmax_cross_entropy(const QuestionBlock& block, const Lanes* planes) {
  const Lanes* weight = blocks_.weights.data() + block.first_weight;
  const Lanes Z = sum_of(planes, block.planes);
  Lanes sum{}, weights{};
  for (std::size_t t = 0; t < block.targets; ++t) {
    const Lanes y = planes[t] / Z;
    sum += exp(y);
    weights += weight[t];
    loss_ -= weight[t] * y;
  }
  loss_ += weights * log(sum);
}

void BlockPass::differentiate_softmax_cross_entropy(const QuestionBlock& block, Lanes* planes) {
  const Lanes* weight = blocks_.weights.data() + block.first_weight;
  const Lanes Z = sum_of(planes, block.planes);
  Lanes sum{}, weights{};
  for (std::size_t t = 0; t < block.targets; ++t) {
    planes[t] = planes[t] / Z;
    exp_y_[t] = exp(planes[t]);
    sum += exp_y_[t];
    weights += weight[t];
  }
  Lanes mean{};
  for (std::size_t t = 0; t < block.targets; ++t) {
    const Lanes g = (weight[t] - weights * exp_y_[t] / sum) / Z;
    mean += g * planes[t];
    planes[t] = g;
  }
  for (std::size_t t = 0; t < block.targets; ++t) planes[t] = mean - planes[t];
}

/// exp(a s - maximum over the question's own positions), by entry and lane.
template <class Count>
void BlockPass::own_maximum(std::size_t first, std::size_t last, const Count* counts, Lanes* E) {
  const std::uint32_t* of = blocks_.entry_class.data();
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = first; i < last; ++i) {
      if (counts[i][lane] > 0) largest = std::max(largest, e_[of[i]]);
    }
    for (std::size_t i = first; i < last; ++i) {
      E[i - first].set(lane, counts[i][lane] > 0 ? std::exp(e_[of[i]] - largest) : 0.0);
    }
  }
}

/// N_p = sum of n E over the entries of plane p.
template <bool careful, class Count>
void BlockPass::forward(const QuestionBlock& block, const Count* counts, Lanes* planes, Lanes* E) {
  const std::uint32_t* of = blocks_.entry_class.data();
  const std::size_t* run = blocks_.runs.data() + block.first_run;
  if constexpr (careful) own_maximum(run[0], run[block.planes], counts, E);
  const auto term = [&](std::size_t i) {
    if constexpr (careful) {
      return E[i - run[0]] * widened(counts[i]);
    } else {
      return e_[of[i]] * widened(counts[i]);
    }
  };
  for (std::size_t p = 0; p < block.planes; ++p) {
    Lanes sum[4]{};  // so that an addition need not wait for the one before
    std::size_t i = run[p];
    const std::size_t last = run[p + 1];
    for (; i + 3 < last; i += 4) {
      sum[0] += term(i);
      sum[1] += term(i + 1);
      sum[2] += term(i + 2);
      sum[3] += term(i + 3);
    }
    for (; i < last; ++i) sum[0] += term(i);
    planes[p] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

/// Adds n dL/dE (n E dL/dE when careful) to the sums of the classes. Planes alternate between two
/// sums, because a class recurs from plane to plane sooner than what was stored can be read again.
template <bool careful, class Count>
void BlockPass::backward(const QuestionBlock& block, const Count* counts, const Lanes* planes,
                         const Lanes* E) {
  const std::uint32_t* of = blocks_.entry_class.data();
  const std::size_t* run = blocks_.runs.data() + block.first_run;
  for (std::size_t p = 0; p < block.planes; ++p) {
    const Lanes g = planes[p];
    const auto term = [&](std::size_t i) {
      if constexpr (careful) {
        return g * widened(counts[i]) * E[i - run[0]];
      } else {
        return g * widened(counts[i]);
      }
    };
    Lanes* sum = sum_.data() + (p % 2) * e_.size();
    std::size_t i = run[p];
    const std::size_t last = run[p + 1];
    for (; i + 3 < last; i += 4) {
      const Lanes terms[4]{term(i), term(i + 1), term(i + 2), term(i + 3)};
      for (std::size_t j = 0; j < 4; ++j) sum[of[i + j]] += terms[j];
    }
    for (; i < last; ++i) sum[of[i]] += term(i);
  }
}

/// Forward for a group of blocks, then their losses, then backward: no division waits for a sum
/// that has just begun, and the counts of a group are still in the first cache on the way back.
template <bool careful, class Count>
void BlockPass::run_blocks(const BlockChunk& chunk, const Count* counts) {
  const bool logits = spec_.kind == LossKind::softmax_cross_entropy;
  for (std::size_t first = chunk.first_block; first < chunk.last_block; first += group) {
    const std::size_t last = std::min(first + group, chunk.last_block);
    const auto planes = [&](std::size_t b) {
      return planes_.data() + (b - first) * blocks_.most_planes;
    };
    const auto E = [&](std::size_t b) {
      return careful ? E_.data() + (b - first) * blocks_.most_entries : nullptr;
    };
    for (std::size_t b = first; b < last; ++b) {
      forward<careful>(blocks_.blocks[b], counts, planes(b), E(b));
    }
    // Value and derivative are apart, so that neither's roundings depend on whether the other is
    // asked for.
    for (std::size_t b = first; mode_.loss && b < last; ++b) {
      logits ? add_softmax_cross_entropy(blocks_.blocks[b], planes(b))
             : add_cross_entropy(blocks_.blocks[b], planes(b));
    }
    if (!mode_.gradient) continue;
    for (std::size_t b = first; b < last; ++b) {
      logits ? differentiate_softmax_cross_entropy(blocks_.blocks[b], planes(b))
             : differentiate_cross_entropy(blocks_.blocks[b], planes(b));
    }
    for (std::size_t b = first; b < last; ++b) {
      backward<careful>(blocks_.blocks[b], counts, planes(b), E(b));
    }
  }
}

double BlockPass::run(std::size_t c, std::span<const double> e, PassMode mode, double* sum) {
  mode_ = mode;
  loss_ = Lanes{};
  const BlockChunk& chunk = blocks_.chunks[c];
  const std::size_t count = chunk.last_class - chunk.first_class;
  for (std::size_t k = 0; k < count; ++k) {
    e_[k] = e[blocks_.chunk_class[chunk.first_class + k]];
    sum_[k] = sum_[e_.size() + k] = Lanes{};
  }
  const auto run_all = [&](const auto* counts) {
    mode.careful ? run_blocks<true>(chunk, counts) : run_blocks<false>(chunk, counts);
  };
  if (blocks_.short_counts.empty()) {
    run_all(blocks_.counts.data());
  } else {
    run_all(blocks_.short_counts.data());
  }
  for (std::size_t k = 0; k < count; ++k) sum[k] = sum_lanes(sum_[k] + sum_[e_.size() + k]);
  return sum_lanes(loss_);
}

}  // namespace gih
