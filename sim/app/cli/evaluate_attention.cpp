#include "evaluate_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluate_estimators.hpp"
#include "gih/model/reference_engine.hpp"
#include "gih/theory/estimators.hpp"

namespace gih::cli {
namespace {

using nlohmann::json;

struct Attention {
  std::span<const Token> prompt;
  std::vector<Matrix> heads;  ///< first layer
  ReferenceTrace trace;       ///< second layer
  GihAttention gih;
  double on_matches = 0.0;  ///< share of the second layer's attention
};

Attention attention(const DataSpec& data, const ParameterFile& parameters, Subset S,
                    std::size_t i) {
  const ModelSpec& model = parameters.model;
  const auto row = data.table->row(i);
  const auto prompt = row.first(row.size() - 1);
  Attention found{prompt, reference_head_attention(model, parameters.theta, prompt),
                  reference_trace(model, parameters.theta, prompt),
                  gih_attention(prompt, S, model.reach())};
  for (const std::size_t l : found.gih.matches) {
    found.on_matches += found.trace.sigma[static_cast<Eigen::Index>(l) - 1];
  }
  return found;
}

/// The lags in the order of the columns of a head's weights.
std::vector<int> lags_of(const ModelSpec& model, int h) {
  std::vector<int> lags;
  for (int i = 0; i < model.M; ++i) lags.push_back(model.lag(h, i));
  if (model.self_score) lags.push_back(0);
  return lags;
}

std::vector<double> numbers(const Eigen::VectorXd& v) {
  return {v.begin(), v.end()};
}

/// JSON has no NaN: a masked position's score is null.
json scores_json(const Eigen::VectorXd& s) {
  json scores = json::array();
  for (const double s_l : s) scores.push_back(std::isnan(s_l) ? json() : json(s_l));
  return scores;
}

std::vector<std::string> codes(const ModelSpec& model) {
  std::vector<std::string> all;
  for (const Subset S : model.subsets()) all.push_back(subset_code(S, model.blocks()));
  return all;
}

/// The positions that the model attends to most, falling; of equal ones the first.
std::vector<std::size_t> most_attended(const Eigen::VectorXd& sigma, std::size_t count) {
  std::vector<std::size_t> order(static_cast<std::size_t>(sigma.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    return sigma[static_cast<Eigen::Index>(x)] > sigma[static_cast<Eigen::Index>(y)];
  });
  order.resize(std::min(count, order.size()));
  return order;
}

/// The tokens at the lags 1 .. M of a position counted from 0, as far as there are any.
std::string window_text(std::span<const Token> prompt, std::size_t l, int M) {
  std::string text;
  for (std::size_t lag = 1; lag <= static_cast<std::size_t>(M) && lag <= l; ++lag) {
    text += fmt::format(" {}", prompt[l - lag]);
  }
  return text;
}

void print_prompt(const Attention& found, const ModelSpec& model, Subset S, std::size_t i) {
  const std::size_t L = found.prompt.size();
  fmt::print("attention of prompt {}: {} of {} positions match on {} and hold {:.6f}\n", i + 1,
             found.gih.matches.size(), L - static_cast<std::size_t>(model.reach()),
             subset_code(S, model.reach()), found.on_matches);
  fmt::print("{:>8} {:>5} {:>10} {:>10} {:>10}  tokens at lags 1 to {}\n", "l", "x_l", "s_l",
             "sigma_l", "gih", model.reach());
  fmt::print("{:>8} {:>5} {:>10} {:>10} {:>10} {}\n", "query", "", "", "", "",
             window_text(found.prompt, L, model.reach()));
  for (const std::size_t l : most_attended(found.trace.sigma, 10)) {
    const auto at = static_cast<Eigen::Index>(l);
    fmt::print("{:>8} {:>5} {:>10.6f} {:>10.6f} {:>10.6f} {}\n", l + 1, found.prompt[l],
               found.trace.s[at], found.trace.sigma[at], found.gih.weights[at],
               window_text(found.prompt, l, model.reach()));
  }
}

}  // namespace

json attention_json(const DataSpec& data, const ParameterFile& parameters, Subset S) {
  const ModelSpec& model = parameters.model;
  json answer{{"subsets", codes(model)},
              {"p", numbers(parameters.theta.p())},
              {"lags", json::array()},
              {"prompts", json::array()}};
  for (int h = 0; h < model.H; ++h) answer["lags"].push_back(lags_of(model, h));
  for (std::size_t i = 0; i < data.table->rows; ++i) {
    const Attention found = attention(data, parameters, S, i);
    json heads = json::array();
    for (const Matrix& weights : found.heads) heads.push_back(to_json(weights));
    answer["prompts"].push_back(
        {{"tokens", std::vector<Token>(found.prompt.begin(), found.prompt.end())},
         {"heads", heads},
         {"s", scores_json(found.trace.s)},
         {"sigma", numbers(found.trace.sigma)},
         {"y", numbers(found.trace.y)},
         {"gih", numbers(found.gih.weights)},
         {"matches", found.gih.matches},
         {"on_matches", found.on_matches}});
  }
  return answer;
}

void print_attention(const DataSpec& data, const ParameterFile& parameters, Subset S,
                     std::size_t shown) {
  const ModelSpec& model = parameters.model;
  const std::vector<std::string> names = codes(model);
  const Eigen::VectorXd p = parameters.theta.p();
  for (std::size_t k = 0; k < names.size(); ++k) {
    fmt::print("p_{} {:.6f}\n", names[k], p[static_cast<Eigen::Index>(k)]);
  }
  for (std::size_t i = 0; i < std::min(shown, data.table->rows); ++i) {
    const Attention found = attention(data, parameters, S, i);
    for (int h = 0; i == 0 && h < model.H; ++h) {
      // The query has no content, so its weights are the same for every prompt of this length.
      const std::vector<int> lags = lags_of(model, h);
      fmt::print("head {} attends from the query to", h + 1);
      for (std::size_t column = 0; column < lags.size(); ++column) {
        fmt::print(
            "  lag {} {:.6f}", lags[column],
            found.heads[static_cast<std::size_t>(h)](static_cast<Eigen::Index>(found.prompt.size()),
                                                     static_cast<Eigen::Index>(column)));
      }
      fmt::print("\n");
    }
    print_prompt(found, model, S, i);
  }
}

}  // namespace gih::cli
