#include "sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

#include "cli.hpp"
#include "gih/app/sweep_folder.hpp"
#include "gih/app/training_run.hpp"
#include "gih/base/error.hpp"
#include "gih/io/atomic_file.hpp"
#include "gih/io/stored.hpp"
#include "interrupt.hpp"
#include "progress.hpp"

namespace gih::cli {
namespace {

namespace fs = std::filesystem;

enum class Outcome { finished, stopped, failed, busy };

/// One point under way.
struct Job {
  const GridPoint& point;
  fs::path run;
  Outcome outcome = Outcome::stopped;
  std::string reason;              // of a failure
  std::atomic<double> share{0.0};  // of the work that is done

  Job(const GridPoint& p, fs::path path) : point(p), run(std::move(path)) {}
};

/// True when the finished run is there; InputError when something else is.
bool is_made(const Job& job) {
  std::error_code ignored;
  if (!fs::exists(job.run, ignored)) return false;
  if (!computes_same(read_stored(job.run).config, job.point.config)) {
    throw InputError(fmt::format("{}: holds another configuration", job.run.string()));
  }
  // What a kill at the last moment leaves, and a failure before the success.
  fs::remove(part_path(job.run), ignored);
  fs::remove(failure_path(job.run), ignored);
  return true;
}

double share_of(const TrainState& state, const Schedule& schedule) {
  const Stage& stage = schedule[static_cast<std::size_t>(state.stage - 1)];
  const bool flow = stage.method == "flow";
  const double done = flow ? state.time : static_cast<double>(state.step);
  const double total = flow ? stage.time : static_cast<double>(stage.epochs);
  return (state.stage - 1 + (total > 0.0 ? done / total : 1.0)) /
         static_cast<double>(schedule.size());
}

/// What gih train does, from the start or from where it stopped.
Outcome make(Job& job, int threads) {
  if (is_made(job)) {
    remove_stale_lock(job.run);
    return Outcome::finished;
  }
  std::error_code ignored;
  const bool unfinished = fs::exists(part_path(job.run), ignored);
  TrainingRun run =
      unfinished ? unfinished_run(job.point.keys, job.run) : new_run(job.point.keys, job.run);
  if (!computes_same(run.file.config, job.point.config)) {
    throw InputError(fmt::format("{}: holds another configuration", part_path(job.run).string()));
  }
  check_memory(run.settings, training_bytes(run.settings));
  run.settings.threads = threads;  // results do not depend on it
  const bool finished = carry_out(
      run, false,
      {[](const char*, std::size_t, std::size_t) { return !interrupted(); },
       [&](const TrainState& state) {
         job.share.store(share_of(state, run.settings.schedule), std::memory_order_relaxed);
         return !interrupted();
       }});
  return finished && is_made(job) ? Outcome::finished : Outcome::stopped;
}

/// The same, where a failure becomes the outcome and is left beside the run.
void attempt(Job& job, int threads) {
  try {
    job.outcome = make(job, threads);
    return;
  } catch (const Busy& error) {
    job.outcome = Outcome::busy;
    job.reason = error.what();
    return;
  } catch (const std::bad_alloc&) {
    job.reason = "out of memory";
  } catch (const std::exception& error) {
    job.reason = error.what();
  }
  job.outcome = Outcome::failed;
  try {
    write_atomically(failure_path(job.run), job.reason);
    // Another process may have finished it between one look and the next.
    if (is_made(job)) job.outcome = Outcome::finished;
  } catch (const std::exception&) {
    // What failed first is what is told.
  }
}

/// Runs side by side with one thread each are faster than one after the other with all threads, as
/// threads of one run wait for each other at each step. So there are as many runs as threads; where
/// there are fewer, or memory holds fewer, each gets its share of the threads.
class Pool {
 public:
  Pool(std::vector<std::unique_ptr<Job>>& todo, int jobs, int threads)
      : todo_(todo), jobs_(jobs), threads_(threads) {
    for (int i = 0; i < jobs; ++i) workers_.emplace_back([this] { work(); });
  }

  /// Waits a moment; true when all is done.
  bool wait() {
    std::unique_lock<std::mutex> lock(guard_);
    return changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return ended_ == jobs_; });
  }

  double done() const {
    double sum = 0.0;
    for (const auto& job : todo_) sum += job->share.load(std::memory_order_relaxed);
    return sum;
  }

  int failures() const { return failures_.load(std::memory_order_relaxed); }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(guard_);
    while (next_ < todo_.size() && !interrupted()) {
      const std::size_t left = todo_.size() - next_ + running_;
      const int beside = std::min(jobs_, static_cast<int>(std::min<std::size_t>(left, 1024)));
      Job& job = *todo_[next_++];
      ++running_;
      lock.unlock();
      attempt(job, std::max(1, threads_ / beside));
      job.share.store(job.outcome == Outcome::stopped ? job.share.load() : 1.0);
      if (job.outcome == Outcome::failed) ++failures_;
      lock.lock();
      --running_;
    }
    ++ended_;
    changed_.notify_all();
  }

  std::vector<std::unique_ptr<Job>>& todo_;
  int jobs_, threads_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::size_t next_ = 0, running_ = 0;  // guarded
  int ended_ = 0;                       // guarded
  std::atomic<int> failures_{0};
  std::vector<std::jthread> workers_;  // last, so that all else outlives them
};

void make_all(const SweepWork& work, std::vector<std::unique_ptr<Job>>& todo) {
  if (todo.empty()) return;
  int jobs = work.jobs;
  if (jobs == 0) {
    double bytes = 1.0;
    for (const auto& job : todo) bytes = std::max(bytes, job->point.bytes);
    const double fit = std::clamp(work.grid.memory / bytes, 1.0, 1024.0);
    jobs = std::min(work.grid.threads, static_cast<int>(fit));
  }
  jobs = std::min(jobs, static_cast<int>(std::min<std::size_t>(todo.size(), 1024)));
  Pool pool(todo, jobs, work.grid.threads);
  Progress progress("sweep", "points", static_cast<double>(todo.size()), 0.0, work.quiet);
  while (!pool.wait()) {
    if (!progress.due()) continue;
    const int failures = pool.failures();
    progress.update(pool.done(), failures > 0 ? fmt::format("{} failed", failures) : "");
  }
}

std::size_t count(const std::vector<std::unique_ptr<Job>>& jobs, Outcome outcome) {
  return static_cast<std::size_t>(std::count_if(
      jobs.begin(), jobs.end(), [&](const auto& job) { return job->outcome == outcome; }));
}

/// Gives the folder its grid while other tasks may be doing the same.
void store_grid_beside_others(const SweepWork& work) {
  for (int attempts = 250; !holds_grid(work.folder, work.grid); --attempts) {
    try {
      const OutputLock lock(grid_path(work.folder),
                            "another gih sweep gives the folder another grid");
      store_grid(work.folder, work.grid);
    } catch (const Busy&) {
      if (attempts == 0) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

}  // namespace

int run_sweep(const SweepWork& work) {
  make_sweep_folder(work.folder);
  const OutputLock lock(grid_path(work.folder), "another gih sweep run works in this folder");
  store_grid(work.folder, work.grid);
  watch_interrupts();
  const std::vector<GridPoint>& points = work.grid.points;
  const std::vector<PointStatus> status = sweep_status(work.folder, points);
  std::vector<std::unique_ptr<Job>> jobs;
  for (std::size_t i = 0; i < points.size(); ++i) {
    jobs.push_back(std::make_unique<Job>(points[i], status[i].run));
  }
  std::vector<std::unique_ptr<Job>> todo, skipped;
  for (auto& job : jobs) {
    const bool there = status[job->point.index].state == PointState::finished;
    if (there) attempt(*job, 1);
    (there ? skipped : todo).push_back(std::move(job));
  }
  make_all(work, todo);
  const std::size_t before = count(skipped, Outcome::finished);
  const std::size_t made = count(todo, Outcome::finished);
  const std::size_t failed = count(todo, Outcome::failed) + count(skipped, Outcome::failed);
  std::string text = fmt::format("{}: {} of {} points finished, {} of them now",
                                 work.folder.string(), before + made, points.size(), made);
  if (failed > 0) text += fmt::format("; {} failed", failed);
  const std::size_t elsewhere = count(todo, Outcome::busy);
  if (elsewhere > 0) text += fmt::format("; {} made by another process", elsewhere);
  text += "\n";
  for (const auto* part : {&skipped, &todo}) {
    for (const auto& job : *part) {
      if (job->outcome != Outcome::failed) continue;
      text += fmt::format("failed: {} {}: {}\n", job->point.index, job->point.name, job->reason);
    }
  }
  if (!work.quiet || failed > 0) tell(text);
  if (interrupted()) {
    tell("gih: interrupted; the same command goes on\n");
    return exit_interrupted;
  }
  return failed > 0 ? 4 : 0;
}

int run_task(const SweepWork& work, std::size_t index) {
  make_sweep_folder(work.folder);
  store_grid_beside_others(work);
  watch_interrupts();
  const GridPoint& point = work.grid.points[index];
  const PointStatus status = sweep_status(work.folder, {point}).front();
  std::vector<std::unique_ptr<Job>> todo;
  todo.push_back(std::make_unique<Job>(point, status.run));
  make_all(work, todo);
  const Job& job = *todo.front();
  if (job.outcome == Outcome::busy) throw Busy(job.reason);
  if (job.outcome == Outcome::failed) throw RunError(job.reason);
  if (job.outcome == Outcome::stopped) {
    tell("gih: interrupted; the same command goes on\n");
    return exit_interrupted;
  }
  if (!work.quiet) {
    tell(fmt::format("{}: {}\n", job.run.string(),
                     status.state == PointState::finished ? "is finished already" : "finished"));
  }
  return 0;
}

}  // namespace gih::cli
