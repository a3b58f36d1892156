#include "gih/base/parallel.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using gih::parallel_for;

TEST_CASE("every item runs once, for any number of threads") {
  for (const int threads : {1, 2, 3, 8}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
      CAPTURE(threads);
      CAPTURE(count);
      std::vector<std::atomic<int>> runs(count + 1);
      parallel_for(threads, count, [&](std::size_t i) { ++runs[i]; });
      std::size_t once = 0;
      for (std::size_t i = 0; i < count; ++i) once += runs[i] == 1 ? 1U : 0U;
      CHECK(once == count);
      CHECK(runs[count] == 0);
    }
  }
}

TEST_CASE("an exception reaches the caller and stops further items") {
  for (const int threads : {1, 2, 3, 8}) {
    CAPTURE(threads);
    std::atomic<int> runs{0};
    // Later items take their time, so that the thread of item 10 gets to throw.
    const auto body = [&](std::size_t i) {
      ++runs;
      if (i == 10) throw std::runtime_error("item 10");
      if (i > 10) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    CHECK_THROWS_WITH_AS(parallel_for(threads, 10000, body), "item 10", std::runtime_error);
    CHECK(runs < 10000);
    CHECK(runs >= 1);
  }
}

TEST_CASE("of several exceptions, that of the smallest index comes through") {
  // Two items wait for each other, so both throw; not for ever, where only one thread is to be had.
  std::atomic<int> waiting{0};
  const auto body = [&](std::size_t i) {
    ++waiting;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (waiting < 2 && std::chrono::steady_clock::now() < end) {
    }
    throw std::runtime_error("item " + std::to_string(i));
  };
  CHECK_THROWS_WITH_AS(parallel_for(2, 2, body), "item 0", std::runtime_error);
}

TEST_CASE("a loop works again after one that failed, and inside another") {
  CHECK_THROWS(parallel_for(2, 5, [](std::size_t) { throw 1; }));
  std::atomic<int> runs{0};
  parallel_for(2, 5, [&](std::size_t) { parallel_for(2, 5, [&](std::size_t) { ++runs; }); });
  CHECK(runs == 25);
}

TEST_CASE("there is at least one processor") {
  CHECK(gih::available_threads() >= 1);
}

TEST_CASE("the team size follows what is faster, and tries the other choice ever more rarely") {
  for (const int fast : {1, 4}) {
    CAPTURE(fast);
    gih::TeamSize team(4);
    int slow_calls = 0;
    for (int call = 0; call < 20000; ++call) {
      const int threads = team.next();
      REQUIRE((threads == 1 || threads == 4));
      slow_calls += threads != fast;
      team.took(threads == fast ? 1.0 : 100.0);
    }
    CHECK(slow_calls >= 4);
    CHECK(slow_calls < 100);
  }
  // What is faster changes: the choice follows.
  gih::TeamSize team(2);
  for (int call = 0; call < 1000; ++call) team.took(team.next() == 2 ? 1.0 : 2.0);
  CHECK(team.next() == 2);
  int later = 0;
  for (int call = 0; call < 20000; ++call) {
    later += team.next() == 1;
    team.took(team.next() == 2 ? 100.0 : 2.0);
  }
  CHECK(later > 15000);
  gih::TeamSize alone(1);
  for (int call = 0; call < 100; ++call) {
    CHECK(alone.next() == 1);
    alone.took(1.0);
  }
}
