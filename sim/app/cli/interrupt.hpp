#pragma once
// SIGINT and SIGTERM set a flag; whoever works looks at it between steps.

namespace gih::cli {

void watch_interrupts();
bool interrupted();

}  // namespace gih::cli
