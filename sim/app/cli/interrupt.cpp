#include "interrupt.hpp"

#include <csignal>

namespace gih::cli {
namespace {
volatile std::sig_atomic_t flag = 0;
void set_flag(int) {
  flag = 1;
}
}  // namespace

void watch_interrupts() {
  struct sigaction action {};
  action.sa_handler = set_flag;
  // A second signal ends the process at once, should the work not reach its next look.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
  return flag != 0;
}

}  // namespace gih::cli
