#pragma once
// The chains by which the gradient flow at finite L is led to its population limit (sec. E.2 -
// E.4), each member by summing over all sequences or over independent windows.

#include <array>
#include <vector>

#include "claim_cases.hpp"

namespace gih {

/// g_0 .. g_3 of every subset of the model (sec. E.2).
std::array<std::vector<double>, 4> g_chain(const LossCase& given);

/// E_{X|pi} sum_l sigma_l rho_l s_l.
double f_0(const LossCase& given);

/// (e_h - e_i)^T g_{h,0} .. g_{h,4} for every lag i (entry i-1), head h in S (sec. E.3).
std::array<std::vector<double>, 5> contrast_chain(const LossCase& given, Subset S, int h);

struct FChain {
  std::array<double, 6> f{};  ///< f_0 .. f_5 (sec. E.4)
  double l1 = 0.0;            ///< left side of F.19
  double apart = 0.0;         ///< TV of the law of (x_{L+1}, X_{L+1-S}) to mu
};
FChain f_chain(const LossCase& given, Subset S);

/// E D_chi2(ybar || mu).
double token_chi_square(const LossCase& given);

}  // namespace gih
