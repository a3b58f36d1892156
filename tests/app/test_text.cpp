#include "gih/app/text.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace gih;

TEST_CASE("numbers are finite decimals with nothing around them") {
  struct {
    const char* text;
    double value;
  } const accepted[] = {
      {"0", 0.0},
      {"0.1", 0.1},
      {"-1", -1.0},
      {"+1", 1.0},
      {"1e-3", 1e-3},
      {"1E5", 1e5},
      {".5", 0.5},
      {"5.", 5.0},
      {"1e308", 1e308},
      {"4.9406564584124654e-324", 4.9406564584124654e-324},
      {"0.1000000000000000055511151231257827", 0.1},
  };
  for (const auto& c : accepted) {
    CAPTURE(std::string(c.text));
    CHECK(to_number(c.text) == c.value);
  }
  for (const char* text : {"",
                           " ",
                           "nan",
                           "NaN",
                           "-nan",
                           "inf",
                           "-inf",
                           "infinity",
                           "0x10",
                           " 1",
                           "1 ",
                           "1,5",
                           "1.5.2",
                           "1e",
                           "e5",
                           "--1",
                           "+-1",
                           "-+1",
                           "++1",
                           "1e400",
                           "-1e400",
                           "one",
                           "1f",
                           "1_000",
                           "\xe2\x88\x92"
                           "1"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(to_number(text).has_value());
  }
}

TEST_CASE("whole numbers may be written with an exponent") {
  struct {
    const char* text;
    std::uint64_t value;
  } const accepted[] = {
      {"0", 0},
      {"7", 7},
      {"007", 7},
      {"1e4", 10000},
      {"1E4", 10000},
      {"1.5e1", 15},
      {"100.0", 100},
      {"+5", 5},
      {"9007199254740993", 9007199254740993U},
      {"18446744073709551615", 18446744073709551615U},
  };
  for (const auto& c : accepted) {
    CAPTURE(std::string(c.text));
    CHECK(to_integer(c.text) == c.value);
  }
  for (const char* text : {"", "-1", "1.5", "1e-1", "1e30", "nan", "inf", "0x10", " 1", "1 ",
                           "18446744073709551616", "9007199254740993.0", "-1e4", "1,000"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(to_integer(text).has_value());
  }
}

TEST_CASE("a number's text is the shortest that reads back the same") {
  struct {
    double value;
    const char* text;
  } const cases[] = {{0.1, "0.1"},    {1.0, "1"}, {-2.5, "-2.5"},
                     {1e-8, "1e-08"}, {0.0, "0"}, {1.0 / 3.0, "0.3333333333333333"}};
  for (const auto& c : cases) CHECK(to_text(c.value) == c.text);
  for (const double value :
       {0.1, 1.0 / 3.0, 1e308, 4.9406564584124654e-324, -0.0, 2.2250738585072014e-308,
        std::nextafter(1.0, 2.0), 123456789.123456789}) {
    CAPTURE(value);
    REQUIRE(to_number(to_text(value)).has_value());
    CHECK(*to_number(to_text(value)) == value);
    CHECK(std::signbit(*to_number(to_text(value))) == std::signbit(value));
  }
}

TEST_CASE("split keeps empty pieces and drops surrounding blanks") {
  using Pieces = std::vector<std::string>;
  struct {
    const char* text;
    Pieces pieces;
  } const cases[] = {
      {"", {""}},
      {"a", {"a"}},
      {"1,2", {"1", "2"}},
      {" 1 ,\t2 ", {"1", "2"}},
      {"1,,2", {"1", "", "2"}},
      {",", {"", ""}},
      {"a b,c", {"a b", "c"}},
  };
  for (const auto& c : cases) {
    CAPTURE(std::string(c.text));
    CHECK(split(c.text, ',') == c.pieces);
  }
}
