#include "gih/base/parallel.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

namespace gih {

int available_threads() {
  return std::max(1, omp_get_num_procs());
}

void parallel_for(int threads, std::size_t count, const std::function<void(std::size_t)>& body) {
  std::atomic<bool> failed{false};
  std::mutex guard;
  std::exception_ptr first;
  std::size_t first_index = count;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::size_t i = 0; i < count; ++i) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      body(i);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(guard);
      if (i < first_index) {
        first_index = i;
        first = std::current_exception();
      }
      failed = true;
    }
  }
  if (first) std::rethrow_exception(first);
}

void TeamSize::change() {
  now_ = now_ == 1 ? threads_ : 1;
  on_trial_ = !on_trial_;
}

void TeamSize::took(double seconds) {
  if (threads_ == 1) return;
  sum_ += seconds;
  ++calls_;
  const double mean = sum_ / calls_;
  if (!on_trial_) {
    if (sum_ < wait_) return;
    mean_ = mean;
    change();
  } else {
    if (sum_ < trial || calls_ < fewest_calls) return;
    wait_ = std::max(std::min(2.0 * wait_, longest_wait), share * sum_);
    if (mean < mean_) {
      on_trial_ = false;  // the one that was tried holds from now on
    } else {
      change();
    }
  }
  sum_ = 0.0;
  calls_ = 0;
}

}  // namespace gih
