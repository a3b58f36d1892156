// gih information: which subset the criterion (3.1) chooses, by how much, and how surely.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli.hpp"
#include "gih/app/text.hpp"
#include "gih/base/error.hpp"
#include "information_memory.hpp"
#include "information_report.hpp"
#include "interrupt.hpp"
#include "progress.hpp"

namespace gih::cli {
namespace {

constexpr std::size_t default_kernels = 2000;
/// Additions and multiplications, about a nanosecond each.
constexpr double most_work = 1e12, most_weighted_work = 2e11;

/// --kernel, --window, --degree and --subsets are short for keys, and come last.
Settings settings_of(const Arguments& arguments) {
  std::vector<Assignment> keys = arguments.keys;
  const auto pass = [&](const char* option, std::initializer_list<const char*> names) {
    if (!arguments.has(option)) return;
    for (const char* name : names) {
      keys.push_back({name, arguments.get(option), fmt::format("--{}", option)});
    }
  };
  if (arguments.has("kernel")) keys.push_back({"data.prior", "file", "--kernel"});
  pass("kernel", {"data.kernels"});
  pass("window", {"model.window", "model.heads"});
  pass("degree", {"model.degree"});
  pass("subsets", {"model.subsets"});
  return resolve(keys);
}

/// Number of kernels: --kernels of a law that is drawn from, every one of a file.
std::size_t kernels_of(const Arguments& arguments, const DataSpec& data) {
  std::size_t listed = 0;
  if (data.table) {
    listed = data.train;
  } else if (data.prior.name == "file") {
    listed = data.prior.kernels.size();
  }
  if (!arguments.has("kernels")) return listed > 0 ? listed : default_kernels;
  const auto count = to_integer(arguments.get("kernels"));
  const std::size_t most = listed > 0 ? listed : 1000000000;
  if (!count || *count < 1 || *count > most) {
    throw InputError(fmt::format("--kernels = {}: must be a whole number from 1 to {}{}",
                                 arguments.get("kernels"), most,
                                 listed > 0 ? ", as many as the file has" : ""));
  }
  return *count;
}

}  // namespace

void check_effort(const Settings& settings, std::size_t kernels) {
  const ModelSpec& model = settings.model;
  check_law_size(model.d, model.M);
  const double entries = std::pow(model.d, model.M + 1);
  const auto nS = static_cast<double>(model.subsets().size());
  const double work = entries * nS;
  if (work * static_cast<double>(kernels) > most_work) {
    const double feasible = std::floor(most_work / work);
    throw InputError(
        fmt::format("{} kernels x {} subsets x d^(M+1) = {:.3g} entries are {:.3g} steps: must be "
                    "at most {:.3g}; {}",
                    kernels, nS, entries, work * static_cast<double>(kernels), most_work,
                    feasible >= 1.0 ? fmt::format("--kernels {} is feasible", feasible)
                                    : std::string("use a smaller window or degree")));
  }
  const auto threads = static_cast<double>(
      std::min<std::size_t>(static_cast<std::size_t>(settings.thread_count()), kernels));
  check_memory(settings, 50e6 + 40.0 * nS * static_cast<double>(kernels) +
                             threads * entries * 36.0 + 300.0 * static_cast<double>(kernels));
}

namespace {

Choice finite_of(const Settings& settings, const Parameters& theta, bool quiet) {
  if (!settings.data.L) {
    throw InputError("--finite: data.length = inf: must be a finite length");
  }
  const DataSpec& data = settings.data;
  const auto nS = static_cast<double>(theta.c.size());
  const double prompts_size = prompts_bytes(data, settings.prompts, Split::train);
  check_memory(settings, 50e6 + prompts_size + 16.0 * nS * static_cast<double>(data.train));
  Prompts prompts;
  {
    Progress progress("drawing", "sequences", static_cast<double>(data.train), 0.0, quiet);
    prompts = build_prompts(data, settings.prompts, Split::train, settings.thread_count(),
                            [&](std::size_t finished) {
                              progress.update(static_cast<double>(finished));
                              return !interrupted();
                            });
  }
  if (interrupted()) return {};
  return finite_information(prompts, data.train, settings.model, theta.w, settings.eps());
}

int run_information(const Arguments& arguments) {
  InformationReport report;
  report.settings = settings_of(arguments);
  const Settings& settings = report.settings;
  report.kernels = kernels_of(arguments, settings.data);
  if (const auto status = memory_information(arguments, settings, report.kernels)) return *status;
  require_simplified(settings, "gih information");
  report.model = settings.model;
  check_effort(settings, report.kernels);
  const Parameters theta = initial_parameters(settings);
  const double weighted = weighted_work(report.model) * static_cast<double>(report.kernels);
  if (weighted > most_weighted_work) {
    report.not_weighted = fmt::format(
        "it would take {:.3g} steps, at most {:.3g} are taken; use a smaller "
        "window or degree or fewer --kernels",
        weighted, most_weighted_work);
  }
  watch_interrupts();
  const bool quiet = arguments.has("quiet");
  if (arguments.has("finite")) report.finite = finite_of(settings, theta, quiet);
  {
    Progress progress("measuring", "kernels", static_cast<double>(report.kernels), 0.0,
                      quiet || report.kernels == 1);
    report.prior = prior_information(
        settings.data, report.model, report.not_weighted.empty() ? &theta.w : nullptr,
        report.kernels, settings.thread_count(), [&](std::size_t finished) {
          progress.update(static_cast<double>(finished));
          return !interrupted();
        });
  }
  if (interrupted()) {
    fmt::print(stderr, "gih: interrupted\n");
    return exit_interrupted;
  }
  if (report.kernels == 1) {
    report.chain = mixing(sequence_kernel(settings.data, Split::train, 0), true);
  } else {
    report.chains = prior_mixing(settings.data, report.kernels, settings.thread_count());
  }
  fmt::print("{}", arguments.has("json") ? information_json(report) : information_text(report));
  return 0;
}

std::vector<Option> all_options() {
  std::vector<Option> all{
      {"kernel", "FILE", "one kernel, or several (then their mean), from JSON or a data file"},
      {"kernels", "COUNT", "kernels drawn from the prior [2000]"},
      {"window", "M", "short for model.window and model.heads"},
      {"degree", "D", "short for model.degree"},
      {"subsets", "RULE", "short for model.subsets: at-most or exactly"},
      {"finite", "", "also what gradient descent sees at finite length, from data.train sequences"},
      {"json", "", "one JSON document on stdout"},
      {"quiet,q", "", "no progress"}};
  for (const Option& option : memory_information_options()) all.push_back(option);
  return all;
}

}  // namespace

const Command information_command{
    "information",
    "prints standard and modified chi-square information of every subset, S* and the gap; or what "
    "the past tells of a token",
    "",
    true,
    all_options(),
    run_information};

}  // namespace gih::cli
