#include "information_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gih/app/text.hpp"
#include "gih/base/error.hpp"
#include "gih/memory/delta_information.hpp"
#include "gih/memory/lag_information.hpp"
#include "gih/memory/memory_information.hpp"

namespace gih::cli {
namespace {

using json = nlohmann::ordered_json;

constexpr double most_sequences = 1048576.0;
constexpr double most_lag_work = 1e11;  // additions, about a nanosecond each

struct NamedSnapshot {
  const char* name;
  Snapshot kind;
};
constexpr NamedSnapshot snapshots[] = {
    {"full", Snapshot::full},       {"counts", Snapshot::counts},     {"blocks", Snapshot::blocks},
    {"largest", Snapshot::largest}, {"decimate", Snapshot::decimate}, {"table", Snapshot::table}};

const char* name_of(DeltaMethod method) {
  switch (method) {
    case DeltaMethod::enumeration:
      return "all sequences";
    case DeltaMethod::counts:
      return "token counts";
    case DeltaMethod::table:
      return "transition tables";
    case DeltaMethod::automatic:
      break;
  }
  return "automatic";
}

/// The option's whole number.
int number(const Arguments& arguments, const char* option, int least, int most, int otherwise) {
  if (!arguments.has(option)) return otherwise;
  const auto value = to_integer(arguments.get(option));
  if (!value || *value < static_cast<std::uint64_t>(least) ||
      *value > static_cast<std::uint64_t>(most)) {
    throw InputError(fmt::format("--{} = {}: must be a whole number from {} to {}", option,
                                 arguments.get(option), least, most));
  }
  return static_cast<int>(*value);
}

std::vector<Kernel> kernels_of(const DataSpec& data, std::size_t count) {
  std::vector<Kernel> kernels;
  for (std::size_t i = 0; i < count; ++i) {
    kernels.push_back(sequence_kernel(data, Split::train, i));
  }
  return kernels;
}

/// The law over sequences and its name: the kernels of a file, those that are drawn when a number
/// is given, or else the prior itself, which must be Dirichlet.
struct Named {
  SequenceLaw law;
  std::string name;
};
Named law_of(const Arguments& arguments, const DataSpec& data, std::size_t kernels) {
  if (arguments.has("kernels") || data.table || data.prior.name == "file") {
    return {SequenceLaw::kernels(kernels_of(data, kernels)),
            kernels == 1
                ? "one kernel, from its long-run law"
                : fmt::format("mixture of {} kernels, each from its long-run law", kernels)};
  }
  if (data.prior.name != "dirichlet" || data.prior.floor > 0.0) {
    throw InputError(
        fmt::format("data.prior = {}, data.floor = {}: a mixture over a whole prior must be "
                    "dirichlet with floor 0; give --kernels for a mixture of that many kernels",
                    data.prior.name, to_text(data.prior.floor)));
  }
  return {SequenceLaw::dirichlet(data.d, data.parents, data.prior.alpha),
          fmt::format("Dirichlet({}) mixture, first {} uniform", to_text(data.prior.alpha),
                      data.parents.back() == 1 ? std::string("token")
                                               : fmt::format("{} tokens", data.parents.back()))};
}

int print_lag(const Arguments& arguments, const DataSpec& data, std::size_t kernels) {
  const int lags = number(arguments, "lag", 1, 100000, 1);
  const double work = std::pow(data.d, data.parents.back() + 2) * lags;
  if (work * static_cast<double>(kernels) > most_lag_work) {
    throw InputError(fmt::format(
        "{} kernels x {} lags x d^(r+2) are {:.3g} steps: must be at most {:.3g}; {}", kernels,
        lags, work * static_cast<double>(kernels), most_lag_work,
        work <= most_lag_work ? fmt::format("--kernels {:.0f} is feasible", most_lag_work / work)
                              : std::string("use fewer lags")));
  }
  const LagInformation found = lag_information(kernels_of(data, kernels), lags);
  if (arguments.has("json")) {
    const bool one = kernels == 1;
    fmt::print("{}\n", json{{"kernels", kernels},
                            {"mutual", found.mutual},
                            {"chi_square", found.chi_square},
                            {"lambda_2", one ? json(found.lambda_2) : json()},
                            {"slope", one ? json(found.slope) : json()},
                            {"plateau", found.plateau}}
                           .dump(1));
    return 0;
  }
  fmt::print("information of two tokens a lag apart, {}, stationary, nats\n\n",
             kernels == 1 ? std::string("one kernel") : fmt::format("mean of {} kernels", kernels));
  fmt::print("{:>6} {:>16} {:>16}\n", "lag", "mutual", "chi-square");
  for (std::size_t i = 0; i < found.mutual.size(); ++i) {
    fmt::print("{:>6} {:>16.9g} {:>16.9g}\n", i + 1, found.mutual[i], found.chi_square[i]);
  }
  if (kernels == 1) {
    fmt::print(
        "\n|lambda_2| {:.9g}: log of the mutual information falls by {:.6f} a lag in the end"
        "{}\n",
        found.lambda_2, -2.0 * std::log(found.lambda_2),
        found.slope < 0.0
            ? fmt::format("; over the last half of these lags by {:.6f}", -found.slope)
            : "");
  } else {
    fmt::print("\nat infinite lag {:.9g}: two tokens of one sequence tell of its kernel\n",
               found.plateau);
  }
  return 0;
}

int print_delta(const Arguments& arguments, const DataSpec& data, std::size_t kernels) {
  const int n = number(arguments, "delta", 1, 100000, 1);
  if (n <= data.parents.back()) {
    throw InputError(fmt::format("--delta = {}: must be at least {}, one more than the largest lag",
                                 n, data.parents.back() + 1));
  }
  SnapshotSpec snapshot;
  const std::string kind = arguments.get("snapshot", "counts");
  const auto row = std::find_if(std::begin(snapshots), std::end(snapshots),
                                [&](const NamedSnapshot& of) { return kind == of.name; });
  if (row == std::end(snapshots)) {
    throw InputError(fmt::format(
        "--snapshot = {}: must be full, counts, blocks, largest, decimate or table", kind));
  }
  snapshot.kind = row->kind;
  snapshot.block = number(arguments, "block", 1, 1000, snapshot.block);
  const int largest_k =
      number(arguments, "local", 0, n - 1, std::min(n - 1, data.parents.back() + 2));
  const Named of = law_of(arguments, data, kernels);
  const DeltaInformation found = delta_information(of.law, snapshot, n, largest_k);
  if (arguments.has("json")) {
    fmt::print("{}\n", json{{"n", n},
                            {"snapshot", kind},
                            {"delta", found.delta},
                            {"conditional_entropy", found.conditional},
                            {"method", name_of(found.method)},
                            {"states", found.states}}
                           .dump(1));
    return 0;
  }
  fmt::print("I(x_{}; {} of x_1 .. x_{} | last k), {}, nats\n\n", n + 1, kind, n, of.name);
  fmt::print("{:>6} {:>16} {:>16}\n", "k", "Delta I", "H(x | last k)");
  for (std::size_t k = 0; k < found.delta.size(); ++k) {
    const double delta = std::abs(found.delta[k]) < 5e-13 ? 0.0 : found.delta[k];  // never -0.000
    fmt::print("{:>6} {:>16.12f} {:>16.12f}\n", k, delta, found.conditional[k]);
  }
  fmt::print("\nexact, by {}: {:.0f} states\n", name_of(found.method), found.states);
  return 0;
}

struct Shown {
  const char* name;
  double Conditions::*value;
  const char* meaning;
};
constexpr Shown shown[] = {
    {"coherence_printed", &Conditions::coherence_printed,
     "1 as printed: largest I(x_i; x_j | x_k), i and j in one segment, k in another"},
    {"coherence_boundary", &Conditions::coherence_boundary,
     "1 as meant: largest I(x_i; x_j | last r tokens of the segment of i)"},
    {"within_over_cross", &Conditions::within_over_cross,
     "1 as a ratio: mean information within segments over that across"},
    {"representativeness", &Conditions::representativeness, "2: H(S | s) / H(S)"},
    {"task", &Conditions::task, "2 for the next token: I(x; S | s, local) / I(x; S | local)"},
    {"flow", &Conditions::flow, "3: I(S_1; S_3 | s_2)"},
    {"overlap_one", &Conditions::overlap_one, "4: I(x_i; x_j | one token between)"},
    {"overlap_r", &Conditions::overlap_r, "4: I(x_i; x_j | r tokens between)"},
    {"retention", &Conditions::retention, "4: I(s; O) / H(O), O the last r tokens of a segment"},
    {"decreasing", &Conditions::decreasing, "5: share of lags at which the information falls"}};

int print_conditions(const Arguments& arguments, const DataSpec& data, std::size_t kernels) {
  const int n = number(arguments, "conditions", 1, 100, 1);
  const double most_tokens = std::log(most_sequences) / std::log(data.d) + 1e-9;
  if (3 * n > most_tokens) {
    throw InputError(fmt::format(
        "--conditions = {}: all {}^{} sequences would be summed over: must be at most {:.0f}", n,
        data.d, 3 * n, std::floor(most_tokens / 3.0)));
  }
  const Named of = law_of(arguments, data, kernels);
  const Conditions found = conditions(of.law, n, static_cast<std::size_t>(most_sequences));
  if (arguments.has("json")) {
    json answer{{"n", n}};
    for (const Shown& one : shown) answer[one.name] = found.*one.value;
    fmt::print("{}\n", answer.dump(1));
    return 0;
  }
  fmt::print("three segments of {} tokens, s their token counts, {}, nats\n\n", n, of.name);
  for (const Shown& one : shown) fmt::print("{:>16.9g}  {}\n", found.*one.value, one.meaning);
  return 0;
}

}  // namespace

std::vector<Option> memory_information_options() {
  return {
      {"lag", "LAGS", "instead: information of two tokens 1 .. LAGS apart"},
      {"delta", "N", "instead: what a snapshot of N tokens adds to the last k of them"},
      {"snapshot", "KIND", "of --delta: full, counts, blocks, largest, decimate or table [counts]"},
      {"block", "TOKENS", "of --snapshot blocks, largest and decimate [4]"},
      {"local", "K", "of --delta: k = 0 .. K [largest lag + 2]"},
      {"conditions", "N", "instead: whether segments of N tokens can stand for them"}};
}

std::optional<int> memory_information(const Arguments& arguments, const Settings& settings,
                                      std::size_t kernels) {
  const bool lag = arguments.has("lag"), delta = arguments.has("delta"),
             segments = arguments.has("conditions");
  if (lag + delta + segments > 1) {
    throw InputError("--lag, --delta and --conditions exclude each other");
  }
  for (const char* option : {"snapshot", "block", "local"}) {
    if (arguments.has(option) && !delta) {
      throw InputError(
          fmt::format("--{} = {}: goes with --delta N", option, arguments.get(option)));
    }
  }
  if (lag) return print_lag(arguments, settings.data, kernels);
  if (delta) return print_delta(arguments, settings.data, kernels);
  if (segments) return print_conditions(arguments, settings.data, kernels);
  return std::nullopt;
}

}  // namespace gih::cli
