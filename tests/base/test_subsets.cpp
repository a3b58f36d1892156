#include "gih/base/subsets.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "gih/base/error.hpp"

using namespace gih;

namespace {

std::size_t binomial(int n, int k) {
  std::size_t value = 1;
  for (int i = 1; i <= k; ++i) {
    value = value * static_cast<std::size_t>(n - k + i) / static_cast<std::size_t>(i);
  }
  return value;
}

}  // namespace

TEST_CASE("subsets ascend as masks: (), 1, 2, 12, 3, 13, 23") {
  CHECK(subsets(3, 2, SubsetRule::at_most) == std::vector<Subset>{0, 1, 2, 3, 4, 5, 6});
  CHECK(subsets(3, 3, SubsetRule::at_most) == std::vector<Subset>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(subsets(3, 1, SubsetRule::at_most) == std::vector<Subset>{0, 1, 2, 4});
  CHECK(subsets(3, 2, SubsetRule::exactly) == std::vector<Subset>{3, 5, 6});
  CHECK(subsets(1, 1, SubsetRule::exactly) == std::vector<Subset>{1});
}

TEST_CASE("their number is a sum of binomials") {
  for (int H = 1; H <= 10; ++H) {
    std::size_t at_most = 1;
    for (int D = 1; D <= H; ++D) {
      CAPTURE(H);
      CAPTURE(D);
      at_most += binomial(H, D);
      const auto all = subsets(H, D, SubsetRule::at_most);
      CHECK(all.size() == at_most);
      CHECK(std::is_sorted(all.begin(), all.end()));
      const auto exact = subsets(H, D, SubsetRule::exactly);
      CHECK(exact.size() == binomial(H, D));
      CHECK(std::all_of(exact.begin(), exact.end(), [&](Subset S) { return subset_size(S) == D; }));
    }
  }
}

TEST_CASE("codes: character i is element i") {
  CHECK(subset_code(0, 3) == "000");
  CHECK(subset_code(3, 3) == "110");
  CHECK(subset_code(4, 3) == "001");
  CHECK(subset_code(5, 4) == "1010");
  CHECK(subset_code(1U << 30, 31) == std::string(30, '0') + "1");
  CHECK(subset_size(0) == 0);
  CHECK(subset_size(0b1011) == 3);
}

TEST_CASE("sizes out of range are refused with value and range") {
  CHECK_THROWS_WITH_AS(subsets(0, 1, SubsetRule::at_most), "heads H = 0: must be 1 to 31",
                       InputError);
  CHECK_THROWS_WITH_AS(subsets(32, 1, SubsetRule::at_most), "heads H = 32: must be 1 to 31",
                       InputError);
  CHECK_THROWS_WITH_AS(subsets(3, 4, SubsetRule::at_most),
                       "degree D = 4: must be 1 to the number of heads H = 3", InputError);
  CHECK_THROWS_WITH_AS(subsets(3, 0, SubsetRule::exactly),
                       "degree D = 0: must be 1 to the number of heads H = 3", InputError);
}
