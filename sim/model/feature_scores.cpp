#include "gih/model/feature_scores.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "head_features.hpp"

namespace gih {
namespace {

template <class Body>
void each_element(Subset S, Body body) {
  for (; S != 0; S &= S - 1) body(static_cast<std::size_t>(std::countr_zero(S)));
}

/// Calls body<d>() for the small d that occur most, so that loops over d unroll, else body<0>().
template <class Body>
void with_width(int d, Body body) {
  switch (d) {
    case 2:
      return body.template operator()<2>();
    case 3:
      return body.template operator()<3>();
    case 4:
      return body.template operator()<4>();
    default:
      return body.template operator()<0>();
  }
}

bool same_first_layer(const Parameters& one, const Parameters& other) {
  const auto same = [](const Matrix& a, const Matrix& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && a == b;
  };
  return same(one.w, other.w) &&
         std::all_of(word_matrices.begin(), word_matrices.end(), [&](const WordMatrix& matrix) {
           return same(one.*matrix.member, other.*matrix.member);
         });
}

}  // namespace

std::size_t FeatureScores::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = key.first * 0x9e3779b97f4a7c15U;
  hash = (hash ^ (hash >> 29) ^ key.second) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 32) ^ key.third) * 0x94d049bb133111ebU;
  return hash ^ (hash >> 31);
}

FeatureScores::FeatureScores(const ModelSpec& model)
    : model_(model),
      codes_(model.d, model.reach()),
      subsets_(model.subsets()),
      self_(model.l2_features()),
      features_(std::make_unique<HeadFeatures>(model)) {}

FeatureScores::~FeatureScores() = default;

std::size_t FeatureScores::places() const {
  return features_->count();
}

const FeatureScores::Pair& FeatureScores::entry(std::size_t e) const {
  return e < pairs_.size() ? pairs_[e] : selves_[e - pairs_.size()];
}

std::uint32_t FeatureScores::place_of(std::vector<Token> lags, int own) {
  const auto next = static_cast<std::uint32_t>(places());
  const Key key{codes_.encode(lags), static_cast<std::uint64_t>(own + 1), 0};
  const auto [place, is_new] = place_of_.try_emplace(key, next);
  if (is_new) {
    features_->add({std::move(lags), own});
    selves_.push_back({next, next});
    at_ = {};
  }
  return place->second;
}

std::uint32_t FeatureScores::class_of(WindowCode window, Token own, WindowCode query) {
  // Where no token but those of the windows is looked at, `own` plays no part.
  const bool full = model_.variant == Variant::full;
  const bool with_own = full || model_.self_score.has_value();
  const Key question{window, with_own ? own + std::uint64_t{1} : 0, query};
  const auto known = class_of_question_.find(question);
  if (known != class_of_question_.end()) return known->second;
  auto window_lags = codes_.decode(window);
  auto query_lags = codes_.decode(query);
  int seen = with_own ? own : -1;
  // Renaming needs a model that treats all tokens alike: scale and shift tell channels apart.
  if (!full && model_.head_norm != HeadNorm::layer) {
    std::unordered_map<Token, Token> names;
    const auto rename = [&](Token token) {
      return names.try_emplace(token, static_cast<Token>(names.size())).first->second;
    };
    for (Token& token : query_lags) token = rename(token);
    for (Token& token : window_lags) token = rename(token);
    if (seen >= 0) seen = rename(own);
  }
  const Pair pair{place_of(std::move(window_lags), seen), place_of(std::move(query_lags), -1)};
  const auto next = static_cast<std::uint32_t>(pairs_.size());
  const auto [found, is_new] = class_of_pair_.try_emplace({pair.left, pair.right, 0}, next);
  if (is_new) {
    pairs_.push_back(pair);
    at_ = {};
  }
  class_of_question_.emplace(question, found->second);
  return found->second;
}

/// Inner products of every block and K_S (2.3) of every entry.
void FeatureScores::update_products() {
  const std::size_t count = entries();
  const auto blocks = static_cast<std::size_t>(model_.blocks());
  const std::size_t first_head = model_.residual() ? 1 : 0;
  inner_.resize(blocks * count);
  for (std::size_t e = 0; model_.residual() && e < count; ++e) {
    const auto [left, right] = entry(e);
    const int own = features_->place(left).own;
    inner_[e] = own >= 0 && own == features_->place(right).own ? 1.0 : 0.0;
  }
  const auto H = static_cast<std::size_t>(model_.H);
  with_width(model_.d, [&]<int fixed>() {
    const auto d = static_cast<std::size_t>(fixed > 0 ? fixed : model_.d);
    const double* all = features_->v();
    for (std::size_t e = 0; e < count; ++e) {
      const auto [left, right] = entry(e);
      const double* v = all + left * H * d;
      const double* v_prime = all + right * H * d;
      for (std::size_t h = 0; h < H; ++h) {
        double sum = 0.0;
        for (std::size_t k = 0; k < d; ++k) sum += v[h * d + k] * v_prime[h * d + k];
        inner_[(first_head + h) * count + e] = model_.rectify ? std::max(sum, 0.0) : sum;
      }
    }
  });
  product_.assign(subsets_.size() * count, 1.0);
  for (std::size_t S = 0; S < subsets_.size(); ++S) {
    double* K = product_.data() + S * count;
    each_element(subsets_[S], [&](std::size_t block) {
      const double* inner = inner_.data() + block * count;
      for (std::size_t e = 0; e < count; ++e) K[e] *= inner[e];
    });
  }
}

std::span<const double> FeatureScores::forward(const Parameters& theta) {
  const bool same = same_first_layer(at_, theta);
  if (!same) {
    features_->forward(theta);
    update_products();
  }
  if (!same || at_.c != theta.c) {
    const std::size_t count = entries();
    kernel_.assign(count, 0.0);
    for (std::size_t S = 0; S < subsets_.size(); ++S) {
      const double* K = product_.data() + S * count;
      const double c = theta.c[static_cast<Eigen::Index>(S)];
      for (std::size_t e = 0; e < count; ++e) kernel_[e] += c * c * K[e];
    }
    s_.resize(classes());
    const double C_D = theta.C_D();
    const double* self = kernel_.data() + classes();
    for (std::size_t k = 0; k < classes(); ++k) {
      const double squares = self_ ? self[pairs_[k].left] * self[pairs_[k].right] : C_D * C_D;
      s_[k] = squares > 0.0 ? kernel_[k] / std::sqrt(squares) : 0.0;
    }
  }
  at_ = theta;
  return s_;
}

/// Adds to dL/dv, of every place and head, what the derivatives by entry of the kernel make of it.
template <int fixed>
void FeatureScores::backward_products(const std::vector<double>& dkernel,
                                      std::vector<double>& dv) const {
  const std::size_t count = entries();
  const auto first_head = static_cast<std::size_t>(model_.blocks() - model_.H);
  const auto H = static_cast<std::size_t>(model_.H);
  const auto d = static_cast<std::size_t>(fixed > 0 ? fixed : model_.d);
  const double* all = features_->v();
  constexpr std::size_t run = 256;  // entries whose inner products stay in the fastest cache
  double rate[run], term[run];
  for (std::size_t begin = 0; begin < count; begin += run) {
    const std::size_t n = std::min(run, count - begin);
    for (std::size_t h = 0; h < H; ++h) {
      const std::size_t block = first_head + h;
      std::fill_n(rate, n, 0.0);  // d kernel / d <v^(h), v'^(h)>
      for (std::size_t S = 0; S < subsets_.size(); ++S) {
        if (!(subsets_[S] >> block & 1U)) continue;
        const double c = at_.c[static_cast<Eigen::Index>(S)];
        std::fill_n(term, n, c * c);
        each_element(subsets_[S] & ~(Subset{1} << block), [&](std::size_t other) {
          const double* inner = inner_.data() + other * count + begin;
          for (std::size_t i = 0; i < n; ++i) term[i] *= inner[i];
        });
        for (std::size_t i = 0; i < n; ++i) rate[i] += term[i];
      }
      const double* inner = inner_.data() + block * count + begin;
      for (std::size_t i = 0; i < n; ++i) {
        if (model_.rectify && !(inner[i] > 0.0)) continue;
        const double r = rate[i] * dkernel[begin + i];
        const auto [left, right] = entry(begin + i);
        const std::size_t at = (left * H + h) * d, at_prime = (right * H + h) * d;
        for (std::size_t k = 0; k < d; ++k) {
          dv[at + k] += r * all[at_prime + k];
          dv[at_prime + k] += r * all[at + k];
        }
      }
    }
  }
}

void FeatureScores::backward(std::span<const double> ds, Blocks blocks, Parameters& gradient) {
  const std::size_t count = entries();
  const double C_D = at_.C_D();
  std::vector<double> dkernel(count, 0.0);
  double dC_D = 0.0;
  for (std::size_t k = 0; k < classes(); ++k) {
    if (!self_) {
      dkernel[k] = ds[k] / C_D;
      dC_D -= ds[k] * s_[k] / C_D;
      continue;
    }
    const auto [left, right] = pairs_[k];
    const double N = kernel_[classes() + left], N_prime = kernel_[classes() + right];
    if (!(N * N_prime > 0.0)) continue;
    dkernel[k] = ds[k] / std::sqrt(N * N_prime);
    dkernel[classes() + left] -= 0.5 * ds[k] * s_[k] / N;
    dkernel[classes() + right] -= 0.5 * ds[k] * s_[k] / N_prime;
  }
  if (blocks.c) {
    for (std::size_t S = 0; S < subsets_.size(); ++S) {
      const double* K = product_.data() + S * count;
      double sum = dC_D;
      for (std::size_t e = 0; e < count; ++e) sum += dkernel[e] * K[e];
      const auto at = static_cast<Eigen::Index>(S);
      gradient.c[at] += 2.0 * at_.c[at] * sum;
    }
  }
  if (!blocks.w && !blocks.qkv) return;
  std::vector<double> dv(features_->size(), 0.0);
  with_width(model_.d, [&]<int fixed>() { backward_products<fixed>(dkernel, dv); });
  features_->backward(dv, blocks, gradient);
}

}  // namespace gih
