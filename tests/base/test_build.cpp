#include "gih/base/build.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

namespace {

/// Constants by way of a copy of 32 bytes; not inlined, so that the copy is really made.
__attribute__((noinline)) void copy_constants(double* to) {
  const double constants[4] = {0.5, 0.5, 0.0, 0.0};
  std::memcpy(to, constants, sizeof constants);
}

std::vector<double> flat(const std::vector<std::vector<double>>& rows) {
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

}  // namespace

TEST_CASE("the compiler keeps constants: gcc 12.2 with AVX-512 does not under its own defaults") {
  double copied[4];
  copy_constants(copied);
  CHECK(copied[0] == 0.5);
  CHECK(copied[1] == 0.5);
  CHECK(copied[2] == 0.0);
  CHECK(copied[3] == 0.0);
  const std::vector<double> listed = flat({{0.5, 0.5, 0, 0}, {0.25, 0.75, 0, 0}});
  const double wanted[8] = {0.5, 0.5, 0, 0, 0.25, 0.75, 0, 0};
  CHECK(std::memcmp(listed.data(), wanted, sizeof wanted) == 0);
  CHECK(listed[2] == 0.0);
  CHECK(listed[3] == 0.0);
}

TEST_CASE("the program knows what it was built from and for") {
  const gih::BuildInfo& build = gih::build_info();
  CHECK_FALSE(build.version.empty());
  CHECK_FALSE(build.git_commit.empty());
  CHECK_FALSE(build.build_type.empty());
  CHECK_FALSE(build.instruction_set.empty());
  CHECK((build.compiler.starts_with("gcc ") || build.compiler.starts_with("clang ")));
  CHECK(&gih::build_info() == &build);
}
