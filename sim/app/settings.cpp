#include "gih/app/settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "gih/app/text.hpp"
#include "gih/base/error.hpp"
#include "gih/base/parallel.hpp"
#include "gih/io/data_file.hpp"
#include "gih/io/run_file.hpp"
#include "gih/model/table_engine.hpp"
#include "gih/training/log.hpp"

namespace gih {
namespace {

std::string lags_text(const std::vector<int>& lags) {
  return fmt::format("{}", fmt::join(lags, ","));
}

double machine_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// The log: the state and its copy for saving, and twice the file that is made of it in memory.
double log_bytes(const Settings& settings) {
  double rows = 1.0;
  for (const Stage& stage : settings.schedule) {
    const double steps = stage.method == "flow" ? stage.time : static_cast<double>(stage.epochs);
    rows += settings.log_every > 0 ? steps / static_cast<double>(settings.log_every) + 2.0
                                   : std::min(steps + 1.0, 2000.0);
  }
  double weights = settings.model.H * settings.model.M;
  const Parameters shapes = zero_parameters(settings.model);
  for (const WordMatrix& matrix : word_matrices) {
    weights += static_cast<double>((shapes.*matrix.member).size());
  }
  const auto nS = static_cast<double>(settings.model.subsets().size());
  const double row = sizeof(LogRow) + 64.0 + 8.0 * (weights + nS);
  const double row_in_file = 8.0 * (weights + 2.0 * nS + 7.0);
  return rows * (2.0 * row + 2.0 * row_in_file);
}

}  // namespace

double Settings::eps() const {
  if (epsilon) return *epsilon;
  return data.L ? 1.0 / std::sqrt(static_cast<double>(*data.L)) : 0.0;
}

int Settings::thread_count() const {
  return threads > 0 ? threads : available_threads();
}

void load_files(Settings& settings, const std::vector<std::string>& given) {
  const auto is_given = [&](const char* key) {
    return std::find(given.begin(), given.end(), key) != given.end();
  };
  DataSpec& data = settings.data;
  const auto take = [&](const char* key, auto& value, const auto& from_file,
                        const std::string& file, auto text) {
    if (is_given(key) && value != from_file) {
      throw InputError(
          fmt::format("{} = {}: must be {}, as in {}", key, text(value), text(from_file), file));
    }
    value = from_file;
  };
  const auto number = [](auto value) { return fmt::format("{}", value); };
  const auto length = [](const std::optional<std::size_t>& L) {
    return L ? std::to_string(*L) : "inf";
  };
  if (!settings.file.empty()) {
    auto table = std::make_shared<TokenTable>(read_tokens(settings.file));
    take("data.vocab", data.d, table->d, settings.file, number);
    take("data.length", data.L, std::optional<std::size_t>(table->columns - 1), settings.file,
         length);
    if (!table->kernels.empty()) {
      take("data.parents", data.parents, table->kernels.front().parents, settings.file, lags_text);
    }
    if (!is_given("data.train") && !is_given("data.validation")) {
      data.validation = table->rows / 10;
      data.train = table->rows - data.validation;
    } else if (!is_given("data.train")) {
      data.train = table->rows - std::min(table->rows, data.validation);
    } else if (!is_given("data.validation")) {
      data.validation = table->rows - std::min(table->rows, data.train);
    }
    data.table = table;
  }
  if (!settings.kernels.empty()) {
    if (is_given("data.prior") && data.prior.name != "file") {
      throw InputError(fmt::format("data.kernels = {}: needs data.prior = file, not {}",
                                   settings.kernels, data.prior.name));
    }
    data.prior.name = "file";
    data.prior.kernels = read_kernels(settings.kernels);
    take("data.vocab", data.d, data.prior.kernels.front().d, settings.kernels, number);
    take("data.parents", data.parents, data.prior.kernels.front().parents, settings.kernels,
         lags_text);
  } else if (data.prior.name == "file") {
    throw InputError("data.prior = file: needs data.kernels, the path of a kernel file");
  }
}

void check_settings(const Settings& settings) {
  const DataSpec& data = settings.data;
  const ModelSpec& model = settings.model;
  const int largest = data.parents.back();
  const bool shifted = model.head_window == HeadWindow::shifted;
  if (!shifted && model.M < largest) {
    throw InputError(
        fmt::format("model.window = {}: must be at least the largest lag of data.parents = {}",
                    model.M, lags_text(data.parents)));
  }
  if (data.L && *data.L <= static_cast<std::size_t>(model.reach())) {
    throw InputError(
        shifted
            ? fmt::format("data.length = {}: must be above {}, how far back {} heads with shifted "
                          "windows of {} lags see",
                          *data.L, model.reach(), model.H, model.M)
            : fmt::format("data.length = {}: must be above model.window = {}", *data.L, model.M));
  }
  if (model.H < largest || (!shifted && model.H > model.M)) {
    throw InputError(
        fmt::format("model.heads = {}: must be from {}, the largest lag of data.parents, to {}, "
                    "because head h starts at lag h",
                    model.H, largest, shifted ? "31" : fmt::format("model.window = {}", model.M)));
  }
  if (model.D > model.H) {
    throw InputError(
        fmt::format("model.degree = {}: must be at most model.heads = {}", model.D, model.H));
  }
  if (!(data.prior.floor * data.d < 1.0)) {
    throw InputError(fmt::format("data.floor = {}: must be below 1/data.vocab = {:.6g}",
                                 to_text(data.prior.floor), 1.0 / data.d));
  }
  if (!data.L && settings.prompts.positions == Positions::sequential) {
    throw InputError("loss.positions = sequential: must be last when data.length = inf");
  }
  if (!data.L && data.table) throw InputError("data.length = inf: must be finite with data.file");
  if (data.table && settings.prompts.target == Target::conditional && data.table->kernels.empty() &&
      (data.table->conditional.empty() || settings.prompts.positions == Positions::sequential)) {
    throw InputError(fmt::format("data.target = conditional: must be sampled, as {} has no kernels",
                                 settings.file));
  }
  for (std::size_t k = 0; k < settings.schedule.size(); ++k) {
    const Stage& stage = settings.schedule[k];
    const bool flow = stage.method == "flow";
    if (stage.trains.qkv && model.variant != Variant::full && model.head_norm != HeadNorm::layer) {
      throw InputError(fmt::format(
          "stage.{}.train = qkv: must be c, w or a with model.variant = simplified, which has no "
          "W_Q, W_K and W_V",
          k + 1));
    }
    if (flow && stage.epochs > 0) {
      throw InputError(
          fmt::format("stage.{}.epochs = {}: must be 0 with method flow, which lasts stage.{}.time",
                      k + 1, stage.epochs, k + 1));
    }
    if (!flow && stage.stepper != Stage().stepper) {
      throw InputError(fmt::format("stage.{}.stepper = {}: must be {} with method {}, which has none",
                                   k + 1, stage.stepper, Stage().stepper, stage.method));
    }
    if (!flow && stage.time > 0.0) {
      throw InputError(
          fmt::format("stage.{}.time = {}: must be 0 with method {}, which takes stage.{}.epochs",
                      k + 1, to_text(stage.time), stage.method, k + 1));
    }
  }
  check_data(data);
  check_model(model);
  check_prompts(data, settings.prompts);
  if (settings.init_step && settings.init_file.empty()) {
    throw InputError(fmt::format("init.step = {}:{}: needs init.file, the path of a run file",
                                 settings.init_step->first, settings.init_step->second));
  }
  if (settings.qkv.size() != 1 && settings.qkv.size() != 3) {
    throw InputError(fmt::format("init.qkv has {} numbers: must be 1, or 3 (W_Q, W_K, W_V)",
                                 settings.qkv.size()));
  }
  const std::size_t nS = model.subsets().size();
  if (settings.c.size() != 1 && settings.c.size() != nS) {
    throw InputError(fmt::format("init.c has {} numbers: must be 1, or {} (one a subset)",
                                 settings.c.size(), nS));
  }
}

Parameters initial_parameters(const Settings& settings) {
  const ModelSpec& model = settings.model;
  const std::size_t nS = model.subsets().size();
  Parameters theta = zero_parameters(model);
  if (settings.init_file.empty()) {
    theta.w.setConstant(settings.w_off);
    for (int h = 0; h < model.H; ++h) {
      const int own = model.head_window == HeadWindow::shifted ? 0 : h;
      if (own < model.M) theta.w(h, own) = settings.w_diagonal;
    }
    for (const auto& [W, i] : {std::pair(&theta.W_Q, 0), {&theta.W_K, 1}, {&theta.W_V, 2}}) {
      const std::size_t number = settings.qkv.size() == 1 ? 0 : static_cast<std::size_t>(i);
      for (Eigen::Index row = 0; row < W->rows(); ++row) {
        (*W)(row, row % model.d) = settings.qkv[number];
      }
    }
    theta.scale.setOnes();
    for (std::size_t S = 0; S < nS; ++S) {
      theta.c[static_cast<Eigen::Index>(S)] = settings.c[settings.c.size() == 1 ? 0 : S];
    }
    theta.a = settings.a;
  } else {
    const RunFile run = read_run(settings.init_file);
    theta = run.state.theta;
    if (settings.init_step) {
      const int stage = settings.init_step->first;
      const std::size_t step = settings.init_step->second;
      const auto row =
          std::find_if(run.state.log.begin(), run.state.log.end(),
                       [&](const LogRow& r) { return r.stage == stage && r.step == step; });
      if (row == run.state.log.end()) {
        throw InputError(fmt::format("init.step = {}:{}: {} has no such log row", stage, step,
                                     settings.init_file));
      }
      theta = row->theta;
    }
    if (run.model.subsets() != model.subsets()) {
      throw InputError(fmt::format("init.file = {}: its subsets are not those of this model",
                                   settings.init_file));
    }
  }
  check_parameters(model, theta);
  return theta;
}

std::string departure_from_simplified(const Settings& settings) {
  const ModelSpec& model = settings.model;
  const std::pair<bool, const char*> departures[] = {
      {model.variant != Variant::simplified, "model.variant = full: must be simplified"},
      {model.head_norm != HeadNorm::none, "model.head-norm: must be none"},
      {model.head_window != HeadWindow::common, "model.head-window = shifted: must be common"},
      {model.l2_features(), "model.feature-norm = l2: must be sqrt-C_D"},
      {model.self_score.has_value(), "model.self-attention: must be none"},
      {model.rectify, "model.rectify = true: must be false"},
      {settings.loss_kind != LossKind::cross_entropy,
       "loss.kind = softmax-cross-entropy: must be cross-entropy"},
  };
  for (const auto& [departs, what] : departures) {
    if (departs) return what;
  }
  return "";
}

void require_simplified(const Settings& settings, const std::string& who) {
  const std::string what = departure_from_simplified(settings);
  if (what.empty()) return;
  throw InputError(fmt::format("{} for {}, which is about the simplified model (2.5)", what, who));
}

double kernel_bytes(const Settings& settings) {
  if (settings.data.table) return 0.0;
  // A kernel and its running sums, and one more while it is drawn.
  const double entries = std::pow(settings.data.d, settings.data.parents.size() + 1);
  return 3.0 * sizeof(double) * entries * settings.thread_count();
}

double training_bytes(const Settings& settings) {
  double bytes = 50e6 + log_bytes(settings) + kernel_bytes(settings);  // program and libraries, log
  for (const Split split : {Split::train, Split::validation}) {
    bytes +=
        prompts_bytes(settings.data, settings.prompts, split) +
        table_engine_bytes(settings.data, settings.prompts, settings.model, settings.loss(), split);
  }
  return bytes;
}

double memory_limit(const Settings& settings) {
  return settings.memory_bytes > 0.0 ? settings.memory_bytes
                                     : settings.memory_percent / 100.0 * machine_bytes();
}

void check_memory(const Settings& settings, double bytes) {
  const double limit = memory_limit(settings);
  if (bytes > limit) {
    throw InputError(
        fmt::format("this run may need {:.3g} GB, above run.max-memory = {:.3g} GB: use fewer or "
                    "shorter sequences or a smaller vocabulary, or raise run.max-memory",
                    bytes / 1e9, limit / 1e9));
  }
}

}  // namespace gih
