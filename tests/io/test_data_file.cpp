#include "gih/io/data_file.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdlib>

#include "gih/io/atomic_file.hpp"
#include "gih/io/run_file.hpp"
#include "scratch.hpp"

using namespace gih;
namespace fs = std::filesystem;

namespace {

Kernel kernel(double p) {
  return {2, {1, 3}, {p, 1 - p, 0.25, 0.75, 1, 0, 0.5, 0.5}};
}

TokenTable sample_table() {
  TokenTable table;
  table.d = 2;
  table.rows = 3;
  table.columns = 5;
  table.tokens = {0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1};
  table.kernels = {kernel(0.1), kernel(1.0 / 3.0), kernel(0)};
  table.conditional = {0.1, 0.9, 1, 0, 1.0 / 3.0, 2.0 / 3.0};
  return table;
}

void check_same(const TokenTable& x, const TokenTable& y) {
  CHECK(x.d == y.d);
  CHECK(x.rows == y.rows);
  CHECK(x.columns == y.columns);
  CHECK(x.tokens == y.tokens);
  CHECK(x.conditional == y.conditional);
  REQUIRE(x.kernels.size() == y.kernels.size());
  for (std::size_t i = 0; i < x.kernels.size(); ++i) {
    CHECK(x.kernels[i].d == y.kernels[i].d);
    CHECK(x.kernels[i].parents == y.kernels[i].parents);
    CHECK(x.kernels[i].pi == y.kernels[i].pi);
  }
}

std::string tokens_refusal(const fs::path& path) {
  return message_of<InputError>([&] { read_tokens(path); });
}
std::string kernels_refusal(const fs::path& path) {
  return message_of<InputError>([&] { read_kernels(path); });
}
std::string parameters_refusal(const fs::path& path) {
  return message_of<InputError>([&] { read_parameters_json(path); });
}

struct Case {
  std::string json;
  const char* words;
};

bool python(const std::string& program, const fs::path& path) {
  const std::string command =
      fmt::format("/usr/bin/python3 -B -c '{}' '{}'", program, path.string());
  return std::system(command.c_str()) == 0;
}

}  // namespace

TEST_CASE("a data file comes back, with and without kernels") {
  const Scratch scratch;
  const fs::path path = scratch / "data.h5";
  TokenTable table = sample_table();
  write_data(path, table, {1, 3}, "[data]\n");
  check_same(read_tokens(path), table);
  CHECK(read_tokens(path).parents == std::vector<int>{1, 3});
  const auto kernels = read_kernels(path);
  REQUIRE(kernels.size() == 3);
  CHECK(kernels[1].pi == table.kernels[1].pi);
  CHECK(kernels[1].parents == std::vector<int>{1, 3});

  const std::string bytes = read_bytes(path);
  write_data(path, table, {1, 3}, "[data]\n");
  CHECK(read_bytes(path) == bytes);  // equal content, equal bytes

  table.kernels.clear();
  table.conditional.clear();
  write_data(path, table, {1, 3}, "");
  check_same(read_tokens(path), table);
  CHECK(contains(kernels_refusal(path), "data.h5: holds no kernels"));
  CHECK(scratch.count() == 1);
}

TEST_CASE("tokens take 8 bits up to a vocabulary of 256, then 16") {
  const Scratch scratch;
  for (const int d : {256, 257, 65536}) {
    CAPTURE(d);
    TokenTable table;
    table.d = d;
    table.rows = 700;
    table.columns = 301;
    for (std::size_t i = 0; i < table.rows * table.columns; ++i) {
      table.tokens.push_back(static_cast<Token>(i * 7919 % static_cast<std::size_t>(d)));
    }
    table.tokens[3] = static_cast<Token>(d - 1);
    write_data(scratch / "data.h5", table, {1}, "");
    check_same(read_tokens(scratch / "data.h5"), table);
    CHECK(python(fmt::format("import sys, h5py; f = h5py.File(sys.argv[1]); t = f[\"tokens\"]; "
                             "assert t.dtype == \"{}\" and t.shape == (700, 301), t; "
                             "assert t[0, 3] == {} and t[2, 1] == 603 * 7919 % {}",
                             d == 256 ? "u1" : "<u2", d - 1, d),
                 scratch / "data.h5"));
  }
}

TEST_CASE("h5py reads kernels and laws in the documented order") {
  const Scratch scratch;
  write_data(scratch / "data.h5", sample_table(), {1, 3}, "[data]\n");
  CHECK(python(R"(
import sys, h5py
f = h5py.File(sys.argv[1])
assert f.attrs["format"] == "gih-data" and f.attrs["vocab"] == 2 and list(f.attrs["parents"]) == [1, 3]
assert f.attrs["config"] == "[data]\n"
assert f["kernels"].shape == (3, 4, 2) and list(f["kernels"][0, 0]) == [0.1, 0.9]
assert list(f["kernels"][1, 1]) == [0.25, 0.75]
assert f["conditional"].shape == (3, 2) and list(f["conditional"][1]) == [1, 0]
)",
               scratch / "data.h5"));
}

TEST_CASE("a damaged data file is refused") {
  const Scratch scratch;
  write_data(scratch / "data.h5", sample_table(), {1, 3}, "");
  const std::string whole = read_bytes(scratch / "data.h5");
  std::uint64_t random = 7;
  for (int i = 0; i < 200; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const std::size_t byte = (random >> 20) % whole.size();
    std::string flipped = whole;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << (random >> 60) % 8));
    const std::string message = tokens_refusal(scratch.put("flipped.h5", flipped));
    if (!contains(message, "flipped.h5: ")) FAIL_CHECK("byte " << byte << ": " << message);
    const std::string cut = tokens_refusal(scratch.put("cut.h5", whole.substr(0, byte)));
    if (!contains(cut, "cut.h5: ")) FAIL_CHECK("size " << byte << ": " << cut);
  }
}

TEST_CASE("a run file is no data file") {
  const Scratch scratch;
  RunFile run;
  run.model.H = run.model.M = run.model.D = 1;
  run.state.theta = {Matrix::Ones(1, 1), Eigen::VectorXd::Ones(2), 1.0};
  write_run(scratch / "run.h5", run);
  CHECK(contains(tokens_refusal(scratch / "run.h5"), "is a gih-run file, not a gih-data file"));
  CHECK(contains(kernels_refusal(scratch / "run.h5"), "is a gih-run file"));
}

TEST_CASE("tables that do not fit are not written") {
  const Scratch scratch;
  const auto refusal = [&](const TokenTable& table, const std::vector<int>& parents) {
    return message_of<InputError>([&] { write_data(scratch / "data.h5", table, parents, ""); });
  };
  TokenTable table = sample_table();
  table.tokens[7] = 2;
  CHECK(contains(refusal(table, {1, 3}), "tokens[1][2] = 2: must be 0 to 1"));
  table = sample_table();
  table.tokens.pop_back();
  CHECK(contains(refusal(table, {1, 3}), "14 of them, 3 x 5 are needed"));
  CHECK(contains(refusal(sample_table(), {1, 2}), "must have the file's vocab and parents"));
  table = sample_table();
  table.kernels.pop_back();
  CHECK(contains(refusal(table, {1, 3}), "kernels: 2 for 3 sequences"));
  table = sample_table();
  table.conditional[0] = 0.5;
  CHECK(contains(refusal(table, {1, 3}), "conditional[0] is not a law"));
  table = sample_table();
  table.rows = 0;
  table.tokens.clear();
  CHECK(contains(refusal(table, {1, 3}), "no sequence"));
  CHECK(scratch.count() == 0);
}

TEST_CASE("tokens from JSON") {
  const Scratch scratch;
  const TokenTable table =
      read_tokens(scratch.put("tokens.json", R"({"tokens": [[0, 2, 1], [1, 1, 0]], "vocab": 3})"));
  CHECK(table.d == 3);
  CHECK(table.rows == 2);
  CHECK(table.columns == 3);
  CHECK(table.tokens == std::vector<Token>{0, 2, 1, 1, 1, 0});
  const Case cases[] = {
      {"", "is not JSON: parse error at line 1, column 1"},
      {R"({"vocab": 3, "tokens": [[0, 1)", "is not JSON"},
      {R"([1, 2])", "an array of 2: must be an object"},
      {R"({"vocab": 3, "token": [[0, 1]]})", R"(unknown key "token": the keys are vocab, tokens)"},
      {R"({"vocab": 3})", "key tokens is missing"},
      {R"({"vocab": 3, "vocab": 2, "tokens": [[0, 1]]})", R"(key "vocab" is given twice)"},
      {R"({"vocab": 1, "tokens": [[0, 0]]})", "vocab: 1: must be an integer 2 to 65536"},
      {R"({"vocab": 3.5, "tokens": [[0, 0]]})", "vocab: 3.5: must be an integer"},
      {R"({"vocab": "3", "tokens": [[0, 0]]})", R"(vocab: "3": must be an integer)"},
      {R"({"vocab": 3, "tokens": []})", "tokens: no sequence"},
      {R"({"vocab": 3, "tokens": 7})", "tokens: 7: must be an array"},
      {R"({"vocab": 3, "tokens": [7]})", "tokens[0]: 7: must be an array"},
      {R"({"vocab": 3, "tokens": [[0], [1]]})", "must have 2 tokens or more"},
      {R"({"vocab": 3, "tokens": [[0, 1], [1, 1, 2]]})",
       "tokens[1]: has 3 tokens, tokens[0] has 2: rows must have one length"},
      {R"({"vocab": 3, "tokens": [[0, 1], [1, 3]]})", "tokens[1][1]: 3: must be an integer 0 to 2"},
      {R"({"vocab": 3, "tokens": [[0, 1], [-1, 0]]})", "tokens[1][0]: -1: must be an integer"},
      {R"({"vocab": 3, "tokens": [[0, 1], [null, 0]]})", "tokens[1][0]: null: must be an integer"},
      {R"({"vocab": 3, "tokens": [[0, 18446744073709551616]]})", "tokens[0][1]: 1.8"},
      {R"({"vocab": 3, "tokens": [[0, 4294967297]]})", "tokens[0][1]: 4294967297: must be"},
      {"{\"vocab\": 3, \"tokens\": [[0, \xff\xfe]]}", "is not JSON"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.json);
    const std::string message = tokens_refusal(scratch.put("tokens.json", one.json));
    CAPTURE(message);
    CHECK(contains(message, "tokens.json: "));
    CHECK(contains(message, one.words));
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.size() < 400);
  }
  CHECK(!tokens_refusal(scratch.put("deep.json", std::string(1'000'000, '['))).empty());
  CHECK(contains(tokens_refusal(scratch / "none.json"), "No such file"));
}

TEST_CASE("kernels from JSON are flattened row-major, the nearest parent outermost") {
  const Scratch scratch;
  const std::string text =
      R"({"vocab": 2, "parents": [1, 3], "pi": [[[0.1, 0.9], [0.2, 0.8]], [[0.3, 0.7], [0.4, 0.6]]]})";
  const auto one = read_kernels(scratch.put("kernel.json", text));
  REQUIRE(one.size() == 1);
  CHECK(one[0].pi == std::vector<double>{0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6});
  CHECK(one[0].parents == std::vector<int>{1, 3});
  const std::vector<Token> lags{1, 0, 0};  // x_{l-1} = 1, x_{l-3} = 0
  CHECK(one[0].row(one[0].parent_code(lags))[0] == 0.3);
  const auto two =
      read_kernels(scratch.put("kernels.json", fmt::format(R"({{"kernels": [{0}, {0}]}})", text)));
  REQUIRE(two.size() == 2);
  CHECK(two[1].pi == one[0].pi);

  const std::string good = R"({"vocab": 2, "parents": [1], "pi": [[0.5, 0.5], [1, 0]]})";
  const std::string mixed = fmt::format(R"({{"kernels": [{}, {}]}})", good, text);
  const std::string wrong_second =
      fmt::format(R"({{"kernels": [{}, {}]}})", good,
                  R"({"vocab": 2, "parents": [1], "pi": [[1, 1], [1, 0]]})");
  const Case cases[] = {
      {R"({"vocab": 2, "parents": [1], "pi": [[0.5, 0.5], [0.5, 0.4]]})",
       "kernel row 1 sums to 0.9"},
      {R"({"vocab": 2, "parents": [1], "pi": [[0.5, 0.5], [1.5, -0.5]]})", "entry -0.5 must be"},
      {R"({"vocab": 2, "parents": [1], "pi": [[0.5, 0.5]]})",
       "pi: has 1 elements, the vocabulary 2"},
      {R"({"vocab": 2, "parents": [1, 2], "pi": [[0.5, 0.5], [1, 0]]})",
       "pi[0][0]: 0.5: must be an array"},
      {R"({"vocab": 2, "parents": [1], "pi": [[0.5, "x"], [1, 0]]})",
       R"(pi[0][1]: "x": must be a finite number)"},
      {R"({"vocab": 2, "parents": [1], "pi": [[0.5, 1e999], [1, 0]]})",
       "is not JSON: number overflow"},
      {R"({"vocab": 2, "parents": [2, 1], "pi": [[[1, 0], [1, 0]], [[1, 0], [1, 0]]]})",
       "lags must ascend"},
      {R"({"vocab": 2, "parents": [0], "pi": [[1, 0], [1, 0]]})", "parents[0]: 0: must be"},
      {R"({"vocab": 2, "parents": [], "pi": [1, 0]})", "at least one parent lag"},
      {R"({"vocab": 60000, "parents": [1, 2, 3], "pi": []})", "at most 2^31"},
      {R"({"vocab": 2, "parents": [1], "Pi": []})", "unknown key \"Pi\""},
      {R"({"kernels": []})", "kernels: no kernel"},
      {mixed, "kernels[1]: its vocab and parents must be those of kernels[0]"},
      {wrong_second, "kernels[1]: kernel row 0 sums to 2"},
  };
  for (const Case& bad : cases) {
    CAPTURE(bad.json);
    const std::string message = kernels_refusal(scratch.put("kernel.json", bad.json));
    CAPTURE(message);
    CHECK(contains(message, "kernel.json: "));
    CHECK(contains(message, bad.words));
  }
}

TEST_CASE("parameters from JSON") {
  const Scratch scratch;
  const ParameterFile file = read_parameters_json(scratch.put("p.json", R"({
    "window": 3, "degree": 1, "mask": true, "eps": 0.05, "w": [[1, 2, 3], [4, 5, 6]],
    "c": [0.1, 0.2, 0.3], "a": -1e-3})"));
  CHECK(file.model.M == 3);
  CHECK(file.model.H == 2);
  CHECK(file.model.D == 1);
  CHECK(file.model.mask);
  CHECK(file.model.rule == SubsetRule::at_most);
  CHECK(file.eps == 0.05);
  CHECK(file.theta.w(0, 2) == 3.0);
  CHECK(file.theta.w(1, 0) == 4.0);
  CHECK(file.theta.c(2) == 0.3);
  CHECK(file.theta.a == -1e-3);
  const ParameterFile exact = read_parameters_json(scratch.put("p.json", R"({
    "window": 1, "degree": 2, "subsets": "exactly", "eps": 0, "w": [[1], [2]], "c": [1], "a": 1})"));
  CHECK(exact.model.rule == SubsetRule::exactly);
  CHECK(!exact.model.mask);
  const ParameterFile full = read_parameters_json(scratch.put("p.json", R"({
    "window": 1, "degree": 1, "eps": 0, "w": [[1]], "c": [1, 2, 3], "a": 1,
    "W_Q": [[[1, 2], [3, 4]]], "W_K": [[[5, 6], [7, 8]]], "W_V": [[[9, 10], [11, 12]]]})"));
  CHECK(full.model.variant == Variant::full);
  CHECK(full.model.residual());
  CHECK(full.theta.W_Q(0, 1) == 2.0);
  CHECK(full.theta.W_K(1, 0) == 7.0);
  CHECK(full.theta.W_V(1, 1) == 12.0);

  const Case cases[] = {
      {R"({"window": 1, "degree": 1, "eps": 0, "w": [[1]], "c": [1, 1], "a": 1, "W_X": []})",
       R"(unknown key "W_X")"},
      {R"({"window": 1, "degree": 1, "eps": 0, "w": [[1]], "c": [1, 1, 1], "a": 1,
          "W_Q": [[[1, 2], [3, 4]]], "W_K": [[[1, 2], [3, 4]]]})",
       "key W_V is missing"},
      {R"({"window": 1, "degree": 1, "eps": 0, "w": [[1]], "c": [1, 1, 1], "a": 1,
          "W_Q": [[[1, 2], [3, 4]]], "W_K": [[[1, 2], [3]]], "W_V": [[[1, 2], [3, 4]]]})",
       "W_K[0]: must be 2 x 2"},
      {R"({"window": 1, "degree": 1, "eps": 0, "w": [[1]], "c": [1, 1, 1], "a": 1,
          "W_Q": [[[1, 2], [3, 4]], [[1, 2], [3, 4]]], "W_K": [], "W_V": []})",
       "W_Q: has 2 matrices: must have 1, one a head"},
      {R"({"window": 1, "degree": 1, "eps": 0, "w": [[1]], "c": [1, 1]})", "key a is missing"},
      {R"({"window": 0, "degree": 1, "eps": 0, "w": [[1]], "c": [1, 1], "a": 1})",
       "window: 0: must be an integer 1 to 31"},
      {R"({"window": 2, "degree": 1, "eps": 0, "w": [[1]], "c": [1, 1], "a": 1})",
       "w[0]: has 1 weights: must have 2"},
      {R"({"window": 1, "degree": 2, "eps": 0, "w": [[1]], "c": [1, 1], "a": 1})", "degree D = 2"},
      {R"({"window": 1, "degree": 1, "eps": 0, "w": [[1]], "c": [1, 1, 1], "a": 1})",
       "c has 3 entries: must be 2"},
      {R"({"window": 1, "degree": 1, "eps": 0, "w": [[1]], "c": [0, 0], "a": 1})", "C_D"},
      {R"({"window": 1, "degree": 1, "eps": -1, "w": [[1]], "c": [1, 1], "a": 1})",
       "eps: must be 0 or more"},
      {R"({"window": 1, "degree": 1, "eps": 0, "w": [[null]], "c": [1, 1], "a": 1})",
       "w[0][0]: null: must be a finite number"},
      {R"({"window": 1, "degree": 1, "eps": 0, "w": [], "c": [1, 1], "a": 1})", "w: has 0 rows"},
      {R"({"window": 1, "degree": 1, "eps": 0, "w": [[1]], "c": "x", "a": 1})",
       R"(c: "x": must be an array)"},
      {R"({"window": 1, "degree": 1, "eps": 0, "w": [[1]], "c": [1, 1], "a": true})",
       "a: true: must be a finite number"},
      {R"({"window": 1, "degree": 1, "mask": 1, "eps": 0, "w": [[1]], "c": [1, 1], "a": 1})",
       "mask: 1: must be true or false"},
      {R"({"window": 1, "degree": 1, "subsets": "all", "eps": 0, "w": [[1]], "c": [1, 1], "a": 1})",
       "subsets: must be"},
  };
  for (const Case& bad : cases) {
    CAPTURE(bad.json);
    const std::string message = parameters_refusal(scratch.put("p.json", bad.json));
    CAPTURE(message);
    CHECK(contains(message, "p.json: "));
    CHECK(contains(message, bad.words));
  }
}
