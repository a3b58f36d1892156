#include "gih/base/window.hpp"

#include <doctest/doctest.h>

#include <array>

#include "gih/base/error.hpp"

using namespace gih;

namespace {

struct Sizes {
  int d;
  int M;
};
constexpr std::array<Sizes, 5> all_sizes{{{2, 1}, {2, 6}, {3, 3}, {5, 2}, {10, 4}}};

}  // namespace

TEST_CASE("every code decodes to a window that has this code") {
  for (const Sizes& sizes : all_sizes) {
    const int d = sizes.d;
    const int M = sizes.M;
    CAPTURE(d);
    CAPTURE(M);
    const WindowCodes codes(d, M);
    const WindowCode end = codes.first(M) + codes.count(M);
    WindowCode checked = 0;
    for (WindowCode code = 0; code < end; ++code, ++checked) {
      const auto lags = codes.decode(code);
      if (codes.encode(lags) != code || static_cast<int>(lags.size()) != codes.length(code)) {
        FAIL("code " << code);
      }
    }
    CHECK(checked == end);
  }
}

TEST_CASE("shorter windows come first, the most recent token is the least significant digit") {
  const WindowCodes codes(3, 2);
  CHECK(codes.first(0) == 0);
  CHECK(codes.first(1) == 1);
  CHECK(codes.first(2) == 4);
  CHECK(codes.count(0) == 1);
  CHECK(codes.count(1) == 3);
  CHECK(codes.count(2) == 9);
  CHECK(codes.encode({}) == 0);
  CHECK(codes.encode(std::array<Token, 1>{2}) == 3);
  CHECK(codes.encode(std::array<Token, 2>{2, 1}) == 4 + 2 + 3 * 1);
  CHECK(codes.decode(4 + 2 + 3 * 1) == std::vector<Token>{2, 1});
}

TEST_CASE("advance: the token becomes lag 1, the oldest lag drops out of a full window") {
  for (const Sizes& sizes : all_sizes) {
    const int d = sizes.d;
    const int M = sizes.M;
    CAPTURE(d);
    CAPTURE(M);
    const WindowCodes codes(d, M);
    const WindowCode end = codes.first(M) + codes.count(M);
    WindowCode checked = 0;
    for (WindowCode code = 0; code < end; ++code) {
      for (int token = 0; token < d; ++token, ++checked) {
        auto lags = codes.decode(code);
        lags.insert(lags.begin(), static_cast<Token>(token));
        if (static_cast<int>(lags.size()) > M) lags.pop_back();
        if (codes.advance(code, static_cast<Token>(token)) != codes.encode(lags)) {
          FAIL("code " << code << ", token " << token);
        }
      }
    }
    CHECK(checked == end * static_cast<WindowCode>(d));
  }
}

TEST_CASE("the window before each position of a prompt, directly and step by step") {
  const std::array<Token, 9> x{2, 0, 1, 1, 2, 2, 0, 1, 0};
  const WindowCodes codes(3, 4);
  WindowCode window = 0;
  for (std::size_t l = 0; l <= x.size(); ++l) {
    CAPTURE(l);
    std::vector<Token> lags;
    for (std::size_t i = 1; i <= std::min<std::size_t>(l, 4); ++i) lags.push_back(x[l - i]);
    CHECK(codes.at(x, l) == codes.encode(lags));
    CHECK(codes.at(x, l) == window);
    if (l < x.size()) window = codes.advance(window, x[l]);
  }
}

TEST_CASE("large codes are exact up to the limit, and refused above it") {
  const WindowCodes codes(4, 31);  // d^M = 2^62
  const std::vector<Token> last(31, 3);
  CHECK(codes.encode(last) == codes.first(31) + codes.count(31) - 1);
  CHECK(codes.decode(codes.encode(last)) == last);
  CHECK(codes.first(31) + codes.count(31) < WindowCode{1} << 63);
  CHECK_NOTHROW(WindowCodes(65536, 3));
  CHECK_THROWS_WITH_AS(WindowCodes(4, 32),
                       "vocabulary d = 4 with window M = 32: d^M must be at most 2^62", InputError);
  CHECK_THROWS_AS(WindowCodes(65536, 4), InputError);
  CHECK_THROWS_AS(WindowCodes(10, 19), InputError);
  CHECK_THROWS_AS(WindowCodes(2, 1000000000), InputError);
}

TEST_CASE("sizes out of range are refused with value and range") {
  CHECK_THROWS_WITH_AS(WindowCodes(1, 3), "vocabulary d = 1: must be 2 to 65536", InputError);
  CHECK_THROWS_WITH_AS(WindowCodes(65537, 1), "vocabulary d = 65537: must be 2 to 65536",
                       InputError);
  CHECK_THROWS_WITH_AS(WindowCodes(3, 0), "window M = 0: must be 1 or more", InputError);
}
