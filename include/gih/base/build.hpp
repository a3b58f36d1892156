#pragma once
// What this program was built from and for: it goes into every file that the program writes.

#include <string>

namespace gih {

struct BuildInfo {
  std::string version;     ///< of gih
  std::string git_commit;  ///< of the source tree, "-dirty" appended when it had changes
  std::string compiler;
  std::string build_type;
  std::string instruction_set;  ///< "native", "x86-64-v2", ...
};

const BuildInfo& build_info();

}  // namespace gih
