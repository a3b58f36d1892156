#include <doctest/doctest.h>

#include <cmath>

#include "../../sim/theory/sequence_terms.hpp"
#include "gih/model/reference_engine.hpp"
#include "support/claim_rows.hpp"

using namespace gih;

TEST_CASE("the model's identities come out as expected") {
  test::check_rows({"P_pi", "mu", "2.1", "KL", "C.5", "2.2", "2.3", "C.3", "C.4", "2.4", "2.5",
                    "D.1", "D.2", "relabel"});
  CHECK(test::row("D.1").tally.ratio() == doctest::Approx(1.0));
}

TEST_CASE("the gradients come out as expected, the printed sign as wrong") {
  test::check_rows({"3.4", "E.3", "E.4", "E.5", "Lemma E.1", "C_D.gd", "f0", "E.14", "E.14.printed",
                    "E.14.range", "E.15", "E.15.printed", "w.sum", "E.16", "E.17"});
  CHECK(test::row("E.14.range").tally.ratio() == doctest::Approx(1.0));
}

TEST_CASE("an imaginary step gives a derivative to the last digits") {
  const std::complex<double> x = 0.7 + imaginary_step();
  CHECK(std::abs(derivative(std::exp(x * x)) - 1.4 * std::exp(0.49)) <= 1e-15);
}

TEST_CASE("the terms of a sequence are those of the literal model") {
  const World& world = worlds()[0];
  const ModelSpec model = masked_model(world);
  const std::vector<Token> x{0, 1, 1, 0, 1, 0, 0, 1, 1};
  const SequenceTerms terms = sequence_terms(model, world.theta, world.eps, x);
  const ReferenceTrace trace = reference_trace(model, world.theta, prompt_of(x));
  REQUIRE(terms.s.size() == world.L - world.M());
  for (Eigen::Index n = 0; n < terms.s.size(); ++n) {
    CAPTURE(n);
    CHECK(std::abs(terms.s(n) - trace.s(n + world.M())) <= 1e-15);
    CHECK(std::abs(terms.sigma(n) - trace.sigma(n + world.M())) <= 1e-15);
    const double match = x[static_cast<std::size_t>(n + world.M())] == x.back() ? 1.0 : 0.0;
    const double y_q = trace.y(x.back());
    CHECK(std::abs(terms.rho(n) - (match - y_q) / (y_q + world.eps)) <= 1e-14);
  }
}

TEST_CASE("features of two heads by hand") {
  const std::vector<Subset> sets{0, 1, 2, 3};
  const Eigen::MatrixXd v{{2.0, 3.0}, {5.0, 7.0}};
  const Eigen::VectorXd phi = features(sets, Eigen::VectorXd{{1.0, 10.0, 100.0, 1000.0}}, v);
  CHECK(phi ==
        Eigen::VectorXd{{1.0, 20.0, 30.0, 500.0, 700.0, 10000.0, 14000.0, 15000.0, 21000.0}});
}

TEST_CASE("the sequences of a world have probability 1") {
  for (const World& world : worlds()) {
    CAPTURE(world.name);
    const AllSequences all = all_sequences(world);
    CHECK(static_cast<double>(all.x.size()) == std::pow(world.d(), world.L + 1));
    double sum = 0.0;
    for (const double weight : all.weight) sum += weight;
    CHECK(std::abs(sum - 1.0) <= 1e-12);
  }
}
