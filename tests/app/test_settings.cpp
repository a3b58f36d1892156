#include "gih/app/settings.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "gih/app/config.hpp"
#include "gih/io/data_file.hpp"
#include "gih/io/run_file.hpp"
#include "io/scratch.hpp"

using namespace gih;

namespace {

using Given = std::vector<std::pair<const char*, std::string>>;

std::vector<Assignment> options(const Given& given) {
  std::vector<Assignment> assignments;
  for (const auto& [key, value] : given)
    assignments.push_back({key, value, std::string("--") + key});
  return assignments;
}

Settings settings_of(const Given& given) {
  return resolve(options(given));
}

std::string refusal(const Given& given) {
  return message_of<InputError>([&] { settings_of(given); });
}

}  // namespace

TEST_CASE("keys that do not fit each other are refused with names, values and the range") {
  struct {
    Given given;
    const char* words;
  } const cases[] = {
      {{{"model.window", "1"}, {"model.heads", "1"}, {"model.degree", "1"}},
       "model.window = 1: must be at least the largest lag of data.parents = 1,2"},
      {{{"data.length", "3"}}, "data.length = 3: must be above model.window = 3"},
      {{{"data.length", "3"}, {"model.window", "5"}},
       "data.length = 3: must be above model.window = 5"},
      {{{"model.heads", "1"}, {"model.degree", "1"}},
       "model.heads = 1: must be from 2, the largest lag of data.parents, to model.window = 3"},
      {{{"model.heads", "4"}}, "model.heads = 4: must be from 2"},
      {{{"data.parents", "3"}, {"model.heads", "2"}}, "model.heads = 2: must be from 3"},
      {{{"model.degree", "4"}}, "model.degree = 4: must be at most model.heads = 3"},
      {{{"data.floor", "0.34"}}, "data.floor = 0.34: must be below 1/data.vocab = 0.333333"},
      {{{"data.floor", "0.5"}, {"data.vocab", "2"}},
       "data.floor = 0.5: must be below 1/data.vocab = 0.5"},
      {{{"data.length", "inf"}, {"loss.positions", "sequential"}},
       "loss.positions = sequential: must be last when data.length = inf"},
      {{{"init.c", "1,2"}}, "init.c has 2 numbers: must be 1, or 7 (one a subset)"},
      {{{"data.prior", "file"}}, "data.prior = file: needs data.kernels"},
      {{{"init.step", "1:5"}}, "init.step = 1:5: needs init.file"},
      {{{"model.window", "31"}, {"model.heads", "31"}, {"model.degree", "15"}}, "must be at most"},
      {{{"stage.1.train", "c"}, {"stage.1.stepper", "rosenbrock"}},
       "stage.1.stepper = rosenbrock: must be dormand-prince with method gd, which has none"},
      {{{"stage.1.train", "c"}, {"stage.1.time", "5"}},
       "stage.1.time = 5: must be 0 with method gd, which takes stage.1.epochs"},
      {{{"stage.1.train", "c"}, {"stage.1.method", "flow"}, {"stage.1.epochs", "5"}},
       "stage.1.epochs = 5: must be 0 with method flow, which lasts stage.1.time"},
  };
  for (const auto& c : cases) {
    CAPTURE(std::string(c.words));
    const std::string message = refusal(c.given);
    CAPTURE(message);
    CHECK(contains(message, c.words));
  }
  CHECK(refusal({}) == "");
  CHECK(refusal({{"data.length", "4"}}) == "");
  CHECK(refusal({{"data.floor", "0.333"}}) == "");
}

TEST_CASE("epsilon and the number of threads have automatic values") {
  CHECK(settings_of({}).eps() == 0.1);
  CHECK(settings_of({{"data.length", "25"}}).eps() == 0.2);
  CHECK(settings_of({{"data.length", "inf"}}).eps() == 0.0);
  CHECK(settings_of({{"loss.epsilon", "0.5"}}).eps() == 0.5);
  CHECK(settings_of({{"run.threads", "5"}}).thread_count() == 5);
  CHECK(settings_of({}).thread_count() >= 1);
}

TEST_CASE("sizes reach the structs of every floor") {
  const Settings settings =
      settings_of({{"data.vocab", "4"}, {"model.window", "5"}, {"model.mask", "true"}});
  CHECK(settings.model.d == 4);
  CHECK(settings.prompts.M == 5);
  CHECK(settings.prompts.mask);
}

TEST_CASE("initial parameters are what init.* says") {
  const Settings plain = settings_of(
      {{"model.window", "4"}, {"init.w-diagonal", "2"}, {"init.w-off", "-0.5"}, {"init.a", "7"}});
  const Parameters theta = initial_parameters(plain);
  REQUIRE(theta.w.rows() == 3);
  REQUIRE(theta.w.cols() == 4);
  for (int h = 0; h < 3; ++h) {
    for (int i = 0; i < 4; ++i) CHECK(theta.w(h, i) == (h == i ? 2.0 : -0.5));
  }
  CHECK(theta.c == Eigen::VectorXd::Constant(7, 0.01));
  CHECK(theta.a == 7.0);
  const Parameters each = initial_parameters(settings_of({{"init.c", "1,2,3,4,5,6,-7"}}));
  for (int S = 0; S < 7; ++S) CHECK(each.c(S) == (S == 6 ? -7.0 : S + 1.0));
  CHECK(contains(message_of<InputError>([] {
                   initial_parameters(settings_of({{"init.c", "0"}}));
                 }),
                 "c = 0 in every entry"));
}

TEST_CASE("a run starts from any row of another run's log") {
  const Scratch scratch;
  RunFile run;
  for (int row = 0; row < 3; ++row) {
    LogRow next;
    next.stage = row == 0 ? 1 : 2;
    next.step = std::size_t(10 * row);
    next.theta = initial_parameters(settings_of({}));
    next.theta.a = row;
    run.state.log.push_back(next);
  }
  run.state.theta = run.state.log.back().theta;
  run.state.theta.a = 99.0;
  write_run(scratch / "run.h5", run);
  const std::string file = (scratch / "run.h5").string();
  struct {
    const char* step;
    double a;
  } const cases[] = {{"last", 99.0}, {"1:0", 0.0}, {"2:10", 1.0}, {"2:20", 2.0}};
  for (const auto& c : cases) {
    CAPTURE(std::string(c.step));
    CHECK(initial_parameters(settings_of({{"init.file", file}, {"init.step", c.step}})).a == c.a);
  }
  const auto refused = [](const Given& given) {
    return message_of<InputError>([&] { initial_parameters(settings_of(given)); });
  };
  CHECK(contains(refused({{"init.file", file}, {"init.step", "2:11"}}),
                 "init.step = 2:11: " + file + " has no such log row"));
  CHECK(
      contains(refused({{"init.file", file}, {"model.degree", "3"}}), "its subsets are not those"));
  CHECK(contains(refused({{"init.file", file}, {"model.window", "4"}}), "w is 3 x 3: must be"));
  CHECK(contains(refused({{"init.file", "none.h5"}}), "none.h5: cannot open"));
}

TEST_CASE("a data file settles vocabulary, length, parents and the split") {
  const Scratch scratch;
  TokenTable table;
  table.d = 2;
  table.rows = 20;
  table.columns = 11;
  table.tokens.assign(220, 1);
  write_data(scratch / "data.h5", table, {1, 2}, "");
  const std::string file = (scratch / "data.h5").string();
  struct {
    Given more;
    std::size_t train, validation;
  } const splits[] = {{{}, 18, 2},
                      {{{"data.train", "5"}}, 5, 15},
                      {{{"data.validation", "4"}}, 16, 4},
                      {{{"data.train", "7"}, {"data.validation", "0"}}, 7, 0}};
  for (const auto& c : splits) {
    Given given{{"data.file", file}};
    given.insert(given.end(), c.more.begin(), c.more.end());
    const Settings settings = settings_of(given);
    CHECK(settings.data.d == 2);
    CHECK(settings.model.d == 2);
    CHECK(settings.data.L == 10);
    CHECK(settings.data.train == c.train);
    CHECK(settings.data.validation == c.validation);
    CHECK(to_ini(resolve(read_ini(to_ini(settings), "again"))) == to_ini(settings));
  }
  struct {
    Given more;
    std::string words;
  } const refused[] = {
      {{{"data.vocab", "3"}}, "data.vocab = 3: must be 2, as in " + file},
      {{{"data.length", "100"}}, "data.length = 100: must be 10, as in " + file},
      {{{"data.length", "inf"}}, "data.length = inf: must be 10, as in " + file},
      {{{"data.train", "21"}}, "20 sequences"},
      {{{"data.validation", "20"}}, "sequences"},
  };
  for (const auto& c : refused) {
    CAPTURE(std::string(c.words));
    Given given{{"data.file", file}};
    given.insert(given.end(), c.more.begin(), c.more.end());
    CHECK(contains(refusal(given), c.words));
  }
}

TEST_CASE("a kernel file settles vocabulary and parents and is the prior") {
  const Scratch scratch;
  const std::string file =
      scratch.put("K.json", R"({"vocab": 2, "parents": [2], "pi": [[0.9, 0.1], [0.2, 0.8]]})")
          .string();
  const Settings settings = settings_of({{"data.kernels", file}});
  CHECK(settings.data.d == 2);
  CHECK(settings.data.parents == std::vector<int>{2});
  CHECK(settings.data.prior.name == "file");
  CHECK(settings.data.prior.kernels.size() == 1);
  CHECK(contains(refusal({{"data.kernels", file}, {"data.vocab", "3"}}),
                 "data.vocab = 3: must be 2"));
  CHECK(contains(refusal({{"data.kernels", file}, {"data.parents", "1,2"}}),
                 "data.parents = 1,2: must be 2, as in"));
  CHECK(contains(refusal({{"data.kernels", file}, {"data.prior", "dirichlet"}}),
                 "needs data.prior = file, not dirichlet"));
  CHECK(contains(refusal({{"data.kernels", "none.json"}}), "none.json: cannot open"));
}

TEST_CASE("what needs more memory than allowed is refused with the estimate") {
  struct {
    Given given;
    bool fits;
  } const cases[] = {
      {{}, true},
      {{{"run.max-memory", "500 MB"}}, true},
      {{{"run.max-memory", "10 MB"}}, false},
      {{{"run.max-memory", "0.001 %"}}, false},
      {{{"data.train", "1e9"}, {"run.max-memory", "10 GB"}}, false},
      // The log counts too: every step of a long stage, or few rows of a wide model.
      {{{"stage.1.train", "c"}, {"stage.1.epochs", "1e12"}, {"run.max-memory", "10 GB"}}, true},
      {{{"stage.1.train", "c"},
        {"stage.1.epochs", "1e12"},
        {"log.every", "1"},
        {"run.max-memory", "10 GB"}},
       false},
      {{{"stage.1.train", "c"},
        {"stage.1.epochs", "50000"},
        {"log.every", "1"},
        {"run.max-memory", "500 MB"}},
       true},
      {{{"model.window", "20"},
        {"model.heads", "20"},
        {"model.degree", "8"},
        {"data.train", "1"},
        {"data.validation", "0"},
        {"stage.1.train", "c"},
        {"stage.1.epochs", "10000"},
        {"run.max-memory", "4 GB"}},
       false},
  };
  for (const auto& c : cases) {
    const Settings settings = settings_of(c.given);
    const double bytes = training_bytes(settings);
    CAPTURE(bytes);
    const std::string message = message_of<InputError>([&] { check_memory(settings, bytes); });
    CAPTURE(message);
    CHECK(message.empty() == c.fits);
    if (c.fits) continue;
    CHECK(contains(message, fmt::format("this run may need {:.3g} GB", bytes / 1e9)));
    CHECK(contains(message, "run.max-memory = "));
  }
}
