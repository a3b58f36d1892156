#include "gih/memory/items.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "gih/base/error.hpp"

namespace gih {
namespace {

constexpr double most_features = 4096;

/// Entries of the tensor product of the heads in S, into u; `next` is where they start.
void product(const Matrix& v, Subset S, double factor, std::vector<double>& block) {
  block.assign(1, factor);
  for (int h = 0; S >> h != 0; ++h) {
    if ((S >> h & 1U) == 0) continue;
    std::vector<double> larger;
    larger.reserve(block.size() * static_cast<std::size_t>(v.cols()));
    for (const double entry : block) {
      for (Eigen::Index k = 0; k < v.cols(); ++k) larger.push_back(entry * v(h, k));
    }
    block = std::move(larger);
  }
}

void check_features(double d_e) {
  if (d_e > most_features) {
    throw InputError(fmt::format(
        "the second layer has {:.6g} features: the memory laboratory takes at most {}; use a "
        "smaller data.vocab, model.heads or model.degree",
        d_e, most_features));
  }
}

}  // namespace

Reader Reader::limit(int d, int M, Subset S) {
  if (S == 0 || S >> M != 0) {
    throw InputError(fmt::format("the set of lags {} must be a non-empty subset of 1 .. {}",
                                 subset_code(S, 31), M));
  }
  Reader reader;
  reader.model_.d = d;
  reader.model_.M = reader.model_.H = M;
  reader.model_.mask = true;
  reader.subset_ = S;
  const double d_e = std::pow(d, subset_size(S));
  check_features(d_e);
  reader.d_e_ = static_cast<Eigen::Index>(d_e);
  return reader;
}

Reader Reader::trained(const ModelSpec& model, const Parameters& theta) {
  if (!model.is_simplified()) {
    throw InputError("the memory laboratory reads with the simplified model (2.5) alone");
  }
  check_parameters(model, theta);
  Reader reader;
  reader.model_ = model;
  reader.theta_ = theta;
  reader.subsets_ = model.subsets();
  reader.sigma_ = softmax_rows(theta.w);
  double d_e = 0.0;
  for (const Subset S : reader.subsets_) d_e += std::pow(model.d, subset_size(S));
  check_features(d_e);
  reader.d_e_ = static_cast<Eigen::Index>(d_e);
  return reader;
}

double Reader::a() const {
  return is_limit() ? std::numeric_limits<double>::infinity() : theta_.a;
}

/// v_l^(h) for every head: lags that do not exist are left out of the softmax (2.2).
void Reader::heads(std::span<const Token> x, std::size_t l, std::size_t start, Matrix& v) const {
  v.setZero(model_.H, model_.d);
  for (int h = 0; h < model_.H; ++h) {
    double sum = 0.0;
    for (int i = 1; i <= model_.M && l >= start + static_cast<std::size_t>(i); ++i) {
      sum += sigma_(h, i - 1);
      v(h, x[l - static_cast<std::size_t>(i) - 1]) += sigma_(h, i - 1);
    }
    if (sum > 0.0 && sum < 1.0) v.row(h) /= sum;
  }
}

void Reader::feature(std::span<const Token> x, std::size_t l, std::size_t start, double* u) const {
  if (subset_) {
    std::size_t code = 0, place = 1;
    for (int lag = 1; lag <= model_.M; ++lag) {
      if ((*subset_ >> (lag - 1) & 1U) == 0) continue;
      if (l < start + static_cast<std::size_t>(lag)) return;  // the window is cut: no feature
      code += place * x[l - static_cast<std::size_t>(lag) - 1];
      place *= static_cast<std::size_t>(model_.d);
    }
    u[code] = 1.0;
    return;
  }
  Matrix v;
  heads(x, l, start, v);
  std::vector<double> block;
  const double norm = std::sqrt(theta_.C_D());
  for (std::size_t S = 0; S < subsets_.size(); ++S) {
    product(v, subsets_[S], theta_.c[static_cast<Eigen::Index>(S)] / norm, block);
    for (const double entry : block) *u++ = entry;
  }
}

Items Reader::items(std::span<const Token> x, Halo halo, std::size_t segment) const {
  Items items;
  items.d = model_.d;
  items.x.assign(x.begin(), x.end());
  items.first = model_.mask ? static_cast<std::size_t>(model_.M) + 1 : 1;
  items.u.setZero(static_cast<Eigen::Index>(x.size()) + 1, d_e_);
  for (std::size_t l = 1; l <= x.size() + 1; ++l) {
    const std::size_t start = halo == Halo::none ? (l - 1) / segment * segment + 1 : 1;
    feature(x, l, start, items.u.row(static_cast<Eigen::Index>(l) - 1).data());
  }
  return items;
}

void Reader::backward(std::span<const Token> x, const Matrix& du, Parameters& gradient) const {
  const double C_D = theta_.C_D(), norm = std::sqrt(C_D);
  Matrix v, dv;
  std::vector<double> block;
  for (std::size_t l = 1; l <= x.size() + 1; ++l) {
    const double* G = du.row(static_cast<Eigen::Index>(l) - 1).data();
    heads(x, l, 1, v);
    dv.setZero(model_.H, model_.d);
    double along = 0.0;  // <du, u>: u is divided by the length of c
    Eigen::VectorXd dc = Eigen::VectorXd::Zero(theta_.c.size());
    for (std::size_t S = 0; S < subsets_.size(); ++S) {
      const auto s = static_cast<Eigen::Index>(S);
      product(v, subsets_[S], 1.0, block);
      double inner = 0.0;
      for (std::size_t e = 0; e < block.size(); ++e) inner += G[e] * block[e];
      dc[s] = inner / norm;
      along += theta_.c[s] * inner / norm;
      // Each head of S in turn: the product of the others times this head's unit vectors.
      for (int h = 0; subsets_[S] >> h != 0; ++h) {
        if ((subsets_[S] >> h & 1U) == 0) continue;
        for (Eigen::Index k = 0; k < v.cols(); ++k) {
          Matrix unit = v;
          unit.row(h).setZero();
          unit(h, k) = 1.0;
          product(unit, subsets_[S], theta_.c[s] / norm, block);
          for (std::size_t e = 0; e < block.size(); ++e) dv(h, k) += G[e] * block[e];
        }
      }
      G += block.size();
    }
    gradient.c += dc - along / C_D * theta_.c;
    for (int h = 0; h < model_.H; ++h) {
      double sum = 0.0;
      for (int i = 1; i <= model_.M && l > static_cast<std::size_t>(i); ++i)
        sum += sigma_(h, i - 1);
      if (sum == 0.0) continue;
      const double mean = v.row(h).dot(dv.row(h));
      for (int i = 1; i <= model_.M && l > static_cast<std::size_t>(i); ++i) {
        const Token token = x[l - static_cast<std::size_t>(i) - 1];
        gradient.w(h, i - 1) += sigma_(h, i - 1) / sum * (dv(h, token) - mean);
      }
    }
  }
}

}  // namespace gih
