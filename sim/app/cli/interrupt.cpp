#include "interrupt.hpp"

#include <csignal>

namespace gih::cli {
namespace {

constexpr int watched[] = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t flag = 0;

// A second signal, whichever it is, ends the process at once, should the work not reach its next
// look.
void set_flag(int) {
  flag = 1;
  for (const int signal : watched) std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_interrupts() {
  for (const int signal : watched) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;  // nohup, or a shell's background job
    action = {};
    action.sa_handler = set_flag;
    sigaction(signal, &action, nullptr);
  }
}

bool interrupted() {
  return flag != 0;
}

}  // namespace gih::cli
