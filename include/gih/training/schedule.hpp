#pragma once
// What is trained, how and for how long.

#include <cstddef>
#include <string>
#include <vector>

#include "gih/model/parameters.hpp"

namespace gih {

struct Stage {
  Blocks trains;
  std::string method = "gd";               ///< a row of integrator_table()
  std::size_t epochs = 0;                  ///< gd: steps
  double learning_rate = 1.0;              ///< gd: step size
  double time = 0.0;                       ///< flow: how long
  double tolerance = 1e-8;                 ///< flow: error of a step, absolute and relative
  std::string stepper = "dormand-prince";  ///< flow: a row of stepper_table()
};

using Schedule = std::vector<Stage>;

/// Steps 0 .. epochs at which a stage writes a log row, ascending, first and last included.
/// every = 0: at most 2000 rows, every step at the start, then evenly in the logarithm, because
/// what a stage does is spread over orders of magnitude of time.
std::vector<std::size_t> log_steps(std::size_t epochs, std::size_t every);

/// Times 0 .. time at which a flow writes a log row. every = 0: 300 of them, evenly in the
/// logarithm from a millionth of the time on; else every so much time.
std::vector<double> log_times(double time, double every);

}  // namespace gih
