#include "head_features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gih {
namespace {

/// Added to the variance by the layer norm, as in the authors' code.
constexpr double layer_eps = 1e-5;

}  // namespace

HeadFeatures::HeadFeatures(const ModelSpec& model)
    : model_(model),
      H_(static_cast<std::size_t>(model.H)),
      d_(static_cast<std::size_t>(model.d)),
      entries_(static_cast<std::size_t>(model.M) + 1) {}

bool HeadFeatures::sees(const Place& place, int h, int i) const {
  if (i == model_.M) return model_.self_score.has_value();
  return static_cast<std::size_t>(model_.lag(h, i)) <= place.lags.size();
}

int HeadFeatures::token(const Place& place, int h, int i) const {
  if (i == model_.M) return place.own;
  return place.lags[static_cast<std::size_t>(model_.lag(h, i) - 1)];
}

/// softmax over what the head sees of the RPE score and, in the full variant, x_l^T W_Q W_K^T x_j.
/// The query is a row of zeros: its content scores are 0.
void HeadFeatures::attend(const Place& place, int h, double* sigma) const {
  const bool with_content = !content_.empty() && place.own >= 0;
  double largest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i <= model_.M; ++i) {
    if (!sees(place, h, i)) continue;
    double score = i == model_.M ? *model_.self_score : theta_.w(h, i);
    if (with_content) {
      score += content_[static_cast<std::size_t>(h)](place.own, token(place, h, i));
    }
    sigma[i] = score;
    largest = std::max(largest, score);
  }
  double sum = 0.0;
  for (int i = 0; i <= model_.M; ++i) {
    sigma[i] = sees(place, h, i) ? std::exp(sigma[i] - largest) : 0.0;
    sum += sigma[i];
  }
  if (sum > 0.0) {  // a head that sees nothing gives v = 0
    for (int i = 0; i <= model_.M; ++i) sigma[i] /= sum;
  }
}

void HeadFeatures::normalise(const double* raw, double* out, double& length) const {
  length = 1.0;
  if (model_.head_norm == HeadNorm::none) {
    std::copy_n(raw, d_, out);
  } else if (model_.head_norm == HeadNorm::l2) {
    double squares = 0.0;
    for (std::size_t k = 0; k < d_; ++k) squares += raw[k] * raw[k];
    length = std::sqrt(squares);
    for (std::size_t k = 0; k < d_; ++k) out[k] = length > 0.0 ? raw[k] / length : 0.0;
  } else {
    const auto width = static_cast<double>(d_);
    double mean = 0.0, variance = 0.0;
    for (std::size_t k = 0; k < d_; ++k) mean += raw[k] / width;
    for (std::size_t k = 0; k < d_; ++k) variance += (raw[k] - mean) * (raw[k] - mean) / width;
    length = std::sqrt(variance + layer_eps);
    for (std::size_t k = 0; k < d_; ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      out[k] = theta_.scale(0, column) * (raw[k] - mean) / length + theta_.shift(0, column);
    }
  }
}

/// dL/draw from dL/dout; the derivatives of scale and shift too when there is a gradient.
void HeadFeatures::normalise_back(const double* raw, double length, const double* dout,
                                  double* draw, Parameters* gradient) const {
  if (model_.head_norm == HeadNorm::none) {
    std::copy_n(dout, d_, draw);
    return;
  }
  if (model_.head_norm == HeadNorm::l2) {
    double along = 0.0;  // <dout, unit vector>
    for (std::size_t k = 0; k < d_; ++k) along += length > 0.0 ? dout[k] * raw[k] / length : 0.0;
    for (std::size_t k = 0; k < d_; ++k) {
      draw[k] = length > 0.0 ? (dout[k] - along * raw[k] / length) / length : 0.0;
    }
    return;
  }
  const auto width = static_cast<double>(d_);
  double mean = 0.0, mean_of_d = 0.0, along = 0.0;
  for (std::size_t k = 0; k < d_; ++k) mean += raw[k] / width;
  for (std::size_t k = 0; k < d_; ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    const double unit = (raw[k] - mean) / length;
    draw[k] = dout[k] * theta_.scale(0, column);
    mean_of_d += draw[k] / width;
    along += draw[k] * unit / width;
    if (gradient == nullptr) continue;
    gradient->scale(0, column) += dout[k] * unit;
    gradient->shift(0, column) += dout[k];
  }
  for (std::size_t k = 0; k < d_; ++k) {
    draw[k] = (draw[k] - mean_of_d - along * (raw[k] - mean) / length) / length;
  }
}

void HeadFeatures::forward(const Parameters& theta) {
  theta_ = theta;
  content_.clear();
  const bool full = model_.variant == Variant::full;
  const Eigen::Index d = model_.d;
  for (int h = 0; full && h < model_.H; ++h) {
    content_.push_back(theta.W_Q.middleRows(h * d, d) * theta.W_K.middleRows(h * d, d).transpose());
  }
  sigma_.resize(count() * H_ * entries_);
  raw_.resize(size());
  v_.resize(size());
  length_.resize(count() * H_);
  Eigen::VectorXd z(d);  // sum_i sigma_i x_{l-i}
  for (std::size_t b = 0; b < count(); ++b) {
    for (int h = 0; h < model_.H; ++h) {
      double* sigma = sigma_.data() + at(b, h) * entries_;
      attend(places_[b], h, sigma);
      z.setZero();
      for (int i = 0; i <= model_.M; ++i) {
        if (!sees(places_[b], h, i)) continue;
        if (const int seen = token(places_[b], h, i); seen >= 0) z[seen] += sigma[i];
      }
      Eigen::Map<Eigen::VectorXd> raw(raw_.data() + at(b, h) * d_, d);
      raw = z;
      if (full) raw = theta.W_V.middleRows(h * d, d).transpose() * z;
      normalise(raw.data(), v_.data() + at(b, h) * d_, length_[at(b, h)]);
    }
  }
}

void HeadFeatures::backward(std::span<const double> dv, Blocks blocks, Parameters& gradient) const {
  const bool full = model_.variant == Variant::full;
  const bool qkv = blocks.qkv;
  const Eigen::Index d = model_.d;
  std::vector<Matrix> dcontent(content_.size(), Matrix::Zero(d, d));
  Eigen::VectorXd draw(d), dz(d);
  std::vector<double> dsigma(entries_);
  for (std::size_t b = 0; b < count(); ++b) {
    const Place& place = places_[b];
    for (int h = 0; h < model_.H; ++h) {
      const double* sigma = sigma_.data() + at(b, h) * entries_;
      normalise_back(raw_.data() + at(b, h) * d_, length_[at(b, h)], dv.data() + at(b, h) * d_,
                     draw.data(), qkv ? &gradient : nullptr);
      dz = draw;
      if (full) dz = theta_.W_V.middleRows(h * d, d) * draw;
      double mean = 0.0;
      for (int i = 0; i <= model_.M; ++i) {
        const int seen = sees(place, h, i) ? token(place, h, i) : -1;
        dsigma[static_cast<std::size_t>(i)] = seen >= 0 ? dz[seen] : 0.0;
        mean += sigma[i] * dsigma[static_cast<std::size_t>(i)];
        // W_V enters through raw = W_V^T z, one row of it for each token that is seen.
        if (full && qkv && seen >= 0) gradient.W_V.row(h * d + seen) += sigma[i] * draw.transpose();
      }
      for (int i = 0; i <= model_.M; ++i) {
        if (!sees(place, h, i)) continue;
        const double dscore = sigma[i] * (dsigma[static_cast<std::size_t>(i)] - mean);
        if (i < model_.M && blocks.w) gradient.w(h, i) += dscore;
        if (full && place.own >= 0) {
          dcontent[static_cast<std::size_t>(h)](place.own, token(place, h, i)) += dscore;
        }
      }
    }
  }
  for (int h = 0; full && qkv && h < model_.H; ++h) {
    const Matrix& dA = dcontent[static_cast<std::size_t>(h)];
    gradient.W_Q.middleRows(h * d, d) += dA * theta_.W_K.middleRows(h * d, d);
    gradient.W_K.middleRows(h * d, d) += dA.transpose() * theta_.W_Q.middleRows(h * d, d);
  }
}

}  // namespace gih
