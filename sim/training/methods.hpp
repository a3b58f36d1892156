#pragma once
// What the methods of integration share.

#include <string>

#include "gih/training/integrator.hpp"

namespace gih {

/// RunError with stage, step, what is wrong and what may help.
[[noreturn]] void fail(const StageRun& run, const std::string& what, const std::string& remedy);

/// The remedy where numbers grow out of bounds.
std::string smaller_steps(const StageRun& run);

/// Logs theta at this time of the stage, with both losses.
void append_row(StageRun& run, double time, const Parameters& theta, double train_loss);

bool gradient_flow(StageRun& run);

}  // namespace gih
