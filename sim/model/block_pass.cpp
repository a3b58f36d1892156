#include "block_pass.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gih {
namespace {

double sum_lanes(const Lanes& v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/// Calls body<G>(first) for groups of at most four planes, whose sums stay in registers.
template <class Body>
void each_group(std::size_t planes, Body body) {
  for (std::size_t first = 0; first < planes; first += 4) {
    switch (planes - first) {
      case 1:
        body.template operator()<1>(first);
        break;
      case 2:
        body.template operator()<2>(first);
        break;
      case 3:
        body.template operator()<3>(first);
        break;
      default:
        body.template operator()<4>(first);
    }
  }
}

}  // namespace

/// -sum_t weight_t log(y_t + eps) (2.1).
void BlockPass::cross_entropy(const Lanes* weight, const Lanes& Z, std::size_t targets) {
  for (std::size_t t = 0; t < targets; ++t) {
    const Lanes& y = y_[t];
    if (mode_.loss) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        if (!(weight[t][lane] > 0.0)) continue;
        loss_.set(lane, loss_[lane] - weight[t][lane] * std::log(y[lane] + spec_.eps));
      }
    }
    g_[t] = weight[t] / (Z * (y + Lanes::all(spec_.eps)));
    // An empty lane with eps = 0 would be 0 / 0.
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (!(weight[t][lane] > 0.0)) g_[t].set(lane, 0.0);
    }
  }
}

/// sum_t weight_t (log sum_j exp(y_j) - y_t); every token is a target, and y is in [0, 1], where
/// nothing overflows.
void BlockPass::softmax_cross_entropy(const Lanes* weight, const Lanes& Z, std::size_t targets) {
  Lanes sum{}, weights{};
  for (std::size_t t = 0; t < targets; ++t) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      g_[t].set(lane, std::exp(y_[t][lane]));
    }
    sum += g_[t];
    weights += weight[t];
  }
  for (std::size_t t = 0; t < targets; ++t) {
    if (mode_.loss) loss_ -= weight[t] * y_[t];
    g_[t] = (weight[t] - weights * g_[t] / sum) / Z;
  }
  if (!mode_.loss) return;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    loss_.set(lane, loss_[lane] + weights[lane] * std::log(sum[lane]));
  }
}

/// exp(a s - maximum over the question's own positions), by slot and lane.
template <class Count>
void BlockPass::own_maximum(const QuestionBlock& block, const Count* n) {
  const std::uint32_t* slot = blocks_.slot_class.data() + block.first_slot;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto occurs = [&](std::size_t j) {
      const Count* at = n + j * block.planes;
      return std::any_of(at, at + block.planes, [&](const Count& x) { return x[lane] > 0; });
    };
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < block.slots; ++j) {
      if (occurs(j)) largest = std::max(largest, e_[slot[j]]);
    }
    for (std::size_t j = 0; j < block.slots; ++j) {
      E_[j].set(lane, occurs(j) ? std::exp(e_[slot[j]] - largest) : 0.0);
    }
  }
}

/// y_t = N_t / Z with Z the sum of N over the planes. dL/dE of a class is the sum over the planes
/// of n times sum_t g_t y_t - g, where g_t = -dL/dy_t / Z, and 0 for the plane of other tokens.
template <bool careful, class Count>
void BlockPass::run_block(const QuestionBlock& block, const Count* n) {
  const std::uint32_t* slot = blocks_.slot_class.data() + block.first_slot;
  const Lanes* weight = blocks_.weights.data() + block.first_weight;
  if constexpr (careful) own_maximum(block, n);
  const auto E = [&](std::size_t j) {
    if constexpr (careful) {
      return E_[j];
    } else {
      return e_[slot[j]];
    }
  };
  each_group(block.planes, [&]<std::size_t G>(std::size_t first) {
    Lanes even[G]{}, odd[G]{};
    const Count* at = n + first;
    std::size_t j = 0;
    for (; j + 1 < block.slots; j += 2, at += 2 * block.planes) {
      for (std::size_t p = 0; p < G; ++p) even[p] += E(j) * widened(at[p]);
      for (std::size_t p = 0; p < G; ++p) odd[p] += E(j + 1) * widened(at[block.planes + p]);
    }
    for (std::size_t p = 0; p < G; ++p) {
      if (j < block.slots) even[p] += E(j) * widened(at[p]);
      y_[first + p] = even[p] + odd[p];
    }
  });
  Lanes Z = y_[0];
  for (std::size_t p = 1; p < block.planes; ++p) Z += y_[p];
  for (std::size_t t = 0; t < block.targets; ++t) y_[t] = y_[t] / Z;
  if (spec_.kind == LossKind::cross_entropy) {
    cross_entropy(weight, Z, block.targets);
  } else {
    softmax_cross_entropy(weight, Z, block.targets);
  }
  if (!mode_.gradient) return;
  Lanes mean{};
  for (std::size_t t = 0; t < block.targets; ++t) mean += g_[t] * y_[t];
  for (std::size_t t = 0; t < block.targets; ++t) g_[t] = mean - g_[t];
  if (block.planes > block.targets) g_[block.targets] = mean;
  each_group(block.planes, [&]<std::size_t G>(std::size_t first) {
    Lanes g[G];
    for (std::size_t p = 0; p < G; ++p) g[p] = g_[first + p];
    const Count* at = n + first;
    for (std::size_t j = 0; j < block.slots; ++j, at += block.planes) {
      Lanes term = g[0] * widened(at[0]);
      for (std::size_t p = 1; p < G; ++p) term += g[p] * widened(at[p]);
      if constexpr (careful) term = term * E_[j];
      sum_[slot[j]] += term;
    }
  });
}

template <class Count>
void BlockPass::run_block(const QuestionBlock& block, const std::vector<Count>& counts) {
  const Count* n = counts.data() + block.first_count;
  if (mode_.careful) {
    run_block<true>(block, n);
  } else {
    run_block<false>(block, n);
  }
}

double BlockPass::run(std::size_t c, std::span<const double> e, PassMode mode, double* sum) {
  mode_ = mode;
  loss_ = Lanes{};
  const BlockChunk& chunk = blocks_.chunks[c];
  const std::size_t count = chunk.last_class - chunk.first_class;
  for (std::size_t k = 0; k < count; ++k) {
    e_[k] = e[blocks_.chunk_class[chunk.first_class + k]];
    sum_[k] = Lanes{};
  }
  for (std::size_t b = chunk.first_block; b < chunk.last_block; ++b) {
    const QuestionBlock& block = blocks_.blocks[b];
    if (blocks_.short_counts.empty()) {
      run_block(block, blocks_.counts);
    } else {
      run_block(block, blocks_.short_counts);
    }
  }
  for (std::size_t k = 0; k < count; ++k) sum[k] = sum_lanes(sum_[k]);
  return sum_lanes(loss_);
}

}  // namespace gih
