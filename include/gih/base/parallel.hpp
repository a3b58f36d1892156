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

}  // namespace gih
