#include "information_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace gih::cli {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t most_rho_shown = 1000;

/// The fields that a choice has in common with another; `prefix` tells them apart.
void add_lead(json& answer, const InformationReport& report, const Lead& lead,
              const std::string& prefix) {
  const bool alone = lead.behind.size() < 2;
  answer[prefix + "S_star"] = report.code(lead.S_star);
  answer[prefix + "runner_up"] = alone ? json() : json(report.code(lead.runner_up));
  answer[prefix + "gap"] = alone ? json() : json(lead.gap);
  answer[prefix + "gap_error"] = alone ? json() : json(lead.gap_error);
  answer[prefix + "decided"] = lead.decided;
  answer[prefix + "tie"] = lead.tie;
}

}  // namespace

std::string information_json(const InformationReport& report) {
  const Information& information = report.prior.information;
  json codes = json::array();
  for (std::size_t S = 0; S < information.subsets.size(); ++S) codes.push_back(report.code(S));
  json answer{{"subsets", codes},
              {"kernels", report.kernels},
              {"modified", information.modified},
              {"modified_error", information.modified_error},
              {"standard", information.standard},
              {"standard_error", information.standard_error}};
  add_lead(answer, report, information, "");
  answer["weighted"] = nullptr;
  if (report.not_weighted.empty()) {
    answer["weighted"] = report.prior.weighted.mean;
    answer["weighted_error"] = report.prior.weighted.error;
    add_lead(answer, report, report.prior.weighted, "weighted_");
  }
  if (report.finite) {
    answer["finite"] = report.finite->mean;
    answer["finite_error"] = report.finite->error;
    answer["finite_sequences"] = report.settings.data.train;
    add_lead(answer, report, *report.finite, "finite_");
  }
  if (report.chain) {
    const Mixing& chain = *report.chain;
    answer["gamma"] = chain.gamma;
    answer["lambda"] = chain.lambda;  // what is infinite or not known becomes null
    answer["Lambda"] = chain.Lambda;
    answer["rho"] = std::vector<double>(
        chain.rho.begin(), chain.rho.begin() + static_cast<std::ptrdiff_t>(
                                                   std::min(chain.rho.size(), most_rho_shown)));
    answer["classes"] = chain.recurrent_classes;
    answer["periods"] = chain.periods;
    answer["stationary"] = chain.stationary;
    answer["assumption_holds"] = chain.holds();
  } else {
    const PriorMixing& chains = report.chains;
    answer["gamma"] = chains.gamma;
    answer["lambda"] = chains.lambda;
    answer["lambda_median"] = chains.lambda_median;
    answer["share_lambda_above_0.99"] = chains.share_lambda_above_099;
    answer["share_breaking_assumption"] = chains.share_breaking;
    answer["Lambda"] = answer["rho"] = answer["stationary"] = nullptr;
    answer["classes"] = chains.recurrent_classes;
  }
  return answer.dump(1) + "\n";
}

namespace {

std::string with_error(double value, double error, bool errors) {
  return errors ? fmt::format("{:.6f} +- {:.6f}", value, error) : fmt::format("{:.12f}", value);
}

std::string words(const InformationReport& report, const Lead& lead, bool exact, const char* more) {
  const std::string name = report.code(lead.S_star);
  if (lead.behind.size() < 2) return fmt::format("{}, the only subset", name);
  if (lead.tie) {
    std::string equal = name;
    for (std::size_t S = 0; S < lead.behind.size(); ++S) {
      if (S != lead.S_star && lead.behind[S] == 0.0 && lead.behind_error[S] == 0.0) {
        equal += ", " + report.code(S);
      }
    }
    return fmt::format("tie of {}: equal up to rounding", equal);
  }
  return fmt::format("{}, ahead of {} by {}: {}", name, report.code(lead.runner_up),
                     with_error(lead.gap, lead.gap_error, !exact),
                     lead.decided
                         ? (exact ? "decided (no sampling error)"
                                  : "decided (every lead is above 3 standard errors)")
                         : fmt::format("UNDECIDED, a lead is below 3 standard errors: {}", more));
}

void add_row(std::string& text, const char* name, const std::string& value) {
  text += fmt::format("{:<40} {}\n", name, value);
}

/// Said beside a law that no other start need lead to.
constexpr const char* mixture_note =
    "; then the law is the mixture over them that a uniform start ends in";

void add_chains(std::string& text, const PriorMixing& chains) {
  add_row(text, "gamma (smallest entry of all kernels)", fmt::format("{:.6g}", chains.gamma));
  add_row(
      text, "|lambda_2|",
      std::isfinite(chains.lambda)
          ? fmt::format("median {:.6f}, largest {:.6f}; above 0.99 in {:.1f} %",
                        chains.lambda_median, chains.lambda, 100.0 * chains.share_lambda_above_099)
          : std::string("not computed: too many kernels of too many states"));
  add_row(text, "recurrent classes",
          fmt::format("{} at most{}", chains.recurrent_classes,
                      chains.recurrent_classes > 1 ? mixture_note : ""));
  add_row(text, "Assumption 3.5 (primitive, gamma > 0)",
          fmt::format("broken by {:.1f} % of the kernels", 100.0 * chains.share_breaking));
}

void add_chain(std::string& text, const Mixing& chain) {
  add_row(text, "gamma (smallest entry)", fmt::format("{:.12g}", chain.gamma));
  add_row(text, "|lambda_2|",
          std::isfinite(chain.lambda) ? fmt::format("{:.12f}", chain.lambda)
                                      : std::string("not computed: the chain has too many states"));
  std::string Lambda = "infinite: the long-run law is not unique or has zeros";
  if (std::isfinite(chain.Lambda)) {
    Lambda = fmt::format("{:.12f} ({} terms)", chain.Lambda, chain.rho.size());
  } else if (!chain.rho.empty()) {
    Lambda = fmt::format("not summed: rho_i = {:.3g} after {} terms", chain.rho.back(),
                         chain.rho.size());
  }
  add_row(text, "Lambda = sum of rho_i", Lambda);
  add_row(text, "recurrent classes (their periods)",
          fmt::format("{} ({}){}", chain.recurrent_classes, fmt::join(chain.periods, ", "),
                      chain.recurrent_classes > 1 ? mixture_note : ""));
  add_row(text, "Assumption 3.5 (primitive, gamma > 0)", chain.holds() ? "holds" : "is broken");
}

/// One row a subset, the winner first.
void add_table(std::string& text, const InformationReport& report) {
  const Information& information = report.prior.information;
  const Choice& weighted = report.prior.weighted;
  const bool errors = report.kernels > 1;
  const int width = errors ? 22 : 16;
  const int name_width = std::max(6, report.model.H);
  text += fmt::format("{:<{}} {:>{}} {:>{}} {:>{}}", "subset", name_width, "modified", width,
                      "standard", width, "behind S*", width);
  if (report.not_weighted.empty()) text += fmt::format(" {:>{}}", "weighted", width);
  if (report.finite) text += fmt::format(" {:>22}", "finite length");
  text += "\n";
  std::vector<std::size_t> order(information.subsets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    return information.behind[one] < information.behind[other];
  });
  for (const std::size_t S : order) {
    const auto column = [&](double value, double error) {
      text += fmt::format(" {:>{}}", with_error(value, error, errors), width);
    };
    text += fmt::format("{:<{}}", report.code(S), name_width);
    column(information.modified[S], information.modified_error[S]);
    column(information.standard[S], information.standard_error[S]);
    column(information.behind[S], information.behind_error[S]);
    if (report.not_weighted.empty()) column(weighted.mean[S], weighted.error[S]);
    if (report.finite) {
      text +=
          fmt::format(" {:>22}", with_error(report.finite->mean[S], report.finite->error[S], true));
    }
    text += "\n";
  }
}

}  // namespace

std::string information_text(const InformationReport& report) {
  const DataSpec& data = report.settings.data;
  const bool exact = report.kernels == 1;
  const char* const more = "use more --kernels";
  std::string text = fmt::format(
      "{} kernel{} ({}), d = {}, parents {}, subsets of {} {} of {} lags\n\n", report.kernels,
      exact ? "" : "s", data.table ? "of the data file" : data.prior.name, data.d,
      fmt::join(data.parents, ","),
      report.model.rule == SubsetRule::at_most ? "at most" : "exactly", report.model.D,
      report.model.H);
  add_table(text, report);
  text += fmt::format("\nS* = {}\n", words(report, report.prior.information, exact, more));
  text += report.not_weighted.empty()
              ? fmt::format("at these w, L = inf: {}\n",
                            words(report, report.prior.weighted, exact, more))
              : fmt::format("weighted information left out: {}\n", report.not_weighted);
  if (report.finite) {
    text += fmt::format("at these w, L = {}, eps = {:.6g}, {} sequences: {}\n", *data.L,
                        report.settings.eps(), data.train,
                        words(report, *report.finite, false, "use more sequences (data.train)"));
  }
  text += "\n";
  if (report.chain) {
    add_chain(text, *report.chain);
  } else {
    add_chains(text, report.chains);
  }
  return text;
}

}  // namespace gih::cli
