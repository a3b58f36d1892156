#pragma once
// The rows of the claim table, by subject.

#include "gih/theory/claims.hpp"

namespace gih {

std::vector<Claim> loss_claims();           // claims_loss.cpp: section 1
std::vector<Claim> model_claims();          // claims_model.cpp: section 2
std::vector<Claim> gradient_claims();       // claims_gradients.cpp: sections 4.1 - 4.5
std::vector<Claim> information_claims();    // claims_information.cpp: section 3
std::vector<Claim> parent_claims();         // claims_parents.cpp: section 3, when S* is pa
std::vector<Claim> mixing_claims();         // claims_mixing.cpp: section 6, the window chain
std::vector<Claim> distance_claims();       // claims_distance.cpp: F.16 - F.19
std::vector<Claim> error_claims();          // claims_errors.cpp: F.1 - F.5
std::vector<Claim> star_claims();           // claims_star.cpp: F.9 - F.11
std::vector<Claim> lag_claims();            // claims_lags.cpp: F.6, F.7
std::vector<Claim> chain_claims();          // claims_chains.cpp: sections E.2 - E.4, step by step
std::vector<Claim> limit_claims();          // claims_limit.cpp: Lemma E.6
std::vector<Claim> selection_claims();      // claims_selection.cpp: stage I
std::vector<Claim> concentration_claims();  // claims_concentration.cpp: stage II, at given weights
std::vector<Claim> focus_claims();          // claims_focus.cpp: stage II, along the flow
std::vector<Claim> growth_claims();         // claims_growth.cpp: stage III, f_5
std::vector<Claim> curve_claims();          // claims_curve.cpp: stage III, J~
std::vector<Claim> regime_claims();         // claims_regimes.cpp: stage III, small and large a

}  // namespace gih
