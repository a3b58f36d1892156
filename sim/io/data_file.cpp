#include "gih/io/data_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "gih/base/error.hpp"
#include "gih/io/atomic_file.hpp"
#include "hdf5_reader.hpp"
#include "hdf5_writer.hpp"
#include "json.hpp"
#include "seal.hpp"

namespace gih {
namespace {

using hdf5::Shape;

constexpr const char* data_format = "gih-data";
constexpr int data_format_version = 1;
constexpr int largest_vocabulary = 65536;  // tokens have 16 bits
constexpr int largest_lag = 1'000'000'000;

/// The checks of the floors below do not know which file they check.
void naming(const std::string& name, const std::function<void()>& check) {
  try {
    check();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", name, error.what()));
  }
}

std::uint64_t kernel_entries(const std::string& name, int d, const std::vector<int>& parents) {
  std::uint64_t rows = 0;
  naming(name, [&] { rows = kernel_rows(d, parents.size()); });
  return rows * static_cast<std::uint64_t>(d);
}

/// What every table must satisfy, wherever it comes from.
void check_table(const TokenTable& table, const std::string& name) {
  const auto fail = [&](const std::string& what) { throw InputError(name + ": " + what); };
  if (table.d < 2 || table.d > largest_vocabulary) {
    fail(fmt::format("vocab = {}: must be 2 to {}", table.d, largest_vocabulary));
  }
  if (table.rows < 1) fail("tokens: no sequence");
  if (table.columns < 2) fail("tokens: a sequence must have 2 tokens or more");
  if (table.tokens.size() != table.rows * table.columns) {
    fail(fmt::format("tokens: {} of them, {} x {} are needed", table.tokens.size(), table.rows,
                     table.columns));
  }
  const auto bad = std::find_if(table.tokens.begin(), table.tokens.end(),
                                [&](Token token) { return token >= table.d; });
  if (bad != table.tokens.end()) {
    const auto at = static_cast<std::size_t>(bad - table.tokens.begin());
    fail(fmt::format("tokens[{}][{}] = {}: must be 0 to {} (rows and columns count from 0)",
                     at / table.columns, at % table.columns, *bad, table.d - 1));
  }
  if (!table.kernels.empty() && table.kernels.size() != table.rows) {
    fail(fmt::format("kernels: {} for {} sequences", table.kernels.size(), table.rows));
  }
  for (std::size_t i = 0; i < table.parents.size(); ++i) {
    if (table.parents[i] <= (i == 0 ? 0 : table.parents[i - 1])) {
      fail("parents: must be lags that ascend from 1 or more");
    }
  }
  const auto d = static_cast<std::size_t>(table.d);
  if (!table.conditional.empty() && table.conditional.size() != table.rows * d) {
    fail(fmt::format("conditional: {} entries, {} x {} are needed", table.conditional.size(),
                     table.rows, d));
  }
  for (std::size_t at = 0; at < table.conditional.size(); at += d) {
    double sum = 0.0;
    double least = 0.0;
    for (std::size_t k = at; k < at + d; ++k) {
      sum += table.conditional[k];
      least = std::min(least, table.conditional[k]);
    }
    if (!(std::abs(sum - 1.0) <= 1e-9) || least < 0.0) {
      fail(
          fmt::format("conditional[{}] is not a law: entries of at least 0 that sum to 1", at / d));
    }
  }
}

// ---- HDF5 ---------------------------------------------------------------------------------------

std::vector<Kernel> kernels_of(const hdf5::Reader& file, const std::string& name, int d) {
  const auto parents = file.integers("parents");
  const Shape shape = file.shape("/kernels");
  const std::uint64_t size = kernel_entries(name, d, parents);
  if (shape.size() != 3) file.fail("/kernels is not an array of three indices");
  const std::uint64_t count = shape[0];
  const auto width = static_cast<std::uint64_t>(d);
  const auto pi = file.doubles("/kernels", {count, size / width, width});
  std::vector<Kernel> kernels;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto first = pi.begin() + static_cast<std::ptrdiff_t>(i * size);
    kernels.push_back({d, parents, {first, first + static_cast<std::ptrdiff_t>(size)}});
    check_kernel(kernels.back(), fmt::format("{}: kernels[{}]", name, i));
  }
  return kernels;
}

TokenTable table_of(const hdf5::Reader& file, const std::string& name) {
  TokenTable table;
  table.d = file.integer("vocab");
  const Shape shape = file.shape("/tokens");
  if (shape.size() != 2) file.fail("/tokens is not an array of two indices");
  table.rows = shape[0];
  table.columns = shape[1];
  table.tokens = file.tokens("/tokens", shape);
  table.parents = file.integers("parents");
  if (file.has("/kernels")) table.kernels = kernels_of(file, name, table.d);
  if (file.has("/conditional")) {
    table.conditional =
        file.doubles("/conditional", {shape[0], static_cast<std::uint64_t>(table.d)});
  }
  return table;
}

// ---- JSON ---------------------------------------------------------------------------------------

TokenTable table_of(const JsonPlace& json) {
  json.expect_keys({"vocab", "tokens"});
  TokenTable table;
  table.d = json.key("vocab").integer(2, largest_vocabulary);
  const JsonPlace tokens = json.key("tokens");
  table.rows = tokens.size();
  if (table.rows == 0) tokens.fail("no sequence");
  table.columns = tokens.element(0).size();
  for (std::size_t i = 0; i < table.rows; ++i) {
    const JsonPlace row = tokens.element(i);
    if (row.size() != table.columns) {
      row.fail(fmt::format("has {} tokens, tokens[0] has {}: rows must have one length", row.size(),
                           table.columns));
    }
    for (const int token : row.integers(0, table.d - 1)) {
      table.tokens.push_back(static_cast<Token>(token));
    }
  }
  return table;
}

/// Nested arrays of d elements on each of `depth` levels, outermost index slowest.
void flatten(const JsonPlace& nested, std::size_t depth, std::size_t d, std::vector<double>& flat) {
  if (nested.size() != d) {
    nested.fail(fmt::format("has {} elements, the vocabulary {}", nested.size(), d));
  }
  if (depth == 1) {
    const auto row = nested.numbers();
    flat.insert(flat.end(), row.begin(), row.end());
    return;
  }
  for (std::size_t i = 0; i < d; ++i) flatten(nested.element(i), depth - 1, d, flat);
}

Kernel kernel_of(const JsonPlace& json, const std::string& name) {
  json.expect_keys({"vocab", "parents", "pi"});
  Kernel kernel;
  kernel.d = json.key("vocab").integer(2, largest_vocabulary);
  kernel.parents = json.key("parents").integers(1, largest_lag);
  kernel_entries(name, kernel.d, kernel.parents);  // not too many
  flatten(json.key("pi"), kernel.parents.size() + 1, static_cast<std::size_t>(kernel.d), kernel.pi);
  check_kernel(kernel, name);
  return kernel;
}

std::vector<Kernel> kernels_of(const JsonPlace& json, const std::string& name) {
  if (!json.has("kernels")) return {kernel_of(json, name)};
  json.expect_keys({"kernels"});
  const JsonPlace list = json.key("kernels");
  std::vector<Kernel> kernels;
  for (std::size_t i = 0; i < list.size(); ++i) {
    kernels.push_back(kernel_of(list.element(i), fmt::format("{}: kernels[{}]", name, i)));
    if (kernels.back().d != kernels[0].d || kernels.back().parents != kernels[0].parents) {
      list.element(i).fail("its vocab and parents must be those of kernels[0]");
    }
  }
  if (kernels.empty()) list.fail("no kernel");
  return kernels;
}

}  // namespace

void write_data(const std::filesystem::path& path, const TokenTable& table,
                const std::vector<int>& parents, const std::string& config) {
  check_table(table, path.string());
  std::vector<double> pi;
  for (const Kernel& kernel : table.kernels) {
    if (kernel.d != table.d || kernel.parents != parents ||
        kernel.pi.size() != kernel_entries(path.string(), table.d, parents)) {
      throw InputError(path.string() + ": kernels: must have the file's vocab and parents");
    }
    pi.insert(pi.end(), kernel.pi.begin(), kernel.pi.end());
  }

  hdf5::Writer file(path, data_format, data_format_version);
  file.attribute("config", config);
  file.attribute("vocab", table.d);
  file.attribute("parents", parents);
  const auto d = static_cast<std::uint64_t>(table.d);
  file.dataset("/tokens", {table.rows, table.columns}, table.tokens, table.d - 1,
               "x_1 .. x_{L+1}, one sequence a row, tokens 0 to vocab - 1");
  if (!pi.empty()) {
    const std::uint64_t rows = kernel_rows(table.d, parents.size());
    file.dataset("/kernels", {table.rows, rows, d}, pi,
                 "pi of each sequence: sequences x parent codes x next token; a code's digits in "
                 "base vocab are x_{l-r_1} (most significant) to x_{l-r_n}");
  }
  if (!table.conditional.empty()) {
    file.dataset("/conditional", {table.rows, d}, table.conditional,
                 "pi(. | parents of x_{L+1}), sequences x next token");
  }
  file.save();
}

TokenTable read_tokens(const std::filesystem::path& path) {
  std::string bytes = read_bytes(path);
  const std::string name = path.string();
  TokenTable table;
  if (looks_binary(bytes)) {
    table = table_of({std::move(bytes), name, data_format, data_format_version}, name);
  } else {
    table = table_of(JsonPlace::parse(bytes, name));
  }
  check_table(table, name);
  return table;
}

std::vector<Kernel> read_kernels(const std::filesystem::path& path) {
  std::string bytes = read_bytes(path);
  const std::string name = path.string();
  if (!looks_binary(bytes)) return kernels_of(JsonPlace::parse(bytes, name), name);
  const hdf5::Reader file(std::move(bytes), name, data_format, data_format_version);
  if (!file.has("/kernels")) file.fail("holds no kernels");
  return kernels_of(file, name, file.integer("vocab"));
}

namespace {

/// H matrices of d x d, one after the other.
Matrix heads_of(const JsonPlace& json, const ModelSpec& model) {
  if (json.size() != static_cast<std::size_t>(model.H)) {
    json.fail(fmt::format("has {} matrices: must have {}, one a head", json.size(), model.H));
  }
  Matrix W(model.H * model.d, model.d);
  for (int row = 0; row < W.rows(); ++row) {
    const JsonPlace head = json.element(static_cast<std::size_t>(row / model.d));
    const JsonPlace entries = head.element(static_cast<std::size_t>(row % model.d));
    const auto values = entries.numbers();
    if (head.size() != static_cast<std::size_t>(model.d) || values.size() != head.size()) {
      head.fail(fmt::format("must be {} x {}", model.d, model.d));
    }
    W.row(row) = Eigen::RowVectorXd::Map(values.data(), model.d);
  }
  return W;
}

}  // namespace

ParameterFile read_parameters_json(const std::filesystem::path& path) {
  const JsonPlace json = JsonPlace::parse(read_bytes(path), path.string());
  json.expect_keys(
      {"window", "degree", "subsets", "mask", "eps", "w", "c", "a", "W_Q", "W_K", "W_V"});
  ParameterFile file;
  ModelSpec& model = file.model;
  model.M = json.key("window").integer(1, 31);
  model.D = json.key("degree").integer(1, 31);
  if (json.has("subsets")) {
    const std::string rule = json.key("subsets").text();
    if (rule != "at-most" && rule != "exactly") {
      json.key("subsets").fail("must be \"at-most\" or \"exactly\"");
    }
    model.rule = rule == "exactly" ? SubsetRule::exactly : SubsetRule::at_most;
  }
  if (json.has("mask")) model.mask = json.key("mask").boolean();
  file.eps = json.key("eps").number();
  if (file.eps < 0.0) json.key("eps").fail("must be 0 or more");

  const JsonPlace w = json.key("w");
  if (w.size() < 1 || w.size() > 31) {
    w.fail(fmt::format("has {} rows: must have 1 to 31, one a head", w.size()));
  }
  model.H = static_cast<int>(w.size());
  file.theta.w.resize(model.H, model.M);
  for (int h = 0; h < model.H; ++h) {
    const JsonPlace row = w.element(static_cast<std::size_t>(h));
    const auto weights = row.numbers();
    if (weights.size() != static_cast<std::size_t>(model.M)) {
      row.fail(fmt::format("has {} weights: must have {}, one a lag", weights.size(), model.M));
    }
    for (int i = 0; i < model.M; ++i) file.theta.w(h, i) = weights[static_cast<std::size_t>(i)];
  }
  const auto c = json.key("c").numbers();
  file.theta.c = Eigen::VectorXd::Map(c.data(), static_cast<Eigen::Index>(c.size()));
  file.theta.a = json.key("a").number();
  if (json.has("W_Q") || json.has("W_K") || json.has("W_V")) {
    model.variant = Variant::full;
    model.d = static_cast<int>(json.key("W_Q").element(0).size());
    if (model.d < 2) json.key("W_Q").fail("each head must have a d x d matrix, d 2 or more");
    for (const WordMatrix& matrix : word_matrices) {
      const Matrix Parameters::*member = matrix.member;
      if (member == &Parameters::scale || member == &Parameters::shift) continue;
      file.theta.*matrix.member = heads_of(json.key(matrix.name), model);
    }
    // c over the heads alone, or over the residual block and the heads.
    model.residual_in_kernel = false;
    model.residual_in_kernel = c.size() != model.subsets().size();
  }
  naming(path.string(), [&] {
    check_model(model);
    check_parameters(model, file.theta);
  });
  return file;
}

}  // namespace gih
