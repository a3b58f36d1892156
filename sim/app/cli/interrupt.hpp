#pragma once
// SIGINT, SIGTERM and SIGHUP (a lost connection) set a flag; whoever works looks at it between steps.

namespace gih::cli {

void watch_interrupts();
bool interrupted();

}  // namespace gih::cli
