// What attention over pooled items computes.

#include <algorithm>
#include <cmath>

#include "gih/memory/pooled_theory.hpp"
#include "gih/memory/weights.hpp"
#include "memory_claims_groups.hpp"

namespace gih {
namespace {

using Index = Eigen::Index;
constexpr std::size_t c = 4;

/// Rows [u ; x] of the last positions, a multiple of c.
Matrix last_rows(const Items& items, Index count) {
  Matrix rows = Matrix::Zero(count, items.d_e() + items.d);
  for (Index i = 0; i < count; ++i) {
    const auto l = static_cast<Index>(items.length()) - count + i;
    rows.row(i).head(items.d_e()) = items.u.row(l);
    rows(i, items.d_e() + items.x[static_cast<std::size_t>(l)]) = 1.0;
  }
  return rows;
}

void check_scores(const World& world, Compressor kind, Tally& tally) {
  for (const bool soft : {false, true}) {
    const Items items = soft ? claim_soft_items(world, 40, 5) : claim_items(world, 40);
    const Matrix rows = last_rows(items, 24);
    CompressorSpec spec;
    spec.kind = kind;
    spec.rate = c;
    const Matrix z = compress_rows(spec, {}, items.d_e(), rows, {});
    const Eigen::VectorXd u = items.u.row(40);
    const Eigen::VectorXd each = rows.leftCols(items.d_e()) * u;
    for (Index j = 0; j < z.rows(); ++j) {
      tally.equal(z.row(j).head(items.d_e()).dot(u), each.segment(j * 4, 4).mean());
    }
  }
}

void check_mass(double a, double share, Tally& tally) {
  const double J = jensen_deficit(a, share);
  tally.at_most(0.0, J);
  tally.at_most(J, jensen_maximum(a));
}

/// y - y_slot against the covariances of weights and values within blocks.
void check_value(const World& world, double divisor, Tally& tally) {
  const Items items = claim_items(world, 40);
  const Matrix rows = last_rows(items, 24);
  const Eigen::VectorXd u = items.u.row(40);
  const Eigen::VectorXd w = (3.0 * rows.leftCols(items.d_e()) * u).array().exp();
  const Matrix x = rows.rightCols(items.d);
  const double all = w.sum();
  Eigen::VectorXd slots = Eigen::VectorXd::Zero(items.d), covariance = slots;
  for (Index j = 0; j < 6; ++j) {
    const auto wj = w.segment(4 * j, 4);
    const auto xj = x.middleRows(4 * j, 4);
    const Eigen::VectorXd mean = xj.colwise().mean().transpose();
    slots += wj.sum() * mean;
    covariance += 4.0 * (xj.transpose() * wj / divisor - wj.mean() * mean);
  }
  same((x.transpose() * w - slots) / all, covariance / all, tally);
}

void check_tilt(const World& world, bool pooled, Tally& tally) {
  const Kernel& kernel = world.kernels.front();
  const auto reach = static_cast<int>(std::bit_width(world.parents()));
  std::vector<Token> query;
  for (int lag = 1; lag <= reach; ++lag) {
    if (world.parents() >> (lag - 1) & 1U) query.push_back(static_cast<Token>(lag % world.d()));
  }
  for (const int rate : {2, 3}) {
    const double theta = 2.0 / rate;
    const auto found =
        pooled_prediction(kernel, world.parents(), query, pooled ? theta : 2.0, rate);
    const auto wanted = pooled_by_enumeration(kernel, world.parents(), query, theta, rate);
    for (std::size_t k = 0; k < found.size(); ++k) tally.equal(found[k], wanted[k]);
  }
}

/// A contiguous pattern of two tokens in blocks of c: at most ceil(c / tau) matches.
void check_period(const World& world, int less, Tally& tally) {
  for (Token first = 0; first < world.d(); ++first) {
    const std::vector<Token> pattern{first, 0};
    const int tau = smallest_period(pattern);
    for (int block = 2; block <= 6; ++block) {
      // Each token of block + 2 in turn; the pattern at l is x[l-1], x[l-2].
      std::vector<Token> x(static_cast<std::size_t>(block) + 2, 0);
      int most = 0;
      for (bool more = true; more;) {
        int matches = 0;
        for (std::size_t l = 2; l < x.size(); ++l) {
          matches += x[l - 1] == pattern[0] && x[l - 2] == pattern[1];
        }
        most = std::max(most, matches);
        more = false;
        for (std::size_t i = 0; i < x.size() && !more; ++i) {
          more = ++x[i] < world.d();
          if (!more) x[i] = 0;
        }
      }
      tally.equal(most, (block + tau - 1) / tau - less);
    }
  }
}

}  // namespace

std::vector<Claim> pooling_claims() {
  return {
      {"memory scores", "the score of a mean of keys is the mean of their scores", "ours",
       Mode::exact, true,
       [](const World& world, Tally& tally) { check_scores(world, Compressor::mean, tally); },
       [](Tally& tally) { check_scores(small_world(), Compressor::max, tally); }, "the maximum"},
      {"memory mass",
       "the log mass that a mean slot lacks, log(1 + f (e^a - 1)) - a f, is not below 0 and at "
       "most "
       "log((e^a - 1)/a) - 1 + a/(e^a - 1)",
       "ours", Mode::exact, true,
       [](const World&, Tally& tally) {
         for (const double a : {0.5, 2.0, 6.0, 12.0}) {
           for (double f = 0.0; f <= 1.0; f += 0.0625) check_mass(a, f, tally);
           check_mass(a, jensen_share(a), tally);
         }
       },
       [](Tally& tally) { check_mass(2.0, 1.25, tally); }, "more matches than items"},
      {"memory value",
       "with exact masses a mean slot is off by c times the covariance of weights and values in "
       "its "
       "block",
       "ours", Mode::exact, true,
       [](const World& world, Tally& tally) { check_value(world, 4.0, tally); },
       [](Tally& tally) { check_value(small_world(), 3.0, tally); }, "the divisor c - 1"},
      {"memory tilt",
       "of infinitely many mean slots the answer is that of the chain tilted by e^{(a/c) matches}",
       "ours", Mode::exact, true,
       [](const World& world, Tally& tally) { check_tilt(world, true, tally); },
       [](Tally& tally) { check_tilt(small_world(), false, tally); }, "a in place of a/c"},
      {"memory period",
       "a contiguous pattern matches at most ceil(c/tau) of c positions, tau its smallest period, "
       "and "
       "attains it",
       "ours", Mode::exact, true,
       [](const World& world, Tally& tally) { check_period(world, 0, tally); },
       [](Tally& tally) { check_period(small_world(), 1, tally); }, "one match less"},
  };
}

}  // namespace gih
