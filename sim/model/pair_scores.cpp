#include "gih/model/pair_scores.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "gih/base/error.hpp"
#include "lanes.hpp"

namespace gih {
namespace {

template <class Body>
void each_element(Subset S, Body body) {
  for (; S != 0; S &= S - 1) body(std::countr_zero(S));
}

}  // namespace

PairScores::PairScores(const ModelSpec& model)
    : H_(model.H),
      M_(model.M),
      codes_(model.d, model.M),
      subsets_(model.subsets()),
      along_(static_cast<Eigen::Index>(subsets_.size())) {}

std::uint32_t PairScores::first_place(Lengths lengths) {
  const auto same = [&](const Lengths& known) {
    return known.window == lengths.window && known.query == lengths.query;
  };
  const auto at = std::find_if(lengths_.begin(), lengths_.end(), same) - lengths_.begin();
  if (static_cast<std::size_t>(at) == lengths_.size()) lengths_.push_back(lengths);
  return static_cast<std::uint32_t>(at * M_ * M_);
}

std::uint32_t PairScores::class_of(WindowCode window, Token, WindowCode query) {
  const WindowCode windows = codes_.first(M_) + codes_.count(M_);
  const bool fits = windows < (WindowCode{1} << 32);  // else every pair is decoded again
  if (fits) {
    const auto known = class_of_pair_.find(window * windows + query);
    if (known != class_of_pair_.end()) return known->second;
  }
  const auto window_lags = codes_.decode(window);
  const auto query_lags = codes_.decode(query);
  const auto m = static_cast<std::uint8_t>(window_lags.size());
  const auto m_query = static_cast<std::uint8_t>(query_lags.size());
  std::string pattern{static_cast<char>(m), static_cast<char>(m_query)};
  std::vector<std::uint32_t> matches;
  const std::uint32_t first = first_place({m, m_query});
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m_query; ++j) {
      if (window_lags[i] != query_lags[j]) continue;
      matches.push_back(first + static_cast<std::uint32_t>(i * static_cast<std::size_t>(M_) + j));
      pattern += {static_cast<char>(i), static_cast<char>(j)};
    }
  }
  const auto next = static_cast<std::uint32_t>(classes());
  const auto [entry, is_new] = class_of_pattern_.try_emplace(pattern, next);
  if (is_new) {
    match_.insert(match_.end(), matches.begin(), matches.end());
    first_match_.push_back(match_.size());
    at_ = {};
  }
  if (fits) class_of_pair_.emplace(window * windows + query, entry->second);
  return entry->second;
}

/// Calls body(group of eight heads, place in place_, lengths, i, j).
template <class Body>
void PairScores::each_place(Body body) const {
  std::size_t place = 0;
  for (int first_head = 0; first_head < H_; first_head += static_cast<int>(lanes)) {
    for (const Lengths& of : lengths_) {
      for (int i = 0; i < M_; ++i) {
        for (int j = 0; j < M_; ++j, ++place) {
          if (i < of.window && j < of.query) body(first_head, place, of, i, j);
        }
      }
    }
  }
}

/// <v^(h), v'^(h)> of every class.
void PairScores::update_inner() {
  const std::size_t count = classes();
  const std::size_t places = lengths_.size() * static_cast<std::size_t>(M_ * M_);
  const auto groups = (static_cast<std::size_t>(H_) + lanes - 1) / lanes;
  place_.assign(groups * places * lanes, 0.0);
  each_place([&](int first_head, std::size_t place, Lengths of, int i, int j) {
    for (int h = first_head; h < std::min(H_, first_head + static_cast<int>(lanes)); ++h) {
      place_[place * lanes + static_cast<std::size_t>(h - first_head)] =
          sigma(of.window, h)[i] * sigma(of.query, h)[j];
    }
  });
  inner_.resize(static_cast<std::size_t>(H_) * count);
  for (std::size_t group = 0; group < groups; ++group) {
    const double* product = place_.data() + group * places * lanes;
    const std::size_t heads = std::min(lanes, static_cast<std::size_t>(H_) - group * lanes);
    for (std::size_t k = 0; k < count; ++k) {
      Lanes sum{};
      for (std::size_t e = first_match_[k]; e < first_match_[k + 1]; ++e) {
        sum += load(product + match_[e] * lanes);
      }
      for (std::size_t h = 0; h < heads; ++h) inner_[(group * lanes + h) * count + k] = sum[h];
    }
  }
}

/// sigma^(h) of every window length, then <v^(h), v'^(h)> and K_S of every class.
void PairScores::update_products(const Matrix& w) {
  sigma_.assign(static_cast<std::size_t>((M_ + 1) * H_ * M_), 0.0);
  for (int m = 1; m <= M_; ++m) {
    for (int h = 0; h < H_; ++h) {
      double* to = sigma_.data() + sigma_index(m, h);
      double largest = w(h, 0);
      for (int i = 1; i < m; ++i) largest = std::max(largest, w(h, i));
      double sum = 0.0;
      for (int i = 0; i < m; ++i) sum += to[i] = std::exp(w(h, i) - largest);
      for (int i = 0; i < m; ++i) to[i] /= sum;
    }
  }
  update_inner();
  const std::size_t count = classes();
  product_.assign(subsets_.size() * count, 1.0);
  for (std::size_t S = 0; S < subsets_.size(); ++S) {
    double* K = product_.data() + S * count;
    each_element(subsets_[S], [&](int h) {
      const double* inner = inner_.data() + static_cast<std::size_t>(h) * count;
      for (std::size_t k = 0; k < count; ++k) K[k] *= inner[k];
    });
  }
}

std::span<const double> PairScores::forward(const Parameters& theta) {
  const bool same_w = at_.w.size() == theta.w.size() && at_.w == theta.w;
  if (!same_w) update_products(theta.w);
  if (!same_w || at_.c != theta.c) {
    const std::size_t count = classes();
    p_ = theta.c.cwiseAbs2() / theta.C_D();
    s_.assign(count, 0.0);
    for (std::size_t S = 0; S < subsets_.size(); ++S) {
      const double* K = product_.data() + S * count;
      const double weight = p_[static_cast<Eigen::Index>(S)];
      for (std::size_t k = 0; k < count; ++k) s_[k] += weight * K[k];
    }
  }
  at_ = theta;
  return s_;
}

void PairScores::backward(std::span<const double> ds, Blocks blocks, Parameters& gradient) {
  const std::size_t count = classes();
  if (blocks.c) {
    // Sum over classes of dL/ds K_S, and its mean over p.
    for (std::size_t S = 0; S < subsets_.size(); ++S)
      along_[static_cast<Eigen::Index>(S)] = dot(ds, {product_.data() + S * count, count});
    const double mean = p_.dot(along_);
    const double factor = 2.0 / at_.C_D();
    gradient.c.array() += factor * at_.c.array() * (along_.array() - mean);
  }
  if (!blocks.w) return;
  rate_.assign(static_cast<std::size_t>(H_) * count, 0.0);
  term_.resize(count);
  for (int h = 0; h < H_; ++h) {
    double* rate = rate_.data() + static_cast<std::size_t>(h) * count;
    for (std::size_t S = 0; S < subsets_.size(); ++S) {
      if (!(subsets_[S] >> h & 1U)) continue;
      std::fill(term_.begin(), term_.end(), p_[static_cast<Eigen::Index>(S)]);
      each_element(subsets_[S] & ~(Subset{1} << h), [&](int other) {
        const double* inner = inner_.data() + static_cast<std::size_t>(other) * count;
        for (std::size_t k = 0; k < count; ++k) term_[k] *= inner[k];
      });
      for (std::size_t k = 0; k < count; ++k) rate[k] += term_[k];
    }
    for (std::size_t k = 0; k < count; ++k) rate[k] *= ds[k];
  }
  std::fill(place_.begin(), place_.end(), 0.0);
  const std::size_t places = lengths_.size() * static_cast<std::size_t>(M_ * M_);
  for (std::size_t first = 0; first < static_cast<std::size_t>(H_); first += lanes) {
    double* derivative = place_.data() + first * places;
    const std::size_t heads = std::min(lanes, static_cast<std::size_t>(H_) - first);
    // All classes first: what has just been stored by halves cannot be read as a whole at once.
    by_class_.assign(count * lanes, 0.0);
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t k = 0; k < count; ++k)
        by_class_[k * lanes + h] = rate_[(first + h) * count + k];
    }
    for (std::size_t k = 0; k < count; ++k) {
      const Lanes r = load(by_class_.data() + k * lanes);
      for (std::size_t e = first_match_[k]; e < first_match_[k + 1]; ++e) {
        double* at = derivative + match_[e] * lanes;
        store(load(at) + r, at);
      }
    }
  }
  dsigma_.assign(sigma_.size(), 0.0);
  each_place([&](int first_head, std::size_t place, Lengths of, int i, int j) {
    for (int h = first_head; h < std::min(H_, first_head + static_cast<int>(lanes)); ++h) {
      const double r = place_[place * lanes + static_cast<std::size_t>(h - first_head)];
      dsigma_[sigma_index(of.window, h) + static_cast<std::size_t>(i)] += r * sigma(of.query, h)[j];
      dsigma_[sigma_index(of.query, h) + static_cast<std::size_t>(j)] += r * sigma(of.window, h)[i];
    }
  });
  for (int m = 1; m <= M_; ++m) {
    for (int h = 0; h < H_; ++h) {
      const double* at = sigma(m, h);
      const double* d = dsigma_.data() + sigma_index(m, h);
      double mean = 0.0;
      for (int i = 0; i < m; ++i) mean += at[i] * d[i];
      for (int i = 0; i < m; ++i) gradient.w(h, i) += at[i] * (d[i] - mean);
    }
  }
}

}  // namespace gih
