#pragma once
// What the formulas of one sequence are made of (2.2 - 2.5, 4.1 - 4.5), written position by
// position and in complex numbers, so that a derivative is the imaginary part of a step of 1e-30
// along the imaginary axis: no difference is taken, no digit is lost.

#include <Eigen/Dense>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gih/data/prompts.hpp"
#include "gih/model/objective.hpp"
#include "gih/theory/worlds.hpp"

namespace gih {

/// Theta with complex entries.
struct ComplexParameters {
  Eigen::MatrixXcd w;  ///< H x M
  Eigen::VectorXcd c;  ///< nS
  std::complex<double> a;

  explicit ComplexParameters(const Parameters& theta)
      : w(theta.w.cast<std::complex<double>>()),
        c(theta.c.cast<std::complex<double>>()),
        a(theta.a) {}
};

/// Derivative of f by one variable, given f with that variable moved by the step it is handed.
std::complex<double> imaginary_step();
double derivative(std::complex<double> moved);

/// v_l^(h) (2.2) of every position l = 1 .. L+1 (entry l-1), each H x d, from the whole matrix
/// softmax(W_P^(h)) times X~, whose last row is 0.
std::vector<Eigen::MatrixXcd> first_attention(const ComplexParameters& theta, int d,
                                              std::span<const Token> prompt);

/// phi(v) (C.3): c_S times every product of one entry of each head in S.
Eigen::VectorXd features(const std::vector<Subset>& subsets, const Eigen::VectorXd& c,
                         const Eigen::MatrixXd& v);

/// <phi(v), phi(v')> (2.3) as the sum over S.
std::complex<double> kernel_of(const std::vector<Subset>& subsets, const Eigen::VectorXcd& c,
                               const Eigen::MatrixXcd& v, const Eigen::MatrixXcd& v_prime);

/// s_l, l = M+1 .. L (2.5).
Eigen::VectorXcd masked_scores(const ModelSpec& model, const ComplexParameters& theta,
                               std::span<const Token> prompt);

/// -log(y_q + eps) of these scores; x holds x_1 .. x_{L+1}.
std::complex<double> loss_of_scores(const Eigen::VectorXcd& s, std::complex<double> a, double eps,
                                    std::span<const Token> x);

/// Terms at the positions l = M+1 .. L of x_1 .. x_{L+1}, N' of them.
struct SequenceTerms {
  Eigen::VectorXd s, sigma, rho;        ///< N'
  Eigen::MatrixXd K;                    ///< nS x N': K_S(l)
  std::vector<Eigen::MatrixXd> b;       ///< of each head, M x N': b_l^(h) (E.14)
  std::vector<Eigen::VectorXd> others;  ///< of each head, N': sum_{S with h} p_S prod of the rest
};

/// `second_sign` stands between the two parts of b_l^(h): +1, or -1 as the text has it.
SequenceTerms sequence_terms(const ModelSpec& model, const Parameters& theta, double eps,
                             std::span<const Token> x, double second_sign = 1.0);

/// Expectations over the sequences of a world (masked).
struct FlowTerms {
  Eigen::VectorXd g0;               ///< nS: g_{0,S}
  double f = 0.0;                   ///< E sum_l sigma_l rho_l s_l
  std::vector<Eigen::VectorXd> gh;  ///< of each head, M: g_{h,0}
};
FlowTerms flow_terms(const World& world, double second_sign = 1.0);

/// softmax of a row of w.
Eigen::VectorXd softmax(const Eigen::VectorXd& w);

/// Theta with heads that attend to their own lag alone, up to e^-60.
Parameters one_hot_heads(const Parameters& theta);

/// All sequences x_1 .. x_{L+1} of a world with their probability under its prior.
struct AllSequences {
  std::vector<std::vector<Token>> x;
  std::vector<double> weight;
};
AllSequences all_sequences(const World& world);

/// Every `stride`-th sequence of a world, for what holds on each.
std::vector<std::vector<Token>> some_sequences(const World& world, std::size_t stride);

/// x_1 .. x_L of x_1 .. x_{L+1}.
std::span<const Token> prompt_of(std::span<const Token> x);

/// All sequences as prompts of the table engine.
Prompts world_prompts(const World& world, const AllSequences& all, bool mask,
                      Positions positions = Positions::last);

/// The model of a world with the mask that the theory assumes.
ModelSpec masked_model(const World& world);

/// The masked loss of a world, exact, by the table engine.
std::unique_ptr<Objective> world_objective(const World& world);

}  // namespace gih
