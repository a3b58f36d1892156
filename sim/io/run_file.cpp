#include "gih/io/run_file.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "gih/base/error.hpp"
#include "gih/io/atomic_file.hpp"
#include "hdf5_reader.hpp"
#include "hdf5_writer.hpp"

namespace gih {
namespace {

using hdf5::Shape;

constexpr const char* run_format = "gih-run";
constexpr int run_format_version = 1;

enum class Per { row, subset, weight };

/// One quantity of a log row. Adding a column: a row in the table below.
struct Column {
  const char* name;
  Per per;
  bool is_final;  ///< also in /final: it is a function of the parameters alone
  const char* description;
  void (*put)(const LogRow&, double*);
  void (*get)(LogRow&, const double*);  ///< null where the other columns determine it
};

void copy(const double* from, Eigen::Index count, double* to) {
  std::copy_n(from, count, to);
}

const Column columns[] = {
    {"time", Per::row, false, "flow time so far in the stage; gd: steps x learning rate",
     [](const LogRow& row, double* x) { *x = row.time; },
     [](LogRow& row, const double* x) { row.time = *x; }},
    {"train_loss", Per::row, false, "mean training loss, nats",
     [](const LogRow& row, double* x) { *x = row.train_loss; },
     [](LogRow& row, const double* x) { row.train_loss = *x; }},
    {"validation_loss", Per::row, false, "mean validation loss, nats; NaN without validation data",
     [](const LogRow& row, double* x) { *x = row.validation_loss; },
     [](LogRow& row, const double* x) { row.validation_loss = *x; }},
    {"w", Per::weight, true,
     "RPE weights w_{-i}^(h), heads x lags (in /log: rows x heads x lags), lag i at column i-1",
     [](const LogRow& row, double* x) { copy(row.theta.w.data(), row.theta.w.size(), x); },
     [](LogRow& row, const double* x) { copy(x, row.theta.w.size(), row.theta.w.data()); }},
    {"c", Per::subset, true, "c_S of the polynomial kernel, subsets S in the order of /subsets",
     [](const LogRow& row, double* x) { copy(row.theta.c.data(), row.theta.c.size(), x); },
     [](LogRow& row, const double* x) { copy(x, row.theta.c.size(), row.theta.c.data()); }},
    {"p", Per::subset, true, "p_S = c_S^2 / C_D, subsets S in the order of /subsets",
     [](const LogRow& row, double* x) {
       const Eigen::VectorXd p = row.theta.p();
       copy(p.data(), p.size(), x);
     },
     nullptr},
    {"a", Per::row, true, "a, the scalar of the second attention",
     [](const LogRow& row, double* x) { *x = row.theta.a; },
     [](LogRow& row, const double* x) { row.theta.a = *x; }},
    {"C_D", Per::row, true,
     "C_D = sum_S c_S^2; conserved by the gradient flow, not by gradient descent with a finite "
     "rate",
     [](const LogRow& row, double* x) { *x = row.theta.C_D(); }, nullptr},
};

/// What the shapes depend on.
struct Sizes {
  std::uint64_t nS, H, M;

  Shape of(Per per) const {
    if (per == Per::subset) return {nS};
    if (per == Per::weight) return {H, M};
    return {};
  }
  Shape of(Per per, std::uint64_t T) const {
    Shape shape = of(per);
    shape.insert(shape.begin(), T);
    return shape;
  }
};

void check_shapes(const std::string& name, const Sizes& sizes, const Parameters& theta) {
  if (static_cast<std::uint64_t>(theta.c.size()) != sizes.nS ||
      static_cast<std::uint64_t>(theta.w.rows()) != sizes.H ||
      static_cast<std::uint64_t>(theta.w.cols()) != sizes.M) {
    throw RunError(fmt::format(
        "{}: parameters of another model: {} x {} weights and {} subsets, "
        "not {} x {} and {}",
        name, theta.w.rows(), theta.w.cols(), theta.c.size(), sizes.H, sizes.M, sizes.nS));
  }
}

std::string now() {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

void write_log(hdf5::Writer& file, const Sizes& sizes, const Log& log) {
  const std::uint64_t T = log.size();
  std::vector<int> stage(T);
  std::vector<std::uint64_t> step(T);
  std::transform(log.begin(), log.end(), stage.begin(),
                 [](const LogRow& row) { return row.stage; });
  std::transform(log.begin(), log.end(), step.begin(), [](const LogRow& row) { return row.step; });
  file.group("/log");
  file.dataset("/log/stage", {T}, stage, "stage of the schedule, 1, 2, ...");
  file.dataset("/log/step", {T}, step, "gradient steps so far in the stage");
  for (const Column& column : columns) {
    const std::uint64_t width = hdf5::entries(sizes.of(column.per));
    std::vector<double> values(T * width);
    for (std::uint64_t t = 0; t < T; ++t) column.put(log[t], values.data() + t * width);
    const std::string path = std::string("/log/") + column.name;
    file.dataset(path.c_str(), sizes.of(column.per, T), values, column.description);
  }
}

void write_final(hdf5::Writer& file, const Sizes& sizes, const Parameters& theta) {
  LogRow row;
  row.theta = theta;
  file.group("/final");
  for (const Column& column : columns) {
    if (!column.is_final) continue;
    std::vector<double> values(hdf5::entries(sizes.of(column.per)));
    column.put(row, values.data());
    const std::string path = std::string("/final/") + column.name;
    file.dataset(path.c_str(), sizes.of(column.per), values, column.description);
  }
}

void write_state(hdf5::Writer& file, const Sizes& sizes, const TrainState& state) {
  file.group("/state");
  file.dataset("/state/stage", {}, std::vector<int>{state.stage},
               "stage to go on with; one more than there are once the run is done");
  file.dataset("/state/step", {}, std::vector<std::uint64_t>{state.step}, "steps done in it");
  file.dataset("/state/time", {}, std::vector<double>{state.time}, "flow time done in it");
  file.dataset("/state/next_step", {}, std::vector<double>{state.next_step},
               "step size that the flow goes on with; 0 for gd and before the first step");
  file.dataset("/state/coordinates", {state.coordinates.size()}, state.coordinates,
               "coordinates that the flow goes on from; none for gd");
  const Parameters& theta = state.theta;
  file.dataset("/state/w", sizes.of(Per::weight),
               std::span(theta.w.data(), static_cast<std::size_t>(theta.w.size())),
               "w after that step, heads x lags");
  file.dataset("/state/c", sizes.of(Per::subset),
               std::span(theta.c.data(), static_cast<std::size_t>(theta.c.size())),
               "c_S after that step");
  file.dataset("/state/a", {}, std::vector<double>{theta.a}, "a after that step");
}

/// H, D and the rule follow from the subsets: "at most D" alone admits the empty one.
ModelSpec read_model(const hdf5::Reader& file) {
  const auto codes = file.strings("/subsets");
  const auto ones = [](const std::string& code) {
    return static_cast<int>(std::count(code.begin(), code.end(), '1'));
  };
  const Shape w = file.shape("/state/w");
  if (w.size() != 2 || w[0] < 1 || w[1] < 1 || w[0] > 31 || w[1] > 31) {
    file.fail("/state/w: must have 1 to 31 heads and lags");
  }
  ModelSpec model;
  model.H = static_cast<int>(w[0]);
  model.M = static_cast<int>(w[1]);
  model.D = 0;
  for (const std::string& code : codes) model.D = std::max(model.D, ones(code));
  if (model.D < 1 || model.D > model.H) file.fail("/subsets: of no degree from 1 to the heads");
  model.rule = ones(codes.front()) == 0 ? SubsetRule::at_most : SubsetRule::exactly;
  std::vector<std::string> expected;
  for (const Subset S : model.subsets()) expected.push_back(subset_code(S, model.H));
  if (codes != expected) {
    file.fail(fmt::format("/subsets: not those of {} heads and degree {}", model.H, model.D));
  }
  return model;
}

Parameters empty_parameters(const Sizes& sizes) {
  Parameters theta;
  theta.w.resize(static_cast<Eigen::Index>(sizes.H), static_cast<Eigen::Index>(sizes.M));
  theta.c.resize(static_cast<Eigen::Index>(sizes.nS));
  return theta;
}

Log read_log(const hdf5::Reader& file, const Sizes& sizes) {
  const Shape shape = file.shape("/log/stage");
  if (shape.size() != 1) file.fail("/log/stage is not a list");
  const std::uint64_t T = shape.front();
  const auto stage = file.integers("/log/stage", {T});
  const auto step = file.counts("/log/step", {T});
  LogRow blank;
  blank.theta = empty_parameters(sizes);
  Log log(T, blank);
  for (std::uint64_t t = 0; t < T; ++t) {
    log[t].stage = stage[t];
    log[t].step = step[t];
  }
  for (const Column& column : columns) {
    if (column.get == nullptr) continue;
    const std::string path = std::string("/log/") + column.name;
    const auto values = file.doubles(path.c_str(), sizes.of(column.per, T));
    const std::uint64_t width = hdf5::entries(sizes.of(column.per));
    for (std::uint64_t t = 0; t < T; ++t) column.get(log[t], values.data() + t * width);
  }
  return log;
}

TrainState read_state(const hdf5::Reader& file, const Sizes& sizes) {
  TrainState state;
  state.stage = file.integers("/state/stage", {}).front();
  state.step = file.counts("/state/step", {}).front();
  state.time = file.doubles("/state/time", {}).front();
  state.next_step = file.doubles("/state/next_step", {}).front();
  const Shape coordinates = file.shape("/state/coordinates");
  if (coordinates.size() != 1) file.fail("/state/coordinates is not a list");
  state.coordinates = file.doubles("/state/coordinates", coordinates);
  state.theta = empty_parameters(sizes);
  const auto w = file.doubles("/state/w", sizes.of(Per::weight));
  const auto c = file.doubles("/state/c", sizes.of(Per::subset));
  std::copy(w.begin(), w.end(), state.theta.w.data());
  std::copy(c.begin(), c.end(), state.theta.c.data());
  state.theta.a = file.doubles("/state/a", {}).front();
  state.log = read_log(file, sizes);
  return state;
}

}  // namespace

std::filesystem::path part_path(const std::filesystem::path& run) {
  std::filesystem::path part = run;
  part += ".part";
  return part;
}

void write_run(const std::filesystem::path& path, const RunFile& run) {
  std::vector<std::string> codes;
  for (const Subset S : run.model.subsets()) codes.push_back(subset_code(S, run.model.H));
  const Sizes sizes{codes.size(), static_cast<std::uint64_t>(run.model.H),
                    static_cast<std::uint64_t>(run.model.M)};
  check_shapes(path.string(), sizes, run.state.theta);
  for (const LogRow& row : run.state.log) check_shapes(path.string(), sizes, row.theta);

  hdf5::Writer file(path, run_format, run_format_version);
  file.attribute("config", run.config);
  file.attribute("created", now());
  file.attribute("complete", run.complete ? 1 : 0);
  file.dataset(
      "/subsets", codes,
      "subsets S of the heads: character i is 1 when head i is in S, the lowest bit first; "
      "the order of every axis over subsets");
  write_log(file, sizes, run.state.log);
  write_final(file, sizes, run.state.theta);
  write_state(file, sizes, run.state);
  file.save();
}

void write_checks(const std::filesystem::path& path, const std::vector<StoredCheck>& checks) {
  read_run(path);  // a run file, or an error that says what it is
  hdf5::Writer file(path, read_bytes(path));
  std::vector<hdf5::Writer::Row> rows;
  for (const StoredCheck& check : checks) {
    rows.push_back(
        {{check.id, check.statement, check.verdict}, {check.left, check.right, check.slack}});
  }
  file.table("/checks", {"id", "statement", "verdict"}, {"left", "right", "slack"}, rows,
             "what gih verify found: both sides of the comparison with the least slack");
  file.save();
}

RunFile read_run(const std::filesystem::path& path) {
  const hdf5::Reader file(read_bytes(path), path.string(), run_format, run_format_version);
  RunFile run;
  run.gih_version = file.text("gih_version");
  run.git_commit = file.text("git_commit");
  run.compiler = file.text("compiler");
  run.created = file.text("created");
  run.config = file.text("config");
  run.complete = file.integer("complete") != 0;
  run.model = read_model(file);
  const Sizes sizes{run.model.subsets().size(), static_cast<std::uint64_t>(run.model.H),
                    static_cast<std::uint64_t>(run.model.M)};
  run.state = read_state(file, sizes);
  return run;
}

}  // namespace gih
