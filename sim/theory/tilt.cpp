#include "gih/theory/tilt.hpp"

#include <algorithm>
#include <cmath>

namespace gih {
namespace {

/// Mean of a function of a kernel over the prior.
template <class Function>
double mean(const std::vector<Tilt>& kernels, Function value) {
  double sum = 0.0;
  for (const Tilt& kernel : kernels) sum += value(kernel);
  return sum / static_cast<double>(kernels.size());
}

}  // namespace

Tilt::Tilt(const WindowLaw& law, Subset S) {
  const auto d = static_cast<Eigen::Index>(law.d);
  const std::vector<double> marginal = law.marginal(S);
  const std::vector<double> mu = law.of_tokens();
  mu_ = Eigen::Map<const Eigen::VectorXd>(mu.data(), d);
  const Eigen::Map<const Matrix> joint(marginal.data(),
                                       static_cast<Eigen::Index>(marginal.size()) / d, d);
  given_.resize(joint.rows(), d);
  Eigen::Index values = 0;
  for (Eigen::Index X = 0; X < joint.rows(); ++X) {
    const double mass = joint.row(X).sum();
    if (!(mass > 0.0)) continue;
    m_.push_back(mass);
    given_.row(values++) = joint.row(X) / mass;
  }
  given_.conservativeResize(values, d);
}

double Tilt::largest_m() const {
  return *std::max_element(m_.begin(), m_.end());
}
double Tilt::smallest_m() const {
  return *std::min_element(m_.begin(), m_.end());
}
double Tilt::r(std::size_t X, double a) const {
  return 1.0 / (1.0 + m_[X] * std::expm1(a));
}

double Tilt::J(std::size_t X, double r) const {
  double sum = 0.0;
  for (Eigen::Index k = 0; k < mu_.size(); ++k) {
    const double p = given_(static_cast<Eigen::Index>(X), k);
    if (p == mu_(k)) continue;
    sum += (p - mu_(k)) * (p - mu_(k)) / (r * mu_(k) + (1.0 - r) * p);
  }
  return sum;
}

double Tilt::D_plus(std::size_t X) const {
  return std::max(D_0(X), D_1(X));
}

double Tilt::f5(double a) const {
  double sum = 0.0;
  for (std::size_t X = 0; X < values(); ++X) {
    const double shrink = r(X, a);
    sum += m_[X] * std::exp(a) * m_[X] * shrink * shrink * shrink * J(X, shrink);
  }
  return sum;
}

double Tilt::early() const {
  double sum = 0.0;
  for (std::size_t X = 0; X < values(); ++X) sum += m_[X] * m_[X] * D_1(X);
  return sum;
}

double Tilt::late() const {
  double sum = 0.0;
  for (std::size_t X = 0; X < values(); ++X) sum += D_0(X) / m_[X];
  return sum;
}

std::vector<Tilt> tilts(const std::vector<WindowLaw>& laws, Subset S) {
  std::vector<Tilt> kernels;
  for (const WindowLaw& law : laws) kernels.emplace_back(law, S);
  return kernels;
}

double mean_f5(const std::vector<Tilt>& kernels, double a) {
  return mean(kernels, [a](const Tilt& kernel) { return kernel.f5(a); });
}
double mean_early(const std::vector<Tilt>& kernels) {
  return mean(kernels, [](const Tilt& kernel) { return kernel.early(); });
}
double mean_late(const std::vector<Tilt>& kernels) {
  return mean(kernels, [](const Tilt& kernel) { return kernel.late(); });
}

std::vector<double> tilted_law(const WindowLaw& law, Subset S, std::size_t X, double a) {
  const auto index = restriction(law.d, law.M, S);
  const auto d = static_cast<std::size_t>(law.d);
  std::vector<double> tilted = law.joint;
  double sum = 0.0;
  for (std::size_t Z = 0; Z < index.size(); ++Z) {
    for (std::size_t z = 0; z < d; ++z) {
      if (index[Z] == index[X]) tilted[Z * d + z] *= std::exp(a);
      sum += tilted[Z * d + z];
    }
  }
  for (double& entry : tilted) entry /= sum;
  return tilted;
}

double f5_by_definition(const WindowLaw& law, Subset S, double a) {
  const auto index = restriction(law.d, law.M, S);
  const auto d = static_cast<std::size_t>(law.d);
  double sum = 0.0;
  for (std::size_t X = 0; X < index.size(); ++X) {
    const std::vector<double> tilted = tilted_law(law, S, X, a);
    std::vector<double> next(d, 0.0), matched(d, 0.0);
    double match = 0.0;
    for (std::size_t Z = 0; Z < index.size(); ++Z) {
      for (std::size_t z = 0; z < d; ++z) {
        next[z] += tilted[Z * d + z];
        if (index[Z] != index[X]) continue;
        matched[z] += tilted[Z * d + z];
        match += tilted[Z * d + z];
      }
    }
    for (std::size_t x = 0; x < d; ++x) {
      const double weight = law.at(X, static_cast<int>(x));
      if (weight > 0.0) sum += weight * (matched[x] / next[x] - match);
    }
  }
  return sum;
}

}  // namespace gih
