#include "theory/stage_claims.hpp"

using gih::test::check_row;

TEST_CASE("stage III, f_5") {
  for (const char* id : {"E.27", "E.35", "E.36"}) check_row(id, 5000);
  for (const char* id : {"Prop E.4", "f_5 positive", "E.31"}) check_row(id, 1500);
}

TEST_CASE("stage III, J~") {
  for (const char* id : {"Prop E.5", "Prop E.5.bound", "Prop E.5.Lipschitz"}) check_row(id, 15000);
  check_row("D_+", 1500);
  for (const char* id : {"r bounds", "E.32", "E.33"}) check_row(id, 3000);
}

TEST_CASE("stage III, small and large a") {
  for (const char* id : {"Thm III small", "Thm III large"}) check_row(id, 600);
  for (const char* id : {"Thm III small.printed", "Thm III large.printed"}) check_row(id, 600);
  for (const char* id : {"slope early", "slope late"}) check_row(id, 150);
  for (const char* id : {"time early", "time late"}) check_row(id, 900);
}
