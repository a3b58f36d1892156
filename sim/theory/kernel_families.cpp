#include "kernel_families.hpp"

#include <array>
#include <bit>

#include "gih/base/random.hpp"
#include "gih/data/prior.hpp"
#include "gih/theory/information.hpp"

namespace gih {

std::vector<Kernel> kernel_family(const std::string& prior, int d, const std::vector<int>& parents,
                                  std::size_t count) {
  constexpr std::array<double, 4> concentrations{0.03, 0.1, 0.3, 1.0};
  PriorSpec spec;
  spec.name = prior;
  spec.floor = 1e-3;
  std::vector<Kernel> kernels;
  for (std::size_t i = 0; i < count; ++i) {
    spec.alpha = concentrations[i % concentrations.size()];
    Kernel kernel = draw_kernel(spec, d, parents, Stream(4000, Purpose::claims, i), i);
    const WindowLaw law = window_law(kernel, kernel.largest_lag());
    if (modified_information(law.marginal(parents_of(kernel)), d) < 1e-4) continue;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::vector<Kernel> general_kernels(const World& world, std::size_t count) {
  std::vector<Kernel> kernels = world.kernels;
  for (Kernel& kernel : kernel_family("dirichlet", world.d(), kernels.front().parents, count)) {
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::vector<Kernel> uniform_kernels(const World& world, std::size_t count) {
  return kernel_family("uniform-stationary", world.d(), world.kernels.front().parents, count);
}

Kernel repeating_kernel() {
  return {2, {1}, {0.75, 0.25, 0.25, 0.75}};
}

Kernel alternating_kernel() {
  return {2, {1, 2}, {0.9, 0.1, 0.1, 0.9, 0.8, 0.2, 0.2, 0.8}};
}

Kernel uneven_kernel() {
  return {2, {1, 3}, {0.9, 0.1, 0.9, 0.1, 0.3, 0.7, 0.1, 0.9}};
}

Kernel parity_kernel() {
  return {2, {1, 2}, {0.9, 0.1, 0.1, 0.9, 0.1, 0.9, 0.9, 0.1}};
}

Subset parents_of(const Kernel& kernel) {
  Subset set = 0;
  for (const int r : kernel.parents) set |= Subset{1} << (r - 1);
  return set;
}

int span_of(Subset S) {
  return S == 0 ? 0 : static_cast<int>(std::bit_width(S)) - 1 - std::countr_zero(S);
}

}  // namespace gih
