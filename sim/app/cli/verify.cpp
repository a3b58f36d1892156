#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "gih/app/text.hpp"
#include "gih/base/error.hpp"
#include "gih/io/run_file.hpp"
#include "gih/memory/memory_claims.hpp"
#include "gih/theory/claims.hpp"
#include "gih/theory/gih_distance.hpp"
#include "gih/theory/growth_checks.hpp"
#include "gih/theory/growth_rates.hpp"
#include "gih/theory/run_checks.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "rates.hpp"

namespace gih::cli {
namespace {

using nlohmann::json;

/// One line of the table, whatever it came from.
struct Line {
  std::string id, statement, equation, mode, verdict, expected, note;
  double left, right, slack, ratio;
  std::size_t checked;
  bool failure;  ///< it had to come out otherwise
};

/// JSON has no infinity and no NaN: null.
json number(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

json to_json(const std::vector<Line>& lines) {
  json rows = json::array();
  for (const Line& line : lines) {
    rows.push_back({{"id", line.id},
                    {"statement", line.statement},
                    {"equation", line.equation},
                    {"mode", line.mode},
                    {"left", number(line.left)},
                    {"right", number(line.right)},
                    {"slack", number(line.slack)},
                    {"ratio", number(line.ratio)},
                    {"checked", line.checked},
                    {"verdict", line.verdict},
                    {"expected", line.expected},
                    {"failure", line.failure},
                    {"note", line.note}});
  }
  return {{"claims", rows}};
}

std::string painted(const std::string& verdict, bool failure, bool colours) {
  const char* colour = failure ? "1;31" : verdict == "PASS" ? "32" : verdict == "FAIL" ? "33" : "2";
  return colours ? fmt::format("\033[{}m{:<9}\033[0m", colour, verdict)
                 : fmt::format("{:<9}", verdict);
}

void print_lines(const std::vector<Line>& lines) {
  const bool colours = isatty(STDOUT_FILENO) == 1;
  fmt::print("{:<9} {:<7} {:<18} {:>12} {:>12} {:>10} {:>8}  {}\n", "verdict", "must be", "id",
             "left", "right", "slack", "checked", "statement");
  for (const Line& line : lines) {
    fmt::print("{} {:<7} {:<18} {:>12.5g} {:>12.5g} {:>10.2g} {:>8}  {} [{}]\n",
               painted(line.verdict, line.failure, colours),
               line.expected.empty() ? "-" : line.expected, line.id, line.left, line.right,
               line.slack, line.checked, line.statement, line.equation);
    if (!line.note.empty()) fmt::print("{:>36} {}\n", "", line.note);
  }
}

int report(const std::vector<Line>& lines, bool as_json, const std::string& closing) {
  std::size_t failures = 0;
  for (const Line& line : lines) failures += line.failure;
  if (as_json) {
    fmt::print("{}\n", to_json(lines).dump(1));
  } else {
    print_lines(lines);
    fmt::print("\n{}{}\n", closing,
               failures == 0 ? "" : fmt::format("; NOT as the theory has it: {}", failures));
  }
  return failures == 0 && !lines.empty() ? 0 : 1;
}

Line line_of(const Check& check) {
  const Verdict verdict = check.tally.verdict();
  std::string note = check.note;
  if (verdict == Verdict::skipped) note = check.tally.why();
  return {check.id,
          check.statement,
          check.equation,
          check.mode,
          verdict_name(verdict),
          check.binding ? "PASS" : "",
          note,
          check.tally.left(),
          check.tally.right(),
          check.tally.slack(),
          check.tally.ratio(),
          check.tally.checked(),
          check.binding && verdict == Verdict::fail};
}

std::vector<std::string> claim_ids(const std::string& text) {
  if (text == "all") return {};
  std::vector<std::string> known;
  for (const Claim& claim : all_claims()) known.emplace_back(claim.id);
  std::vector<std::string> ids = split(text, ',');
  for (const std::string& id : ids) {
    if (std::find(known.begin(), known.end(), id) == known.end()) {
      throw InputError(fmt::format("--claims: \"{}\" is not a claim; the nearest is \"{}\"", id,
                                   nearest_name(id, known)));
    }
  }
  return ids;
}

int verify_claims(const Arguments& arguments) {
  const std::vector<std::string> ids = claim_ids(arguments.get("claims"));
  std::vector<Line> lines;
  for (const ClaimResult& claim : check_claims(ids, Settings{}.thread_count(), all_claims())) {
    std::string note = claim.where.empty() ? "" : "least slack in: " + claim.where;
    if (!claim.expected_to_hold) note += "; as printed in the paper, known to fail";
    if (claim.counter != Verdict::fail) note += "; ITS COUNTER-EXAMPLE DID NOT FAIL";
    lines.push_back({claim.id, claim.statement, claim.equation, claim.mode,
                     verdict_name(claim.tally.verdict()), claim.expected_to_hold ? "PASS" : "FAIL",
                     note, claim.tally.left(), claim.tally.right(), claim.tally.slack(),
                     claim.tally.ratio(), claim.tally.checked(), !claim.as_expected});
  }
  const auto count = lines.size();
  return report(lines, arguments.has("json"),
                fmt::format("{} claims, each with a counter-example that must fail", count));
}

Setup setup_of(const Settings& settings, const Parameters& theta, const Arguments& arguments) {
  if (settings.data.table) {
    throw InputError("data.file: the theory needs a prior, not tokens; leave the key out");
  }
  Setup setup{settings.data,     settings.model, settings.prompts,       theta, settings.eps(),
              settings.schedule, 2000,           settings.thread_count()};
  if (arguments.has("kernels")) {
    const auto kernels = to_integer(arguments.get("kernels"));
    if (!kernels || *kernels < 2 || *kernels > 100000000) {
      throw InputError(fmt::format("--kernels {}: must be a whole number from 2 to 1e8",
                                   arguments.get("kernels")));
    }
    setup.kernels = *kernels;
  }
  return setup;
}

/// Empty when the user interrupted it.
std::optional<PriorFacts> measure(const Setup& setup) {
  watch_interrupts();
  Progress progress("measuring", "kernels", static_cast<double>(setup.kernels), 0.0, false);
  const PriorFacts facts = prior_facts(setup, [&](std::size_t finished) {
    progress.update(static_cast<double>(finished));
    return !interrupted();
  });
  if (interrupted()) {
    tell("gih: interrupted; nothing was written\n");
    return std::nullopt;
  }
  return facts;
}

std::string closing(const std::vector<Check>& conditions) {
  return conditions_hold(conditions) ? "the theorem's conditions hold here"
                                     : "the theorem's conditions do not all hold here, so its "
                                       "conclusions are reported, not demanded";
}

int verify_configuration(const Arguments& arguments) {
  const Settings settings = resolve(arguments.keys);
  require_simplified(settings, "gih verify");
  const Setup setup = setup_of(settings, initial_parameters(settings), arguments);
  const auto measured = measure(setup);
  if (!measured) return exit_interrupted;
  const PriorFacts& facts = *measured;
  const std::vector<Check> conditions = check_conditions(setup, facts);
  std::vector<Line> lines;
  for (const Check& check : conditions) lines.push_back(line_of(check));
  lines.push_back(line_of(forecast(setup, facts)));
  return report(lines, arguments.has("json"), closing(conditions));
}

/// A finished run, and what it was made from.
struct Finished {
  RunFile run;
  Setup setup;
};

Finished finished_run(const Arguments& arguments) {
  const std::string path = arguments.get("run");
  RunFile run = read_run(path);
  if (!run.complete) throw InputError(path + ": is unfinished; gih train --resume ends it");
  std::vector<Assignment> keys;
  for (const Assignment& key : read_ini(run.config, path)) {
    // The first row holds the initial parameters: the file they came from is not needed again.
    if (key.key != "init.file" && key.key != "init.step") keys.push_back(key);
  }
  const Settings settings = resolve(keys);
  require_simplified(settings, "gih verify");
  const Parameters first = run.state.log.front().theta;
  return {std::move(run), setup_of(settings, first, arguments)};
}

int verify_rates(const Arguments& arguments) {
  const auto [run, setup] = finished_run(arguments);
  print_rates(growth_rates(setup, run.state.log), setup, arguments.has("json"));
  return 0;
}

int verify_run(const Arguments& arguments) {
  const std::string path = arguments.get("run");
  const auto [run, setup] = finished_run(arguments);
  const auto measured = measure(setup);
  if (!measured) return exit_interrupted;
  const PriorFacts& facts = *measured;
  const std::vector<Check> conditions = check_conditions(setup, facts);
  std::vector<Check> checks = check_run(setup, facts, conditions, run.state.log);
  for (Check& check : check_growth(setup, facts, run.state.log)) {
    checks.push_back(std::move(check));
  }
  checks.push_back(forecast(setup, facts));
  checks.push_back(check_gih_distance(setup, run.state.theta));
  checks.insert(checks.end(), conditions.begin(), conditions.end());
  std::vector<Line> lines;
  std::vector<StoredCheck> stored;
  for (const Check& check : checks) {
    lines.push_back(line_of(check));
    const Line& line = lines.back();
    stored.push_back({line.id, line.statement, line.verdict, line.left, line.right, line.slack});
  }
  if (!arguments.has("no-save")) write_checks(path, stored);
  return report(lines, arguments.has("json"), closing(conditions));
}

/// Plain text inside a table of GitHub's Markdown: a bar would end the cell, the others would mark
/// emphasis.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '~') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

void print_list() {
  for (const Claim& claim : all_claims()) {
    fmt::print("| `{}` | {} | {} | {} | {} | {} |\n", claim.id, cell(claim.statement),
               cell(claim.equation), claim.mode == Mode::exact ? "exact" : "sampled",
               claim.holds ? "holds" : "fails as printed", cell(claim.counter_meaning));
  }
}

int run_verify(const Arguments& arguments) {
  if (arguments.has("list")) {
    fmt::print(
        "| id | statement | where | mode | expected | counter-example |\n"
        "| --- | --- | --- | --- | --- | --- |\n");
    print_list();
    return 0;
  }
  if (arguments.has("claims") + arguments.has("run") + !arguments.keys.empty() != 1) {
    throw InputError("verify needs one of --claims all, --config C.ini (or keys), --run RUN.h5");
  }
  if (arguments.has("claims") && arguments.has("kernels")) {
    throw InputError("--kernels is for --config and --run: the claims have kernels of their own");
  }
  if (arguments.has("no-save") && !arguments.has("run")) {
    throw InputError("--no-save is for --run: nothing else is saved");
  }
  if (arguments.has("rates") &&
      (!arguments.has("run") || arguments.has("kernels") || arguments.has("no-save"))) {
    throw InputError("--rates is for --run alone, with neither --kernels nor --no-save");
  }
  if (arguments.has("claims")) return verify_claims(arguments);
  if (arguments.has("rates")) return verify_rates(arguments);
  return arguments.has("run") ? verify_run(arguments) : verify_configuration(arguments);
}

}  // namespace

const Command verify_command{
    "verify",
    "checks the theory: its claims in small exact worlds, its conditions for a configuration, a "
    "run against it",
    "",
    true,
    {{"claims", "all|ID,ID", "the definitions, lemmas and theorems, each with a counter-example"},
     {"run", "RUN.h5",
      "did the training do what the theorem says; written into the file's /checks"},
     {"rates", "", "how fast did c, w and a of the run grow, beside the predicted rates"},
     {"kernels", "COUNT", "kernels of the prior for means over it (default 2000)"},
     {"no-save", "", "leave the run file as it is"},
     {"list", "", "the table of claims, in Markdown"},
     {"json", "", "one JSON document on stdout"}},
    run_verify};

}  // namespace gih::cli
