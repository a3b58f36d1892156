#include "progress.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace gih::cli {
namespace {

std::string duration(double seconds) {
  if (!(seconds < 1e9)) return "?";
  const auto s = static_cast<long>(seconds + 0.5);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

std::string rate(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.3g} M", per_second / 1e6);
  if (per_second >= 1e4) return fmt::format("{:.0f},000", per_second / 1e3);
  return fmt::format("{:.3g}", per_second);
}

}  // namespace

void tell(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

Progress::Progress(std::string label, std::string unit, double total, double done, bool quiet)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      first_(done),
      done_(done),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      next_(start_) {
  next_ += terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(5000);
}

Progress::~Progress() {
  if (drawn_ && terminal_) tell("\r\033[K");
}

bool Progress::due() {
  return !quiet_ && Clock::now() >= next_;
}

void Progress::update(double done, const std::string& note) {
  done_ = done;
  if (!due()) return;
  const auto now = Clock::now();
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double speed = (done_ - first_) / elapsed;
  const double share = total_ > 0.0 ? std::clamp(done_ / total_, 0.0, 1.0) : 1.0;
  const std::string text =
      fmt::format("{:3.0f} %  {} {}/s  {} left  {}", 100.0 * share, rate(speed), unit_,
                  duration((total_ - done_) / speed), note);
  if (terminal_) {
    constexpr int width = 24;
    const int full = static_cast<int>(share * width);
    tell(fmt::format("\r\033[K{} [{}{}] {}", label_,
                     std::string(static_cast<std::size_t>(full), '#'),
                     std::string(static_cast<std::size_t>(width - full), '.'), text));
    next_ = now + std::chrono::milliseconds(200);
  } else {
    tell(fmt::format("{} {}\n", label_, text));
    // Ever rarer: a long run writes about ten lines for each doubling of its age.
    next_ = now + std::max(std::chrono::duration_cast<Clock::duration>(std::chrono::seconds(5)),
                           std::chrono::duration_cast<Clock::duration>((now - start_) / 10));
  }
  drawn_ = true;
}

}  // namespace gih::cli
