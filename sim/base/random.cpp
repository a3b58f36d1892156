#include "gih/base/random.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gih {

Stream::Stream(std::uint64_t seed, Purpose purpose, std::uint64_t index)
    : key_{seed, static_cast<std::uint64_t>(purpose)}, counter_{0, index, 0, 0} {}

void Stream::refill() {
  const r123::Philox4x64::ctr_type counter{{counter_[0], counter_[1], counter_[2], counter_[3]}};
  const r123::Philox4x64::key_type key{{key_[0], key_[1]}};
  const auto block = r123::Philox4x64{}(counter, key);
  std::copy(block.begin(), block.end(), buffer_.begin());
  ++counter_[0];
  next_ = 0;
}

double Stream::normal() {
  const double radius = std::sqrt(-2.0 * std::log(open_uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

double Stream::log_gamma(double shape) {
  // Marsaglia and Tsang's squeeze for shape + 1 >= 1, then Gamma(k) = Gamma(k+1) U^(1/k).
  const double boosted = shape < 1.0 ? shape + 1.0 : shape;
  const double d = boosted - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double u = open_uniform();
    const double root = 1.0 + c * x;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    const double log_v = 3.0 * std::log(root);
    if (std::log(u) < 0.5 * x * x + d - d * v + d * log_v) {
      const double log_draw = std::log(d) + log_v;
      return shape < 1.0 ? log_draw + std::log(open_uniform()) / shape : log_draw;
    }
  }
}

void Stream::log_dirichlet(double alpha, std::span<double> log_p) {
  for (double& entry : log_p) entry = log_gamma(alpha);
  const double largest = *std::max_element(log_p.begin(), log_p.end());
  double sum = 0.0;
  for (const double entry : log_p) sum += std::exp(entry - largest);
  const double log_sum = largest + std::log(sum);
  for (double& entry : log_p) entry -= log_sum;
}

void Stream::dirichlet(double alpha, std::span<double> p) {
  log_dirichlet(alpha, p);
  double sum = 0.0;
  for (double& entry : p) sum += entry = std::exp(entry);
  for (double& entry : p) entry /= sum;  // log p is rounded, so the sum is 1 only nearly
}

}  // namespace gih
