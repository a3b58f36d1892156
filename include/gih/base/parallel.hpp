#pragma once
// Loops over independent items. Whoever uses them writes each item's result to its own place and
// gathers in a fixed order, so results do not depend on the number of threads.

#include <cstddef>
#include <functional>

namespace gih {

/// Number of processors that this process may use, at least 1.
int available_threads();

/// Calls body(i) for i in [0, count), spread over `threads` threads (at least 1), items taken as
/// threads become free. An exception in a body stops further items and is thrown again here; of
/// several, the one of the smallest index that ran.
void parallel_for(int threads, std::size_t count, const std::function<void(std::size_t)>& body);

/// Chooses for a short loop that runs very often between one thread and all, by how long each took.
/// Where other processes use the machine, threads that wait for each other a thousand times a
/// second can be a hundred times slower than one alone. The choice moves no result.
class TeamSize {
 public:
  explicit TeamSize(int threads) : threads_(threads), now_(1) {}

  /// Threads for the next call.
  int next() const { return now_; }
  /// That call took so long.
  void took(double seconds);

 private:
  // In seconds of calls. A trial is long enough to meet the stalls of a busy machine, which come
  // every few milliseconds and last as long, and short against what it decides.
  static constexpr double trial = 0.005, first_wait = 0.02, longest_wait = 0.5;
  static constexpr int fewest_calls = 3;
  static constexpr double share = 20.0;  // of waiting to trying, also where a call is long

  void change();

  int threads_, now_;
  bool on_trial_ = false;
  double wait_ = first_wait;
  double sum_ = 0.0;  // of the calls since the choice or trial began
  int calls_ = 0;
  double mean_ = 0.0;  // of the choice that holds, before this trial
};

}  // namespace gih
