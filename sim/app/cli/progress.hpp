#pragma once
// Progress on stderr: a bar with rate and time left on a terminal, plain lines elsewhere.

#include <chrono>
#include <string>

namespace gih::cli {

/// Writes to stderr. When nobody can hear it (a full disk, a closed descriptor) the work goes on.
void tell(const std::string& text);

class Progress {
 public:
  /// `total` items of `unit` are to be done, `done` of them already.
  Progress(std::string label, std::string unit, double total, double done, bool quiet);
  ~Progress();  // leaves the terminal on a fresh line

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` items are finished; `note` is shown beside. Cheap enough for every step.
  void update(double done, const std::string& note = "");
  /// True when update would print something: a caller may then make the note.
  bool due();

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_, unit_;
  double total_, first_, done_;
  bool quiet_, terminal_, drawn_ = false;
  Clock::time_point start_, next_;
};

}  // namespace gih::cli
