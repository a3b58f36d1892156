#include "gih/data/dataset.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "gih/base/error.hpp"
#include "gih/data/chain.hpp"
#include "support/chain_cases.hpp"
#include "support/statistics.hpp"

using namespace gih;
using test::chi_square_p;
using test::level;

namespace {

using Tokens = std::vector<Token>;

Tokens sequence(const DataSpec& data, Split split, std::size_t index) {
  Tokens x(*data.L + 1);
  draw_sequence(data, sequence_kernel(data, split, index), split, index, x);
  return x;
}

/// All sequences from one kernel.
DataSpec with_kernel(const Kernel& kernel, std::size_t L) {
  DataSpec data;
  data.d = kernel.d;
  data.parents = kernel.parents;
  data.L = L;
  data.prior.name = "file";
  data.prior.kernels = {kernel};
  return data;
}

/// p-values of the observed next tokens, one a row of the kernel, and the smallest of them.
double smallest_row_p(const Kernel& kernel, const Tokens& x) {
  const auto d = static_cast<std::size_t>(kernel.d);
  std::vector<std::vector<double>> counts(kernel.rows(), std::vector<double>(d, 0.0));
  for (auto l = static_cast<std::size_t>(kernel.largest_lag()); l < x.size(); ++l) {
    std::size_t row = 0;
    for (const int r : kernel.parents) row = row * d + x[l - static_cast<std::size_t>(r)];
    ++counts[row][x[l]];
  }
  double smallest = 1.0;
  int tested = 0;
  for (std::size_t row = 0; row < kernel.rows(); ++row) {
    double total = 0.0;
    for (const double count : counts[row]) total += count;
    std::vector<double> expected;
    for (const double p : kernel.row(row)) expected.push_back(total * p);
    const double p = chi_square_p(counts[row], expected);
    if (std::isnan(p)) continue;
    smallest = std::min(smallest, p);
    ++tested;
  }
  CHECK(tested * 2 > static_cast<int>(kernel.rows()));
  return smallest;
}

/// Law of the window x[begin .. begin + r_n) over many sequences, against `law`.
double window_p(const DataSpec& data, std::size_t begin, const std::vector<double>& law) {
  constexpr std::size_t sequences = 20000;
  std::vector<double> counts(law.size(), 0.0);
  std::vector<double> expected;
  for (const double p : law) expected.push_back(p * sequences);
  for (std::size_t i = 0; i < sequences; ++i) {
    const Tokens x = sequence(data, Split::train, i);
    std::size_t code = 0;
    for (int j = 0; j < data.parents.back(); ++j) {
      code = code * static_cast<std::size_t>(data.d) + x[begin + static_cast<std::size_t>(j)];
    }
    ++counts[code];
  }
  return chi_square_p(counts, expected);
}

}  // namespace

TEST_CASE("a longer prompt extends a shorter one") {
  for (const Initial initial : {Initial::uniform, Initial::stationary}) {
    for (const auto& parents : {std::vector<int>{1, 2}, std::vector<int>{1, 3}}) {
      DataSpec data;
      data.parents = parents;
      data.initial = initial;
      data.prior.floor = 0.01;  // one recurrent class
      DataSpec longer = data;
      data.L = 20;
      longer.L = 200;
      for (std::size_t i = 0; i < 20; ++i) {
        const Tokens x = sequence(data, Split::train, i);
        const Tokens extended = sequence(longer, Split::train, i);
        CHECK(std::equal(x.begin(), x.end(), extended.begin()));
      }
    }
  }
}

TEST_CASE("more sequences are appended, and the splits do not move each other") {
  DataSpec small;
  small.train = 10;
  small.validation = 5;
  DataSpec large = small;
  large.train = 1000;
  large.validation = 500;
  std::set<Tokens> all;
  for (const Split split : {Split::train, Split::validation}) {
    for (std::size_t i = 0; i < small.count(split); ++i) {
      CHECK(sequence(small, split, i) == sequence(large, split, i));
      CHECK(sequence_kernel(small, split, i).pi == sequence_kernel(large, split, i).pi);
      all.insert(sequence(small, split, i));
    }
  }
  CHECK(all.size() == 15);
  CHECK(sequence_kernel(small, Split::train, 0).pi !=
        sequence_kernel(small, Split::validation, 0).pi);
}

TEST_CASE("another seed gives other data, the same seed the same") {
  DataSpec data;
  const Tokens x = sequence(data, Split::train, 3);
  CHECK(sequence(data, Split::train, 3) == x);
  data.seed = 2;
  CHECK(sequence(data, Split::train, 3) != x);
}

TEST_CASE("tokens follow the kernel") {
  std::uint64_t index = 200;
  struct Shape {
    int d;
    std::vector<int> parents;
  };
  for (const Shape& shape : {Shape{2, {1}}, Shape{3, {1, 2}}, Shape{3, {1, 3}}, Shape{4, {2}},
                             Shape{20, {1}}}) {  // above 16: another search
    CAPTURE(shape.d);
    CAPTURE(shape.parents.back());
    const Kernel kernel = test::random_kernel(shape.d, shape.parents, 1.0, index++);
    CHECK(smallest_row_p(kernel, sequence(with_kernel(kernel, 200000), Split::train, 0)) >= level);
  }
}

TEST_CASE("tokens that follow another kernel are found out") {
  const Kernel kernel = test::worked_kernel();
  Kernel other = kernel;
  other.pi = {0.88, 0.12, 0.4, 0.6, 0.7, 0.3, 0.2, 0.8};
  CHECK(smallest_row_p(other, sequence(with_kernel(kernel, 200000), Split::train, 0)) < level);
}

TEST_CASE("a token of probability 0 never occurs, wherever it stands in its row") {
  for (const int d : {3, 20}) {
    for (int impossible = 0; impossible < 3; ++impossible) {
      const int k = impossible == 2 ? d - 1 : impossible;
      CAPTURE(d);
      CAPTURE(k);
      // Thirds and the like: their sum in double precision need not reach 1.
      std::vector<double> row(static_cast<std::size_t>(d), 1.0 / (d - 1));
      row[static_cast<std::size_t>(k)] = 0.0;
      const Kernel kernel =
          test::first_order(std::vector<std::vector<double>>(static_cast<std::size_t>(d), row));
      const Tokens x = sequence(with_kernel(kernel, 100000), Split::train, 0);
      CHECK(std::count(x.begin() + 1, x.end(), static_cast<Token>(k)) == 0);
    }
  }
}

TEST_CASE("parents with a gap: the same tokens as a kernel that ignores the lag between") {
  const Kernel gap = test::random_kernel(3, {1, 3}, 1.0, 7);
  Kernel full{3, {1, 2, 3}, {}};
  for (std::size_t near = 0; near < 3; ++near) {
    for (std::size_t ignored = 0; ignored < 3; ++ignored) {
      for (std::size_t far = 0; far < 3; ++far) {
        const auto row = gap.row(near * 3 + far);
        full.pi.insert(full.pi.end(), row.begin(), row.end());
      }
    }
  }
  for (const Initial initial : {Initial::uniform, Initial::stationary}) {
    DataSpec with_gap = with_kernel(gap, 1000);
    DataSpec without = with_kernel(full, 1000);
    with_gap.initial = without.initial = initial;
    for (std::size_t i = 0; i < 10; ++i) {
      CHECK(sequence(with_gap, Split::train, i) == sequence(without, Split::train, i));
    }
  }
}

TEST_CASE("uniform start: the first r_n tokens are uniform") {
  DataSpec data;
  data.L = 5;
  CHECK(window_p(data, 0, std::vector<double>(9, 1.0 / 9)) >= level);
  data.parents = {1, 3};
  CHECK(window_p(data, 0, std::vector<double>(27, 1.0 / 27)) >= level);
}

TEST_CASE("stationary start: the first window has the stationary law, and so has a later one") {
  for (const auto& parents : {std::vector<int>{1, 2}, std::vector<int>{1, 3}}) {
    // Of two tokens, short stationary windows read backwards have the same law; of three not.
    const Kernel kernel = test::random_kernel(3, parents, 1.0, 11);
    const auto mu = WindowChain(kernel).long_run_law();
    DataSpec data = with_kernel(kernel, 12);
    data.initial = Initial::stationary;
    CHECK(window_p(data, 0, mu) >= level);
    CHECK(window_p(data, 7, mu) >= level);
    data.initial = Initial::uniform;  // the counter-example
    CHECK(window_p(data, 0, mu) < level);
  }
}

TEST_CASE("stationary start of a chain with two recurrent classes is refused") {
  DataSpec data = with_kernel(test::first_order({{1, 0}, {0, 1}}), 10);
  data.initial = Initial::stationary;
  CHECK_THROWS_WITH_AS(sequence(data, Split::train, 0),
                       "data.initial = stationary: a kernel has 2 recurrent classes, so its "
                       "stationary law is not unique; use data.initial = uniform or a data.floor "
                       "above 0",
                       InputError);
  data.prior.floor = 0.01;
  CHECK_NOTHROW(sequence(data, Split::train, 0));
}

TEST_CASE("tokens from a table: first the training rows, then the validation rows") {
  auto table = std::make_shared<TokenTable>();
  table->d = 3;
  table->rows = 3;
  table->columns = 4;
  table->tokens = {0, 1, 2, 0, 1, 1, 1, 1, 2, 2, 0, 2};
  DataSpec data;
  data.L = 3;
  data.train = 2;
  data.validation = 1;
  data.table = table;
  CHECK_NOTHROW(check_data(data));
  Tokens x(4);
  draw_sequence(data, {}, Split::train, 1, x);
  CHECK(x == Tokens{1, 1, 1, 1});
  draw_sequence(data, {}, Split::validation, 0, x);
  CHECK(x == Tokens{2, 2, 0, 2});
  CHECK_THROWS_WITH_AS(sequence_kernel(data, Split::train, 0),
                       "the data file has no kernels, which this computation needs", InputError);
  for (std::uint64_t i = 0; i < 3; ++i) {
    table->kernels.push_back(test::random_kernel(3, {1, 2}, 1.0, i));
  }
  CHECK(sequence_kernel(data, Split::train, 1).pi == table->kernels[1].pi);
  CHECK(sequence_kernel(data, Split::validation, 0).pi == table->kernels[2].pi);

  data.train = 3;
  CHECK_THROWS_WITH_AS(check_data(data),
                       "the data file has 3 sequences: fewer than 3 for training and 1 for "
                       "validation",
                       InputError);
  data.train = 2;
  data.L = 4;
  CHECK_THROWS_WITH_AS(check_data(data),
                       "the data file has vocabulary 3 and 4 tokens a sequence: vocabulary 3 with "
                       "length L = 4 needs 3 and 5",
                       InputError);
  data.L.reset();
  CHECK_THROWS_WITH_AS(check_data(data),
                       "length L = inf: a data file has sequences of a finite length", InputError);
  table->columns = 0;
  data.L = 3;
  CHECK_THROWS_WITH_AS(check_data(data),
                       "the data file has vocabulary 3 and 0 tokens a sequence: vocabulary 3 with "
                       "length L = 3 needs 3 and 4",
                       InputError);
}

TEST_CASE("what is out of range is refused with value and range") {
  const auto refused = [](auto change, const char* message) {
    DataSpec data;
    change(data);
    CHECK_THROWS_WITH_AS(check_data(data), message, InputError);
  };
  CHECK_NOTHROW(check_data({}));
  refused([](DataSpec& s) { s.d = 1; }, "vocabulary d = 1: must be 2 to 65536");
  refused([](DataSpec& s) { s.parents = {}; },
          "parents = : must be lags that ascend from 1 or more");
  refused(
      [](DataSpec& s) {
        s.parents = {2, 1};
      },
      "parents = 2,1: must be lags that ascend from 1 or more");
  refused(
      [](DataSpec& s) {
        s.parents = {1, 1};
      },
      "parents = 1,1: must be lags that ascend from 1 or more");
  refused(
      [](DataSpec& s) {
        s.parents = {0, 1};
      },
      "parents = 0,1: must be lags that ascend from 1 or more");
  refused([](DataSpec& s) { s.L = 1; }, "length L = 1: must be at least the largest parent lag 2");
  refused([](DataSpec& s) { s.L = 0; }, "length L = 0: must be at least the largest parent lag 2");
  refused([](DataSpec& s) { s.train = 0; }, "number of training sequences = 0: must be 1 or more");
  refused([](DataSpec& s) { s.prior.alpha = 1e-4; },
          "Dirichlet concentration alpha = 0.0001: must be 0.001 or more");
}
