#include "theory/stage_claims.hpp"

using gih::test::check_row;

TEST_CASE("stage I") {
  check_row("E.8", 150);
  check_row("E.11", 40);
  check_row("E.12", 100);
  check_row("stage-I.share", 70);
  check_row("stage-I.closed-form", 500);
  check_row("Thm I", 500);
  check_row("t_1", 80);
}

TEST_CASE("stage II at given weights") {
  for (const char* id : {"stage-II.contrast", "E.20", "E.21"}) check_row(id, 80);
  check_row("E.19", 40);
  check_row("stage-II.psi", 50);
  check_row("E.25", 30);
  check_row("E.26", 35);
  check_row("E.26.k=8", 10);
  check_row("stage-II.other-heads", 100);
}

TEST_CASE("stage II along the flow") {
  check_row("Lemma E.2", 1800);
  check_row("Prop E.3", 1400);
  check_row("stage-II.bracket", 60);
  check_row("E.24", 1800);
  check_row("Thm II", 300);
  check_row("t_2", 20);
}
