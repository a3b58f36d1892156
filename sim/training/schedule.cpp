#include "gih/training/schedule.hpp"

#include <cmath>

namespace gih {

std::vector<std::size_t> log_steps(std::size_t epochs, std::size_t every) {
  std::vector<std::size_t> steps{0};
  if (every > 0) {
    for (std::size_t step = every; step < epochs; step += every) steps.push_back(step);
  } else {
    constexpr int points = 1998;
    const double top = std::log(static_cast<double>(epochs));
    for (int i = 0; i < points && epochs > 1; ++i) {
      const auto step = static_cast<std::size_t>(std::exp(top * i / points));
      if (step > steps.back() && step < epochs) steps.push_back(step);
    }
  }
  if (epochs > 0) steps.push_back(epochs);
  return steps;
}

std::vector<double> log_times(double time, double every) {
  std::vector<double> times{0.0};
  if (every > 0.0) {
    for (double i = 1.0; i * every < time; i += 1.0) times.push_back(i * every);
  } else {
    constexpr int points = 298;
    for (int i = 0; i < points && time > 0.0; ++i) {
      times.push_back(time * std::pow(10.0, -6.0 * (1.0 - static_cast<double>(i) / points)));
    }
  }
  if (time > 0.0) times.push_back(time);
  return times;
}

}  // namespace gih
