#include "gih/memory/memory_claims.hpp"

#include "gih/base/random.hpp"
#include "memory_claims_groups.hpp"

namespace gih {

Items claim_items(const World& world, std::size_t L) {
  Stream stream(41, Purpose::claims, L);
  std::vector<Token> x(L);
  for (Token& token : x) token = static_cast<Token>(stream.uniform() * world.d());
  return Reader::limit(world.d(), world.M(), world.parents()).items(x);
}

Items claim_soft_items(const World& world, std::size_t L, Eigen::Index d_e) {
  Items items = claim_items(world, L);
  Stream stream(42, Purpose::claims, L);
  items.u = Matrix::NullaryExpr(items.u.rows(), d_e, [&] { return stream.normal(); });
  return items;
}

std::vector<SequenceLaw> known_laws(const World& world) {
  std::vector<SequenceLaw> laws;
  for (const Kernel& kernel : world.kernels) laws.push_back(SequenceLaw::kernels({kernel}));
  return laws;
}

SequenceLaw rising_law() {
  return SequenceLaw::kernels({{2, {1, 2}, {0.9, 0.1, 0.3, 0.7, 0.4, 0.6, 0.8, 0.2}}});
}

SequenceLaw parity_law() {
  return SequenceLaw::kernels({{2, {1, 2}, {0.9, 0.1, 0.1, 0.9, 0.1, 0.9, 0.9, 0.1}}});
}

void same(const Eigen::VectorXd& x, const Eigen::VectorXd& y, Tally& tally) {
  for (Eigen::Index i = 0; i < x.size(); ++i) tally.equal(x[i], y[i]);
}

const World& small_world() {
  static const World world =
      make_world("d=2 pa={1,2} M=3 D=2", 2, {1, 2}, 3, 2, 1.0, 0.1, 2, 8, 91);
  return world;
}

const std::vector<Claim>& memory_claims() {
  static const std::vector<Claim> table = [] {
    std::vector<Claim> all;
    for (const auto& group :
         {stream_claims(), pooling_claims(), past_claims(), snapshot_claims()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return table;
}

const std::vector<Claim>& all_claims() {
  static const std::vector<Claim> table = [] {
    std::vector<Claim> all = claim_table();
    all.insert(all.end(), memory_claims().begin(), memory_claims().end());
    return all;
  }();
  return table;
}

}  // namespace gih
