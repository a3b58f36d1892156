#include "gih/data/prior.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numeric>

#include "gih/base/error.hpp"

namespace gih {
namespace {

void draw_dirichlet(const PriorSpec& prior, Stream& stream, std::size_t, Kernel& kernel) {
  const auto d = static_cast<std::size_t>(kernel.d);
  for (std::size_t r = 0; r < kernel.rows(); ++r) {
    stream.dirichlet(prior.alpha, {kernel.pi.data() + r * d, d});
  }
}

std::vector<std::size_t> permutation(Stream& stream, std::size_t size) {
  std::vector<std::size_t> p(size);
  std::iota(p.begin(), p.end(), std::size_t{0});
  for (std::size_t i = size; i > 1; --i) {
    const auto j = static_cast<std::size_t>(stream.uniform() * static_cast<double>(i));
    std::swap(p[i - 1], p[j]);
  }
  return p;
}

/// The windows of r_n tokens are uniform in the long run exactly when, for each value of the nearer
/// parents, the d x d matrix from the furthest parent to the next token is doubly stochastic. Here
/// it is a circulant of one Dirichlet vector with rows and columns shuffled, so that each row by
/// itself is Dirichlet(alpha), as under the prior "dirichlet".
void draw_uniform_stationary(const PriorSpec& prior, Stream& stream, std::size_t, Kernel& kernel) {
  const auto d = static_cast<std::size_t>(kernel.d);
  std::vector<double> theta(d);
  for (std::size_t nearer = 0; nearer < kernel.rows() / d; ++nearer) {
    stream.dirichlet(prior.alpha, theta);
    const auto from = permutation(stream, d);
    const auto to = permutation(stream, d);
    for (std::size_t x = 0; x < d; ++x) {
      for (std::size_t k = 0; k < d; ++k) {
        kernel.pi[(nearer * d + x) * d + to[k]] = theta[(from[x] + k) % d];
      }
    }
  }
}

void take_from_file(const PriorSpec& prior, Stream&, std::size_t index, Kernel& kernel) {
  kernel.pi = prior.kernels[index % prior.kernels.size()].pi;
}

}  // namespace

const std::vector<PriorRow>& prior_table() {
  static const std::vector<PriorRow> table{
      {"dirichlet", "each row of pi is Dirichlet(alpha, ..., alpha)", draw_dirichlet},
      {"uniform-stationary", "kernels whose stationary window law is uniform",
       draw_uniform_stationary},
      {"file", "kernels of data.kernels in turn", take_from_file},
  };
  return table;
}

namespace {

const PriorRow& row_of(const PriorSpec& prior) {
  std::vector<std::string> names;
  for (const PriorRow& row : prior_table()) {
    if (prior.name == row.name) return row;
    names.emplace_back(row.name);
  }
  throw InputError(fmt::format("prior \"{}\" is unknown: must be one of {}", prior.name,
                               fmt::join(names, ", ")));
}

}  // namespace

void check_prior(const PriorSpec& prior, int d, const std::vector<int>& parents) {
  row_of(prior);
  if (!(prior.alpha >= 1e-3) || !std::isfinite(prior.alpha)) {
    throw InputError(
        fmt::format("Dirichlet concentration alpha = {}: must be 0.001 or more", prior.alpha));
  }
  if (!(prior.floor >= 0.0) || !(prior.floor * d < 1.0)) {
    throw InputError(
        fmt::format("floor = {}: must be 0 or more and below 1/d = {:.6g}", prior.floor, 1.0 / d));
  }
  kernel_rows(d, parents.size());
  if (prior.name == "file") {
    if (prior.kernels.empty()) throw InputError("prior \"file\" needs at least one kernel");
    for (const Kernel& kernel : prior.kernels) {
      if (kernel.d != d || kernel.parents != parents) {
        throw InputError(fmt::format(
            "the kernel file has vocabulary {} and parents {}, the configuration {} and {}",
            kernel.d, fmt::join(kernel.parents, ","), d, fmt::join(parents, ",")));
      }
    }
  }
}

Kernel draw_kernel(const PriorSpec& prior, int d, const std::vector<int>& parents, Stream stream,
                   std::size_t index) {
  Kernel kernel{d, parents, {}};
  kernel.pi.resize(kernel_rows(d, parents.size()) * static_cast<std::size_t>(d));
  row_of(prior).draw(prior, stream, index, kernel);
  if (prior.floor > 0.0) {
    for (double& entry : kernel.pi) entry = prior.floor + (1.0 - d * prior.floor) * entry;
  }
  return kernel;
}

}  // namespace gih
