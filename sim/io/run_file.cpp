#include "gih/io/run_file.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "gih/base/error.hpp"
#include "gih/io/atomic_file.hpp"
#include "hdf5_reader.hpp"
#include "hdf5_writer.hpp"
#include "run_columns.hpp"

namespace gih {
namespace {

using hdf5::Shape;

constexpr const char* run_format = "gih-run";
constexpr int run_format_version = 1;

void check_shapes(const std::string& name, const Sizes& sizes, const Parameters& theta) {
  bool same = static_cast<std::uint64_t>(theta.c.size()) == sizes.nS &&
              static_cast<std::uint64_t>(theta.w.rows()) == sizes.H &&
              static_cast<std::uint64_t>(theta.w.cols()) == sizes.M;
  const Parameters shapes = zero_parameters(sizes.model);
  for (const WordMatrix& matrix : word_matrices) {
    same = same && (theta.*matrix.member).size() == (shapes.*matrix.member).size();
  }
  if (!same) {
    throw RunError(fmt::format(
        "{}: parameters of another model: {} x {} weights and {} subsets, "
        "not {} x {} and {}",
        name, theta.w.rows(), theta.w.cols(), theta.c.size(), sizes.H, sizes.M, sizes.nS));
  }
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
  for (const Column& column : run_columns()) {
    if (!sizes.has(column.per)) continue;
    const std::uint64_t width = hdf5::entries(sizes.of(column.per));
    std::vector<double> values(T * width);
    for (std::uint64_t t = 0; t < T; ++t) column.put(log[t], values.data() + t * width);
    const std::string path = std::string("/log/") + column.name;
    file.dataset(path.c_str(), sizes.of(column.per, T), values, column.description);
  }
}

/// The columns that are a function of the parameters; of /state, those that determine them.
void write_parameters(hdf5::Writer& file, const std::string& group, const Sizes& sizes,
                      const Parameters& theta, bool derived_too) {
  LogRow row;
  row.theta = theta;
  for (const Column& column : run_columns()) {
    if (!column.is_final || !sizes.has(column.per)) continue;
    if (column.get == nullptr && !derived_too) continue;
    std::vector<double> values(hdf5::entries(sizes.of(column.per)));
    column.put(row, values.data());
    const std::string path = group + "/" + column.name;
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
  write_parameters(file, "/state", sizes, state.theta, false);
}

/// The model as far as shapes tell it: H, D and the rule follow from the subsets ("at most D" alone
/// admits the empty one), the variant from the matrices that are there.
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
  for (const char* path : {"/state/W_Q", "/state/scale"}) {
    if (!file.has(path)) continue;
    const Shape shape = file.shape(path);
    if (shape.empty() || shape.back() < 2 || shape.back() > 65536) {
      file.fail(fmt::format("{}: must have 2 to 65536 columns, one a token", path));
    }
    model.d = static_cast<int>(shape.back());
  }
  if (file.has("/state/scale")) model.head_norm = HeadNorm::layer;
  if (file.has("/state/W_Q")) {
    model.variant = Variant::full;
    model.residual_in_kernel =
        !codes.empty() && codes.front().size() == static_cast<std::size_t>(model.H) + 1;
  }
  model.D = 0;
  for (const std::string& code : codes) model.D = std::max(model.D, ones(code));
  if (model.D < 1 || model.D > model.H) file.fail("/subsets: of no degree from 1 to the heads");
  model.rule = ones(codes.front()) == 0 ? SubsetRule::at_most : SubsetRule::exactly;
  std::vector<std::string> expected;
  for (const Subset S : model.subsets()) expected.push_back(subset_code(S, model.blocks()));
  if (codes != expected) {
    file.fail(fmt::format("/subsets: not those of {} heads and degree {}", model.H, model.D));
  }
  return model;
}

Log read_log(const hdf5::Reader& file, const Sizes& sizes) {
  const Shape shape = file.shape("/log/stage");
  if (shape.size() != 1) file.fail("/log/stage is not a list");
  const std::uint64_t T = shape.front();
  const auto stage = file.integers("/log/stage", {T});
  const auto step = file.counts("/log/step", {T});
  LogRow blank;
  blank.theta = zero_parameters(sizes.model);
  Log log(T, blank);
  for (std::uint64_t t = 0; t < T; ++t) {
    log[t].stage = stage[t];
    log[t].step = step[t];
  }
  for (const Column& column : run_columns()) {
    if (column.get == nullptr || !sizes.has(column.per)) continue;
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
  LogRow row;
  row.theta = zero_parameters(sizes.model);
  for (const Column& column : run_columns()) {
    if (!column.is_final || column.get == nullptr || !sizes.has(column.per)) continue;
    const std::string path = std::string("/state/") + column.name;
    column.get(row, file.doubles(path.c_str(), sizes.of(column.per)).data());
  }
  state.theta = row.theta;
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
  for (const Subset S : run.model.subsets()) {
    codes.push_back(subset_code(S, run.model.blocks()));
  }
  const Sizes sizes(run.model);
  check_shapes(path.string(), sizes, run.state.theta);
  for (const LogRow& row : run.state.log) check_shapes(path.string(), sizes, row.theta);

  hdf5::Writer file(path, run_format, run_format_version);
  file.attribute("config", run.config);
  file.attribute("created", hdf5::now());
  file.attribute("complete", run.complete ? 1 : 0);
  file.dataset(
      "/subsets", codes,
      run.model.residual()
          ? "subsets S of the residual block and the heads: the first character is the residual "
            "block, character i+1 head i; the order of every axis over subsets"
          : "subsets S of the heads: character i is 1 when head i is in S, the lowest bit first; "
            "the order of every axis over subsets");
  write_log(file, sizes, run.state.log);
  file.group("/final");
  write_parameters(file, "/final", sizes, run.state.theta, true);
  write_state(file, sizes, run.state);
  file.save();
}

void write_checks(const std::filesystem::path& path, const std::vector<StoredCheck>& checks) {
  read_run(path);  // a run file, or an error that says what it is
  hdf5::Writer file(path, read_bytes(path));
  Table table{{{"id", CellKind::text},
               {"statement", CellKind::text},
               {"verdict", CellKind::text},
               {"left", CellKind::number},
               {"right", CellKind::number},
               {"slack", CellKind::number}},
              {}};
  for (const StoredCheck& check : checks) {
    table.rows.push_back(
        {check.id, check.statement, check.verdict, check.left, check.right, check.slack});
  }
  file.table("/checks", table,
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
  const Sizes sizes(run.model);
  run.state = read_state(file, sizes);
  return run;
}

}  // namespace gih
