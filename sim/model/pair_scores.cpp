#include "gih/model/pair_scores.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "gih/base/error.hpp"

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
      first_match_{0} {}

std::uint32_t PairScores::class_of(WindowCode window, Token, WindowCode query) {
  const WindowCode windows = codes_.first(M_) + codes_.count(M_);
  const bool fits = windows < (WindowCode{1} << 32);  // else every pair is decoded again
  if (fits) {
    const auto known = class_of_pair_.find(window * windows + query);
    if (known != class_of_pair_.end()) return known->second;
  }
  const auto window_lags = codes_.decode(window);
  const auto query_lags = codes_.decode(query);
  std::string pattern{static_cast<char>(window_lags.size()), static_cast<char>(query_lags.size())};
  std::vector<Match> matches;
  for (std::size_t i = 0; i < window_lags.size(); ++i) {
    for (std::size_t j = 0; j < query_lags.size(); ++j) {
      if (window_lags[i] != query_lags[j]) continue;
      matches.push_back({static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(j)});
      pattern += {static_cast<char>(i), static_cast<char>(j)};
    }
  }
  const auto next = static_cast<std::uint32_t>(classes());
  const auto [entry, is_new] = class_of_pattern_.try_emplace(pattern, next);
  if (is_new) {
    length_.push_back({static_cast<std::uint8_t>(window_lags.size()),
                       static_cast<std::uint8_t>(query_lags.size())});
    match_.insert(match_.end(), matches.begin(), matches.end());
    first_match_.push_back(match_.size());
    at_ = {};
  }
  if (fits) class_of_pair_.emplace(window * windows + query, entry->second);
  return entry->second;
}

/// sigma^(h) of every window length, then <v^(h), v'^(h)> and K_S of every class.
void PairScores::update_products(const Matrix& w) {
  sigma_.assign(static_cast<std::size_t>((M_ + 1) * H_ * M_), 0.0);
  for (int m = 1; m <= M_; ++m) {
    for (int h = 0; h < H_; ++h) {
      double* to = sigma_.data() + static_cast<std::size_t>((m * H_ + h) * M_);
      double largest = w(h, 0);
      for (int i = 1; i < m; ++i) largest = std::max(largest, w(h, i));
      double sum = 0.0;
      for (int i = 0; i < m; ++i) sum += to[i] = std::exp(w(h, i) - largest);
      for (int i = 0; i < m; ++i) to[i] /= sum;
    }
  }
  const std::size_t count = classes();
  inner_.resize(static_cast<std::size_t>(H_) * count);
  for (int h = 0; h < H_; ++h) {
    for (std::size_t k = 0; k < count; ++k) {
      const double* of_window = sigma(length_[k].window, h);
      const double* of_query = sigma(length_[k].query, h);
      double sum = 0.0;
      for (std::size_t e = first_match_[k]; e < first_match_[k + 1]; ++e) {
        sum += of_window[match_[e].window_lag] * of_query[match_[e].query_lag];
      }
      inner_[static_cast<std::size_t>(h) * count + k] = sum;
    }
  }
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
    const Eigen::VectorXd p = theta.p();
    s_.assign(count, 0.0);
    for (std::size_t S = 0; S < subsets_.size(); ++S) {
      const double* K = product_.data() + S * count;
      const double weight = p[static_cast<Eigen::Index>(S)];
      for (std::size_t k = 0; k < count; ++k) s_[k] += weight * K[k];
    }
  }
  at_ = theta;
  return s_;
}

void PairScores::backward(std::span<const double> ds, Blocks blocks, Parameters& gradient) {
  const std::size_t count = classes();
  const Eigen::VectorXd p = at_.p();
  if (blocks.c) {
    Eigen::VectorXd along(p.size());  // sum over classes of dL/ds K_S
    for (std::size_t S = 0; S < subsets_.size(); ++S) {
      const double* K = product_.data() + S * count;
      double sum = 0.0;
      for (std::size_t k = 0; k < count; ++k) sum += ds[k] * K[k];
      along[static_cast<Eigen::Index>(S)] = sum;
    }
    const double mean = p.dot(along);
    for (Eigen::Index S = 0; S < p.size(); ++S) {
      gradient.c[S] += 2.0 * at_.c[S] / at_.C_D() * (along[S] - mean);
    }
  }
  if (!blocks.w) return;
  rate_.resize(count);
  term_.resize(count);
  for (int h = 0; h < H_; ++h) {
    std::fill(rate_.begin(), rate_.end(), 0.0);
    for (std::size_t S = 0; S < subsets_.size(); ++S) {
      if (!(subsets_[S] >> h & 1U)) continue;
      std::fill(term_.begin(), term_.end(), p[static_cast<Eigen::Index>(S)]);
      each_element(subsets_[S] & ~(Subset{1} << h), [&](int other) {
        const double* inner = inner_.data() + static_cast<std::size_t>(other) * count;
        for (std::size_t k = 0; k < count; ++k) term_[k] *= inner[k];
      });
      for (std::size_t k = 0; k < count; ++k) rate_[k] += term_[k];
    }
    dsigma_.assign(static_cast<std::size_t>((M_ + 1) * M_), 0.0);
    for (std::size_t k = 0; k < count; ++k) {
      const double r = rate_[k] * ds[k];
      const auto [window, query] = length_[k];
      double* d_window = dsigma_.data() + window * M_;
      double* d_query = dsigma_.data() + query * M_;
      const double* of_window = sigma(window, h);
      const double* of_query = sigma(query, h);
      for (std::size_t e = first_match_[k]; e < first_match_[k + 1]; ++e) {
        const auto [i, j] = match_[e];
        d_window[i] += r * of_query[j];
        d_query[j] += r * of_window[i];
      }
    }
    for (int m = 1; m <= M_; ++m) {
      const double* at = sigma(m, h);
      const double* d = dsigma_.data() + m * M_;
      double mean = 0.0;
      for (int i = 0; i < m; ++i) mean += at[i] * d[i];
      for (int i = 0; i < m; ++i) gradient.w(h, i) += at[i] * (d[i] - mean);
    }
  }
}

}  // namespace gih
