#pragma once
// One training run by several processes: rank 0 is in carry_out, the others are here. All data are
// drawn by shares, and every step's chunks are computed by shares.

#include <functional>
#include <string>

#include "gih/base/ranks.hpp"
#include "gih/data/dataset.hpp"

namespace gih {

/// By rank 0: all ranks draw their share of this split. `config` is the resolved configuration.
void order_drawing(Ranks& ranks, const std::string& config, Split split);

/// By rank 0, in the end: releases the others, whose help_train returns `status`.
void release(Ranks& ranks, int status);

/// By the others: does what rank 0 orders until released. Drawing stops when `goes_on` returns
/// false, and with it the run.
int help_train(Ranks& ranks, const std::function<bool()>& goes_on);

}  // namespace gih
