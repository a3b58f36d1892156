#include "gih/base/build.hpp"

#include <doctest/doctest.h>

TEST_CASE("the program knows what it was built from and for") {
  const gih::BuildInfo& build = gih::build_info();
  CHECK_FALSE(build.version.empty());
  CHECK_FALSE(build.git_commit.empty());
  CHECK_FALSE(build.build_type.empty());
  CHECK_FALSE(build.instruction_set.empty());
  CHECK((build.compiler.starts_with("gcc ") || build.compiler.starts_with("clang ")));
  CHECK(&gih::build_info() == &build);
}
