#pragma once
// How far a trained transformer is from the generalised induction head on prompts.

#include "gih/theory/conditions.hpp"

namespace gih {

/// Lemma E.6, pathwise: on each of (at most 2000) validation prompts, without their first M
/// positions, ||y - GIH||_1 against the bound that holds for every sequence, with S the subset of
/// the largest p. Training prompts where there is no validation data. The note has the mean
/// distance.
Check check_gih_distance(const Setup& setup, const Parameters& theta);

}  // namespace gih
