#include <fmt/core.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "doctest/doctest.h"
#include "gih/app/config.hpp"
#include "gih/app/shared_training.hpp"
#include "gih/app/training_run.hpp"
#include "gih/base/error.hpp"
#include "gih/base/ranks.hpp"

using namespace gih;
namespace fs = std::filesystem;

namespace {

/// Bytes on their way from one rank to another.
struct Pipe {
  std::mutex mutex;
  std::condition_variable filled;
  std::deque<std::byte> bytes;

  void put(std::span<const std::byte> more) {
    const std::lock_guard lock(mutex);
    bytes.insert(bytes.end(), more.begin(), more.end());
    filled.notify_all();
  }
  void take(std::span<std::byte> into) {
    std::unique_lock lock(mutex);
    for (std::byte& byte : into) {
      filled.wait(lock, [&] { return !bytes.empty(); });
      byte = bytes.front();
      bytes.pop_front();
    }
  }
};

/// Ranks as threads of this process.
class ThreadRanks final : public Ranks {
 public:
  ThreadRanks(std::vector<Pipe>& pipes, int count, int rank)
      : pipes_(pipes), count_(count), rank_(rank) {}
  int count() const override { return count_; }
  int rank() const override { return rank_; }
  void broadcast(std::span<std::byte> bytes) override {
    if (rank_ > 0) return receive(0, bytes);
    for (int to = 1; to < count_; ++to) send(to, bytes);
  }
  void send(int to, std::span<const std::byte> bytes) override { pipe(rank_, to).put(bytes); }
  void receive(int from, std::span<std::byte> bytes) override { pipe(from, rank_).take(bytes); }

 private:
  Pipe& pipe(int from, int to) { return pipes_[static_cast<std::size_t>(from * count_ + to)]; }
  std::vector<Pipe>& pipes_;
  int count_, rank_;
};

const std::string small =
    "run.threads = 1\ndata.train = 700\ndata.validation = 90\ndata.length = 60\n"
    "stage.1.train = c\nstage.1.epochs = 20\nstage.2.train = w+a\nstage.2.epochs = 20\n";

/// What carry_out does with that many ranks: log and parameters, or what it throws. `changes` are
/// keys beside or instead of the small ones.
std::string outcome(const std::string& changes, int count, const std::string& stops_at = "") {
  const fs::path output = fs::temp_directory_path() / ("ranks." + std::to_string(getpid()) + ".h5");
  std::vector<Pipe> pipes(static_cast<std::size_t>(count * count));
  std::vector<std::thread> helpers;
  for (int rank = 1; rank < count; ++rank) {
    helpers.emplace_back([&, rank] {
      ThreadRanks ranks(pipes, count, rank);
      CHECK(help_train(ranks, [&] { return stops_at != "helper"; }) == 7);
    });
  }
  ThreadRanks ranks(pipes, count, 0);
  std::string found;
  try {
    std::vector<Assignment> keys = read_ini(small, "keys");
    for (const Assignment& key : read_ini(changes, "changes")) keys.push_back(key);
    TrainingRun run = new_run(keys, output);
    const bool finished =
        carry_out(run, true,
                  {[&](const char*, std::size_t, std::size_t) { return stops_at != "drawing"; },
                   [&](const TrainState& state) { return stops_at != "step" || state.step < 10; }},
                  count > 1 ? &ranks : nullptr);
    found = finished ? "finished" : "stopped";
    for (const LogRow& row : run.file.state.log) {
      found += fmt::format(" {} {} {}", row.train_loss, row.validation_loss, row.theta.a);
    }
    const auto& theta = run.file.state.theta;
    for (const double x : theta.c.reshaped()) found += fmt::format(" {}", x);
    for (const double x : theta.w.reshaped()) found += fmt::format(" {}", x);
  } catch (const InputError& error) {
    found = std::string("refused: ") + error.what();
  }
  release(ranks, 7);
  for (std::thread& helper : helpers) helper.join();
  fs::remove(output);
  fs::remove(fs::path(output.string() + ".part"));
  return found;
}

}  // namespace

TEST_CASE("shares are runs of about equal length, in order, that leave nothing out") {
  for (const std::size_t items : {0U, 1U, 5U, 64U, 1000U}) {
    for (const int count : {1, 2, 3, 7}) {
      std::size_t at = 0;
      for (int rank = 0; rank < count; ++rank) {
        const Share share = share_of(items, count, rank);
        CHECK(share.first == at);
        CHECK(share.size() + 1 >= items / static_cast<std::size_t>(count) + 1);
        CHECK(share.size() <= items / static_cast<std::size_t>(count) + 1);
        at = share.last;
      }
      CHECK(at == items);
    }
  }
}

TEST_CASE("any number of ranks finds the same numbers") {
  const std::string kinds[] = {
      "",
      "data.train = 3\ndata.validation = 0\n",  // fewer sequences and chunks than ranks
      "data.length = inf\ndata.train = 40\n",
      "data.target = conditional\nstage.2.epochs = 0\nstage.2.method = flow\nstage.2.time = 30\n",
      "loss.positions = sequential\n",
      "data.vocab = 10\nmodel.window = 3\n",
      "init.a = 500\n"};  // the careful path
  for (const std::string& changes : kinds) {
    CAPTURE(changes);
    const std::string alone = outcome(changes, 1);
    CHECK_MESSAGE(alone.starts_with("finished"), alone);
    for (const int count : {2, 3, 5}) CHECK(outcome(changes, count) == alone);
  }
}

TEST_CASE("what stops or refuses one rank stops or refuses all") {
  CHECK(outcome("", 3, "step").starts_with("stopped"));
  CHECK(outcome("", 3, "step") == outcome("", 1, "step"));
  CHECK(outcome("", 3, "drawing").starts_with("stopped"));
  CHECK(outcome("", 3, "helper").starts_with("stopped"));
  // Two recurrent classes have no single long-run law: refused while drawing, by every rank.
  const fs::path kernel =
      fs::temp_directory_path() / ("ranks." + std::to_string(getpid()) + ".json");
  std::ofstream(kernel) << R"({"vocab": 2, "parents": [1], "pi": [[1, 0], [0, 1]]})";
  const std::string reducible =
      "data.initial = stationary\ndata.kernels = " + kernel.string() + "\n";
  const std::string refused = outcome(reducible, 1);
  CHECK_MESSAGE(refused.find("2 recurrent classes") != std::string::npos, refused);
  CHECK(outcome(reducible, 3) == refused);
  fs::remove(kernel);
}
