#include "interrupt.hpp"

#include <csignal>

namespace gih::cli {
namespace {
volatile std::sig_atomic_t flag = 0;
// A second signal, whichever of the two, ends the process at once, should the work not reach its
// next look.
void set_flag(int) {
  flag = 1;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}
}  // namespace

void watch_interrupts() {
  struct sigaction action {};
  action.sa_handler = set_flag;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
  return flag != 0;
}

}  // namespace gih::cli
