#pragma once
// What a run remembers.

#include <cstddef>
#include <vector>

#include "gih/model/parameters.hpp"

namespace gih {

struct LogRow {
  int stage = 0;         ///< 1, 2, ...; 0 for a run without stages
  std::size_t step = 0;  ///< steps so far in the stage
  double time = 0.0;     ///< flow time so far in the stage; gd: step x learning rate
  double train_loss = 0.0;
  double validation_loss = 0.0;  ///< NaN when there is no validation data
  Parameters theta;
};

using Log = std::vector<LogRow>;

/// Everything that a run needs in order to go on: with the same configuration the rest of the run
/// is determined, bit for bit.
struct TrainState {
  int stage = 1;           ///< stage under way, 1 ..; one more than there are once the run is done
  std::size_t step = 0;    ///< steps done in it
  double time = 0.0;       ///< flow time done in it
  double next_step = 0.0;  ///< step size that the flow's error control asks for; 0: none yet
  std::vector<double> coordinates;  ///< of the flow, which goes on from them; empty for gd
  Parameters theta;
  Log log;
};

}  // namespace gih
