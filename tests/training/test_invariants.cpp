#include "gih/training/invariants.hpp"

#include <doctest/doctest.h>

using namespace gih;

namespace {

LogRow row(int stage, std::size_t step, double loss, double c) {
  LogRow made;
  made.stage = stage;
  made.step = step;
  made.train_loss = loss;
  made.theta.c = Eigen::VectorXd::Constant(1, c);
  return made;
}

Schedule schedule_of(std::initializer_list<const char*> methods) {
  Schedule schedule;
  for (const char* method : methods) {
    Stage stage;
    stage.method = method;
    stage.tolerance = 1e-3;
    schedule.push_back(stage);
  }
  return schedule;
}

}  // namespace

TEST_CASE("each flow stage is measured against its own start, descent is not measured") {
  const Log log{row(1, 0, 3.0, 1.0), row(1, 9, 4.0, 2.0),  // descent: anything
                row(2, 0, 2.0, 2.0), row(2, 5, 1.0, 2.0),  // the flow
                row(3, 0, 1.0, 1.0), row(3, 2, 0.5, 1.1),  // strays, and comes back
                row(3, 7, 0.75, 1.0)};
  const auto found = flow_invariants(schedule_of({"gd", "flow", "flow"}), log);
  REQUIRE(found.size() == 2);
  CHECK(found[0].stage == 2);
  CHECK(found[0].steps == 5);
  CHECK(found[0].C_D_drift == 0.0);
  CHECK(found[0].loss_rise == 0.0);
  CHECK(found[0].kept());
  CHECK(describe(found[0]) ==
        "stage 2: 5 steps of the flow, C_D drifted by 0, the loss never rose");
  CHECK(found[1].steps == 7);
  CHECK(found[1].C_D_drift == doctest::Approx(0.21));
  CHECK(found[1].loss_rise == 0.25);
  CHECK_FALSE(found[1].kept());
  CHECK(describe(found[1]) ==
        "stage 3: 7 steps of the flow, C_D drifted by 0.21, the loss rose by up to 0.25; warning: "
        "more than 0.01, ten times the tolerance");
}

TEST_CASE("a drift or a rise alone is a warning too") {
  const Schedule schedule = schedule_of({"flow"});
  CHECK_FALSE(flow_invariants(schedule, {row(1, 0, 1.0, 1.0), row(1, 1, 1.0, 1.01)})[0].kept());
  CHECK_FALSE(flow_invariants(schedule, {row(1, 0, 1.0, 1.0), row(1, 1, 1.02, 1.0)})[0].kept());
  CHECK(flow_invariants(schedule, {row(1, 0, 1.0, 1.0), row(1, 1, 1.001, 1.001)})[0].kept());
}

TEST_CASE("a run without stages, or without rows, has none") {
  CHECK(flow_invariants({}, {row(0, 0, 1.0, 1.0)}).empty());
  CHECK(flow_invariants(schedule_of({"flow"}), {}).empty());
}
