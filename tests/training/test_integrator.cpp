// Gradient descent on the transformer itself: what it conserves, what it does not.
#include "gih/training/integrator.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "gih/data/prompts.hpp"
#include "gih/model/table_engine.hpp"
#include "gih/training/trainer.hpp"

using namespace gih;

namespace {

constexpr Blocks only_c{true, false, false}, only_w{false, true, false}, only_a{false, false, true};

/// Figure 3's protocol with fewer sequences.
std::unique_ptr<Objective> protocol(std::size_t sequences) {
  DataSpec data;
  data.train = sequences;
  return make_table_engine({}, {0.1}, build_prompts(data, {}, Split::train, 1), 1);
}

Parameters protocol_start() {
  Parameters theta;
  theta.w = Matrix::Constant(3, 3, 0.01);
  theta.w.diagonal().setConstant(3.0);
  theta.c = Eigen::VectorXd::Constant(7, 0.01);
  theta.a = 0.01;
  return theta;
}

Log trained(Objective& objective, const Schedule& schedule) {
  TrainState state = initial_state(protocol_start());
  train(schedule, 1, objective, nullptr, state, [](const TrainState&) { return true; });
  return state.log;
}

}  // namespace

TEST_CASE("every method of the table has a name, a meaning and a function") {
  CHECK(integrator_table().size() >= 1);
  for (const IntegratorRow& row : integrator_table()) {
    CHECK(std::string(row.name).size() > 0);
    CHECK(std::string(row.meaning).size() > 0);
    CHECK(static_cast<bool>(row.run));
  }
}

// The loss depends on the direction of c alone, so the gradient is at right angles to c and a step
// of size r makes |c|^2 longer by r^2 |gradient|^2: the flow conserves C_D, descent does not.
TEST_CASE("a step in c raises C_D by the square of its length") {
  const auto objective = protocol(100);
  for (const double rate : {1.0, 1e-2}) {
    const Log log = trained(*objective, {{only_c, "gd", 20, rate}});
    REQUIRE(log.size() == 21);
    for (std::size_t k = 0; k + 1 < log.size(); ++k) {
      CAPTURE(rate);
      CAPTURE(k);
      const auto gradient = objective->evaluate(log[k].theta, only_c, false).gradient.c;
      const double expected = log[k].theta.C_D() + rate * rate * gradient.squaredNorm();
      CHECK(std::abs(log[k + 1].theta.C_D() - expected) <= 1e-10 * expected);
    }
  }
}

TEST_CASE("C_D is constant under a small rate and grows about threefold under rate 1") {
  const auto objective = protocol(1000);
  constexpr double rate = 1e-6;
  const Log slow = trained(*objective, {{only_c, "gd", 10, rate}});
  double bound = 0.0;
  for (const LogRow& row : slow) {
    const Evaluation at = objective->evaluate(row.theta, only_c, false);
    bound += rate * rate * at.gradient.c.squaredNorm();
  }
  const double before = slow.front().theta.C_D();
  CHECK(std::abs(slow.back().theta.C_D() - before) <= bound + 1e-14 * before);
  CHECK(bound < 1e-8 * before);
  CHECK(slow.back().theta.c != slow.front().theta.c);

  const Log fast = trained(*objective, {{only_c, "gd", 10, 1.0}});
  const double growth = fast.back().theta.C_D() / before;
  CHECK(growth > 2.0);
  CHECK(growth < 7.0);
}

TEST_CASE("a head's sum of w is conserved, because its softmax does not see a common shift") {
  const auto objective = protocol(200);
  const Log log = trained(*objective, {{only_c, "gd", 20, 1.0}, {only_w, "gd", 200, 1.0}});
  const Eigen::VectorXd before = protocol_start().w.rowwise().sum();
  for (const LogRow& row : log) {
    CHECK((row.theta.w.rowwise().sum() - before).cwiseAbs().maxCoeff() < 1e-12);
  }
  CHECK((log.back().theta.w - protocol_start().w).cwiseAbs().maxCoeff() > 1e-3);
}

TEST_CASE("the loss never rises under a small rate") {
  const auto objective = protocol(200);
  const Log log = trained(*objective, {{only_c, "gd", 50, 1e-4},
                                       {only_w, "gd", 50, 0.1},
                                       {only_a, "gd", 50, 0.1},
                                       {Blocks::all(), "gd", 50, 1e-4}});
  int falls = 0;
  for (std::size_t k = 0; k + 1 < log.size(); ++k) {
    CAPTURE(log[k].stage);
    CAPTURE(log[k].step);
    CHECK(log[k + 1].train_loss <= log[k].train_loss);
    falls += log[k + 1].train_loss < log[k].train_loss;
  }
  CHECK(falls == 200);
}
