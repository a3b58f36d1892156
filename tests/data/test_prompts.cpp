#include "gih/data/prompts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "gih/base/error.hpp"
#include "gih/data/chain.hpp"
#include "support/chain_cases.hpp"

using namespace gih;

namespace {

using Tokens = std::vector<Token>;
/// (window with the nearest lag first, next token) -> weight.
using NaiveCells = std::map<std::pair<Tokens, Token>, double>;

/// min(l - 1, M) lags of position l (from 1), nearest first.
Tokens window_of(const Tokens& x, std::size_t l, std::size_t M) {
  Tokens lags;
  for (std::size_t i = 1; i <= std::min(l - 1, M); ++i) lags.push_back(x[l - i - 1]);
  return lags;
}

/// The cells of the prompt x_1 .. x_L, counted position by position.
NaiveCells count_cells(const Tokens& x, std::size_t L, std::size_t M, bool mask) {
  NaiveCells cells;
  for (std::size_t l = mask ? M + 1 : 1; l <= L; ++l) cells[{window_of(x, l, M), x[l - 1]}] += 1.0;
  return cells;
}

/// Compares the cells of one prompt; returns how many.
std::size_t compare_cells(const Prompts& prompts, std::size_t prompt, const NaiveCells& naive) {
  const WindowCodes codes(prompts.d, prompts.M);
  const auto cells = prompts.cells_of(prompt);
  REQUIRE(cells.size() == naive.size());
  bool ascending = true;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) {
      ascending = ascending && std::pair{cells[i - 1].window, cells[i - 1].next} <
                                   std::pair{cells[i].window, cells[i].next};
    }
    const auto found = naive.find({codes.decode(cells[i].window), cells[i].next});
    REQUIRE(found != naive.end());
    REQUIRE(cells[i].weight == found->second);
  }
  CHECK(ascending);
  return cells.size();
}

double sum_of_weights(const Prompts& prompts) {
  return std::accumulate(
      prompts.questions.begin(), prompts.questions.end(), 0.0,
      [](double sum, const Question& question) { return sum + question.weight; });
}

/// Checks all prompts of a split against counts from the tokens; returns the questions checked.
std::size_t compare_with_tokens(const DataSpec& data, const PromptSpec& spec, Split split) {
  const Prompts prompts = build_prompts(data, spec, split, 2);
  const WindowCodes codes(data.d, spec.M);
  const std::size_t L = *data.L;
  const auto M = static_cast<std::size_t>(spec.M);
  const bool sequential = spec.positions == Positions::sequential;
  const std::size_t first = sequential ? M + 1 : L;
  std::size_t at = 0;
  for (std::size_t i = 0; i < data.count(split); ++i) {
    const Kernel kernel = sequence_kernel(data, split, i);
    Tokens x(L + 1);
    draw_sequence(data, kernel, split, i, x);
    for (std::size_t l = first; l <= L; ++l, ++at) {  // x_{l+1} is predicted from x_1 .. x_l
      REQUIRE(at < prompts.questions.size());
      const Question& question = prompts.questions[at];
      REQUIRE(question.prompt == at);
      compare_cells(prompts, at, count_cells(x, l, M, spec.mask));
      const Tokens query = window_of(x, l + 1, M);
      REQUIRE(question.query == codes.encode(query));
      const double share = 1.0 / static_cast<double>(data.count(split) * (L - first + 1));
      REQUIRE(std::abs(question.weight - share) <= 1e-15 * share);
      if (spec.target == Target::sampled) {
        REQUIRE(question.soft == -1);
        REQUIRE(question.target == x[l]);
      } else {
        const auto exact = kernel.row(kernel.parent_code(query));
        const auto law = prompts.target_law(question);
        REQUIRE(std::equal(law.begin(), law.end(), exact.begin(), exact.end()));
      }
    }
  }
  CHECK(prompts.d == data.d);
  CHECK(prompts.M == spec.M);
  CHECK(prompts.questions.size() == at);
  CHECK(prompts.count() == at);
  CHECK(prompts.first_cell.back() == prompts.cells.size());
  CHECK(std::abs(sum_of_weights(prompts) - 1.0) <= 1e-13);
  return at;
}

struct Shape {
  int d;
  std::vector<int> parents;
  int M;
  std::size_t L;
};

/// The last one has too many windows for a dense table of counts.
const std::vector<Shape> shapes{
    {3, {1, 2}, 3, 20}, {2, {1, 3}, 4, 9}, {3, {1}, 1, 2}, {10, {1, 3}, 5, 30}};

DataSpec data_of(const Shape& shape, std::size_t train = 70, std::size_t validation = 9) {
  DataSpec data;
  data.d = shape.d;
  data.parents = shape.parents;
  data.L = shape.L;
  data.train = train;
  data.validation = validation;
  return data;
}

/// All combinations of mask, target and positions.
std::vector<PromptSpec> all_settings(int M) {
  std::vector<PromptSpec> settings;
  for (const bool mask : {false, true}) {
    for (const Target target : {Target::sampled, Target::conditional}) {
      for (const Positions positions : {Positions::last, Positions::sequential}) {
        settings.push_back({M, mask, target, positions});
      }
    }
  }
  return settings;
}

template <typename Items, typename Same>
bool equal_by(const Items& a, const Items& b, Same same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool identical(const Prompts& a, const Prompts& b) {
  const auto same_cell = [](const Cell& x, const Cell& y) {
    return x.window == y.window && x.next == y.next && x.weight == y.weight;
  };
  const auto same_question = [](const Question& x, const Question& y) {
    return x.prompt == y.prompt && x.query == y.query && x.soft == y.soft && x.target == y.target &&
           x.weight == y.weight;
  };
  return a.d == b.d && a.M == b.M && a.first_cell == b.first_cell && a.soft == b.soft &&
         equal_by(a.cells, b.cells, same_cell) && equal_by(a.questions, b.questions, same_question);
}

}  // namespace

TEST_CASE("cells and questions are those counted from the tokens, in every setting") {
  std::size_t checked = 0;
  for (const Shape& shape : shapes) {
    for (const PromptSpec& spec : all_settings(shape.M)) {
      CAPTURE(shape.d);
      CAPTURE(spec.mask);
      CAPTURE(static_cast<int>(spec.target));
      CAPTURE(static_cast<int>(spec.positions));
      for (const Split split : {Split::train, Split::validation}) {
        checked += compare_with_tokens(data_of(shape), spec, split);
      }
    }
  }
  // 4 settings with one question a sequence, 4 with L - M; 79 sequences.
  CHECK(checked == 4 * 79 * (4 + 17 + 5 + 1 + 25));
}

TEST_CASE("L = inf: cells and queries have the stationary laws") {
  struct Sizes {
    std::vector<int> parents;
    int M;
  };
  for (const Sizes& sizes : {Sizes{{1, 2}, 2}, Sizes{{1, 2}, 3}, Sizes{{1, 3}, 4}, Sizes{{2}, 3}}) {
    const int M = sizes.M;
    CAPTURE(M);
    DataSpec data;
    data.parents = sizes.parents;
    data.L.reset();
    data.prior.alpha = 1.0;
    data.train = 5;
    PromptSpec spec;
    spec.M = M;
    const Prompts prompts = build_prompts(data, spec, Split::train, 1);
    CHECK(prompts.count() == 5);
    CHECK(std::abs(sum_of_weights(prompts) - 1.0) <= 1e-14);
    const WindowCodes codes(data.d, M);
    std::size_t q = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      const Kernel kernel = sequence_kernel(data, Split::train, i);
      const auto mu = WindowChain(kernel).long_run_law();
      const auto windows = extend_law(kernel, mu, M);
      const auto with_next = extend_law(kernel, mu, M + 1);
      const auto cells = prompts.cells_of(i);
      REQUIRE(cells.size() == with_next.size());
      double worst = 0.0;
      for (std::size_t code = 0; code < with_next.size(); ++code) {
        REQUIRE(cells[code].window == codes.first(M) + code / 3);
        REQUIRE(cells[code].next == code % 3);
        worst = std::max(worst, std::abs(cells[code].weight - with_next[code]));
      }
      // The window that ends with the cell's token has the law of the window before it.
      std::vector<double> advanced(windows.size(), 0.0);
      for (const Cell& cell : cells) {
        advanced[codes.advance(cell.window, cell.next) - codes.first(M)] += cell.weight;
      }
      for (std::size_t Z = 0; Z < windows.size(); ++Z, ++q) {
        worst = std::max(worst, std::abs(advanced[Z] - windows[Z]));
        const Question& question = prompts.questions[q];
        REQUIRE(question.prompt == i);
        REQUIRE(question.query == codes.first(M) + Z);
        worst = std::max(worst, std::abs(question.weight - windows[Z] / 5.0));
        const auto exact = kernel.row(kernel.parent_code(codes.decode(question.query)));
        const auto law = prompts.target_law(question);
        REQUIRE(std::equal(law.begin(), law.end(), exact.begin(), exact.end()));
      }
      CHECK(worst <= 1e-15);
    }
    CHECK(q == prompts.questions.size());
  }
}

TEST_CASE("L = inf: windows that never occur are left out, a reducible chain is averaged") {
  DataSpec data;
  data.d = 2;
  data.parents = {1};
  data.L.reset();
  data.train = 1;
  data.prior.name = "file";
  data.prior.kernels = {test::first_order({{1, 0}, {0, 1}})};
  PromptSpec spec;
  spec.M = 2;
  const Prompts prompts = build_prompts(data, spec, Split::train, 1);
  REQUIRE(prompts.cells.size() == 2);
  REQUIRE(prompts.questions.size() == 2);
  const WindowCodes codes(2, 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto k = static_cast<Token>(i);
    CHECK(prompts.cells[i].window == codes.encode(Tokens{k, k}));
    CHECK(prompts.cells[i].next == k);
    CHECK(prompts.cells[i].weight == 0.5);
    CHECK(prompts.questions[i].query == codes.encode(Tokens{k, k}));
    CHECK(prompts.questions[i].weight == 0.5);
  }
  data.initial = Initial::stationary;
  CHECK_THROWS_AS(build_prompts(data, spec, Split::train, 1), InputError);
}

TEST_CASE("the same prompts for any number of threads") {
  for (const PromptSpec& spec : all_settings(3)) {
    const DataSpec data = data_of(shapes[0], 1500);  // several chunks and rounds
    const Prompts one = build_prompts(data, spec, Split::train, 1);
    for (const int threads : {2, 3, 8}) {
      CHECK(identical(build_prompts(data, spec, Split::train, threads), one));
    }
  }
  DataSpec data = data_of(shapes[0], 700);
  data.L.reset();
  const Prompts one = build_prompts(data, {}, Split::train, 1);
  CHECK(identical(build_prompts(data, {}, Split::train, 3), one));
  CHECK_FALSE(identical(build_prompts(data, {}, Split::validation, 3), one));
}

TEST_CASE("progress is heard, and can stop the building") {
  const DataSpec data = data_of(shapes[0], 1500);
  std::vector<std::size_t> heard;
  const auto listen = [&](std::size_t finished) {
    heard.push_back(finished);
    return true;
  };
  CHECK(build_prompts(data, {}, Split::train, 1, listen).count() == 1500);
  CHECK(heard.size() > 1);
  CHECK(std::is_sorted(heard.begin(), heard.end()));
  CHECK(heard.back() == 1500);
  const Prompts stopped =
      build_prompts(data, {}, Split::train, 1, [](std::size_t) { return false; });
  CHECK(stopped.count() == 0);
  CHECK(stopped.questions.empty());
  DataSpec none = data;
  none.validation = 0;
  CHECK(build_prompts(none, {}, Split::validation, 1).count() == 0);
}

TEST_CASE("tokens from a table give the prompts of the same tokens drawn") {
  const DataSpec drawn = data_of(shapes[1], 20, 5);
  auto table = std::make_shared<TokenTable>();
  table->d = drawn.d;
  table->rows = 25;
  table->columns = *drawn.L + 1;
  for (const Split split : {Split::train, Split::validation}) {
    for (std::size_t i = 0; i < drawn.count(split); ++i) {
      table->kernels.push_back(sequence_kernel(drawn, split, i));
      Tokens x(table->columns);
      draw_sequence(drawn, table->kernels.back(), split, i, x);
      table->tokens.insert(table->tokens.end(), x.begin(), x.end());
    }
  }
  DataSpec given = drawn;
  given.table = table;
  for (const PromptSpec& spec : all_settings(4)) {
    for (const Split split : {Split::train, Split::validation}) {
      CHECK(identical(build_prompts(given, spec, split, 1), build_prompts(drawn, spec, split, 1)));
    }
  }

  // Without kernels: target laws come from the table, for the last position alone.
  PromptSpec soft{4, false, Target::conditional, Positions::last};
  const Prompts exact = build_prompts(drawn, soft, Split::validation, 1);
  auto bare = std::make_shared<TokenTable>(*table);
  bare->kernels.clear();
  given.table = bare;
  const char* refusal = "the data file has no kernels, which target \"conditional\" needs";
  CHECK_THROWS_WITH_AS(build_prompts(given, soft, Split::validation, 1), refusal, InputError);
  bare->conditional.assign(25 * 2, 0.0);
  std::copy(exact.soft.begin(), exact.soft.end(), bare->conditional.begin() + 20 * 2);
  CHECK(identical(build_prompts(given, soft, Split::validation, 1), exact));
  soft.positions = Positions::sequential;
  CHECK_THROWS_WITH_AS(build_prompts(given, soft, Split::validation, 1), refusal, InputError);
}

TEST_CASE("the estimate of memory is an upper bound, and not by far") {
  for (const Shape& shape : shapes) {
    for (const PromptSpec& spec : all_settings(shape.M)) {
      CAPTURE(shape.d);
      CAPTURE(shape.M);
      CAPTURE(static_cast<int>(spec.positions));
      DataSpec data = data_of(shape);
      for (const bool population : {false, true}) {
        if (population) data.L.reset();
        if (population && (spec.positions == Positions::sequential || shape.d == 10)) continue;
        const Prompts prompts = build_prompts(data, spec, Split::train, 1);
        const double bytes = static_cast<double>(
            prompts.cells.size() * sizeof(Cell) + prompts.questions.size() * sizeof(Question) +
            prompts.soft.size() * sizeof(double) + prompts.first_cell.size() * sizeof(std::size_t));
        CHECK(prompts_bytes(data, spec, Split::train) >= bytes);
        CHECK(prompts_bytes(data, spec, Split::train) <= 5.0 * bytes);
      }
    }
  }
}

TEST_CASE("sizes that do not fit each other are refused with value and range") {
  const auto refused = [](auto change, const char* message) {
    DataSpec data;
    PromptSpec spec;
    change(data, spec);
    CHECK_THROWS_WITH_AS(check_prompts(data, spec), message, InputError);
  };
  CHECK_NOTHROW(check_prompts({}, {}));
  refused([](auto&, auto& spec) { spec.M = 0; }, "window M = 0: must be 1 to 31");
  refused([](auto&, auto& spec) { spec.M = 32; }, "window M = 32: must be 1 to 31");
  refused([](auto&, auto& spec) { spec.M = 1; },
          "window M = 1: must be at least the largest parent lag r_n = 2");
  refused([](auto& data, auto&) { data.L = 3; }, "length L = 3: must be above the window M = 3");
  refused(
      [](auto& data, auto& spec) {
        data.L = 3;
        spec.M = 5;
      },
      "length L = 3: must be above the window M = 5");
  refused([](auto& data, auto&) { data.L = 0; }, "length L = 0: must be above the window M = 3");
  refused(
      [](auto& data, auto& spec) {
        data.L.reset();
        spec.positions = Positions::sequential;
      },
      "length L = inf has no last position to grow to: positions must be \"last\"");
  refused(
      [](auto& data, auto& spec) {
        data.L.reset();
        spec.M = 13;
      },
      "length L = inf with d = 3 and M = 13: d^M windows must be at most 2^20");
}

TEST_CASE("windows whose cells would not have distinct keys are refused") {
  // Four tokens, M = 31: d^M fits 63 bits, d^(M+1) does not.
  DataSpec data;
  data.d = 4;
  data.parents = {1};
  data.L = 100;
  PromptSpec spec;
  spec.M = 31;
  CHECK_THROWS_WITH_AS(build_prompts(data, spec, Split::train, 1),
                       "vocabulary d = 4 with window M = 31: d^(M+1) must be at most 2^62",
                       InputError);
  spec.M = 30;
  data.train = 3;
  CHECK(compare_with_tokens(data, spec, Split::train) == 3);
}
