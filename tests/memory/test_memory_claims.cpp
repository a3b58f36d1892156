#include "gih/memory/memory_claims.hpp"

#include "support/claim_rows.hpp"

using namespace gih;
using namespace gih::test;

TEST_CASE("every row says what it claims, in one table with those of the theory") {
  check_texts(all_claims());
  CHECK(memory_claims().size() >= 30);
  CHECK(all_claims().size() == claim_table().size() + memory_claims().size());
}

TEST_CASE("what fails as printed stands beside what holds in its place") {
  CHECK(check_printed(memory_claims()) >= 7);
}

TEST_CASE("every claim comes out as the table has it") {
  check_rows({}, memory_claims());
}
