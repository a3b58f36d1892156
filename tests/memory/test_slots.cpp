#include "gih/memory/slots.hpp"

#include <doctest/doctest.h>

#include <deque>

using namespace gih;

TEST_CASE("slots are a queue, whatever is pushed and dropped") {
  Slots slots(2, 1);
  std::deque<double> queue;
  double next = 0.0;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < round % 7; ++i, next += 1.0) {
      const double key[2] = {next, -next}, value = 2.0 * next;
      SlotInfo info;
      info.lo = static_cast<std::size_t>(next);
      slots.push(key, &value, info);
      queue.push_back(next);
    }
    const std::size_t drop =
        std::min<std::size_t>(queue.size(), static_cast<std::size_t>(round % 5));
    slots.drop_front(drop);
    queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(drop));
    REQUIRE(slots.size() == queue.size());
    for (std::size_t i = 0; i < queue.size(); ++i) {
      if (slots.key(i)[1] != -queue[i] || slots.value(i)[0] != 2.0 * queue[i] ||
          slots.info(i).lo != static_cast<std::size_t>(queue[i])) {
        FAIL("slot " << i << " in round " << round);
      }
    }
  }
  Slots other(2, 1);
  const std::size_t size = slots.size();
  const double first = queue.front();
  slots.move_front(2, other);
  CHECK(slots.size() == size - 2);
  CHECK(other.size() == 2);
  CHECK(other.key(0)[0] == first);
}
