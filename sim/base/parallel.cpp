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

void TeamSize::took(double seconds) {
  if (threads_ == 1) return;
  if (!on_trial_) {
    mean_ = mean_ > 0.0 ? mean_ + (seconds - mean_) / 16.0 : seconds;
    if (--left_ > 0) return;
    on_trial_ = true;
    now_ = other();
    left_ = trial_calls;
    trial_ = 0.0;
    return;
  }
  trial_ += seconds;
  if (--left_ > 0) return;
  on_trial_ = false;
  const double mean = trial_ / trial_calls;
  if (mean < mean_) {
    mean_ = mean;
    wait_ = 64;
  } else {
    now_ = other();
    wait_ = std::min(2 * wait_, longest_wait);
  }
  left_ = wait_;
}

}  // namespace gih
