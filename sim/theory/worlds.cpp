#include "gih/theory/worlds.hpp"

#include <cmath>

#include "gih/base/random.hpp"
#include "gih/base/window.hpp"
#include "gih/data/prior.hpp"

namespace gih {
namespace {

/// Parameters and start law of a world whose kernels, model and L are set.
void finish(World& world, std::uint64_t seed) {
  Stream stream(seed, Purpose::claims, 1000);
  const ModelSpec& model = world.model;
  world.theta.w = Matrix::NullaryExpr(model.H, model.M, [&] { return stream.uniform() - 0.5; });
  world.theta.w.diagonal().array() += 1.5;
  world.theta.c = Eigen::VectorXd::NullaryExpr(static_cast<Eigen::Index>(model.subsets().size()),
                                               [&] { return 0.2 + stream.uniform(); });
  world.theta.a = 0.3 + stream.uniform();
  world.eps = 1.0 / std::sqrt(world.L);
  std::size_t starts = 1;
  for (int i = 0; i < world.largest_lag(); ++i) starts *= static_cast<std::size_t>(world.d());
  world.start.resize(starts);
  stream.dirichlet(1.0, world.start);
  for (const Kernel& kernel : world.kernels) world.laws.push_back(window_law(kernel, model.M));
}

World worked_example() {
  World world;
  world.name = "worked example";
  // pi(1 | lag 1, lag 2) = 0.1, 0.6, 0.3, 0.8.
  world.kernels = {{2, {1, 2}, {0.9, 0.1, 0.4, 0.6, 0.7, 0.3, 0.2, 0.8}}};
  world.model = {.d = 2, .M = 3, .H = 3, .D = 2};
  world.L = 8;
  finish(world, 1);
  return world;
}

}  // namespace

Subset World::parents() const {
  Subset set = 0;
  for (const int r : kernels.front().parents) set |= Subset{1} << (r - 1);
  return set;
}

World make_world(const std::string& name, int d, const std::vector<int>& parents, int M, int D,
                 double alpha, double gamma, int count, int L, std::uint64_t seed) {
  World world;
  world.name = name;
  PriorSpec prior;
  prior.alpha = alpha;
  prior.floor = gamma;
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    world.kernels.push_back(
        draw_kernel(prior, d, parents, Stream(seed, Purpose::claims, index), index));
  }
  world.model = {.d = d, .M = M, .H = M, .D = D};
  world.L = L;
  finish(world, seed);
  return world;
}

const std::vector<World>& worlds() {
  static const std::vector<World> all{
      worked_example(),
      make_world("d=2 pa={1} M=2 D=1", 2, {1}, 2, 1, 1.0, 0.1, 3, 8, 2),
      make_world("d=2 pa={1} M=3 D=2", 2, {1}, 3, 2, 0.3, 0.05, 3, 9, 3),
      make_world("d=2 pa={1,2} M=2 D=2", 2, {1, 2}, 2, 2, 1.0, 0.05, 3, 9, 4),
      make_world("d=2 pa={1,2} M=4 D=3", 2, {1, 2}, 4, 3, 0.3, 0.02, 3, 9, 5),
      make_world("d=2 pa={1,3} M=3 D=2", 2, {1, 3}, 3, 2, 0.1, 0.05, 3, 9, 6),
      make_world("d=2 pa={1,3} M=4 D=2", 2, {1, 3}, 4, 2, 1.0, 0.1, 3, 9, 7),
      make_world("d=3 pa={1} M=2 D=2", 3, {1}, 2, 2, 0.3, 0.02, 3, 5, 8),
      make_world("d=3 pa={1,2} M=3 D=2", 3, {1, 2}, 3, 2, 0.3, 0.05, 3, 6, 9),
      make_world("d=3 pa={1,2} M=3 D=3", 3, {1, 2}, 3, 3, 1.0, 0.02, 3, 6, 10),
  };
  return all;
}

void each_sequence(const Kernel& kernel, std::span<const double> start, int L,
                   const std::function<void(std::span<const Token>, double)>& visit) {
  const auto r = static_cast<std::size_t>(kernel.largest_lag());
  const auto length = static_cast<std::size_t>(L) + 1;
  const WindowCodes codes(kernel.d, kernel.largest_lag());
  std::vector<Token> x(length);
  const std::function<void(std::size_t, double)> extend = [&](std::size_t l, double probability) {
    if (l == length) {
      visit(x, probability);
      return;
    }
    std::size_t code = 0;
    for (const int lag : kernel.parents) {
      code = code * static_cast<std::size_t>(kernel.d) + x[l - static_cast<std::size_t>(lag)];
    }
    const auto row = kernel.row(code);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (!(row[k] > 0.0)) continue;
      x[l] = static_cast<Token>(k);
      extend(l + 1, probability * row[k]);
    }
  };
  for (std::size_t Z = 0; Z < start.size(); ++Z) {
    if (!(start[Z] > 0.0)) continue;
    const auto lags = codes.decode(codes.first(kernel.largest_lag()) + Z);
    for (std::size_t i = 0; i < r; ++i) x[i] = lags[r - 1 - i];
    extend(r, start[Z]);
  }
}

}  // namespace gih
