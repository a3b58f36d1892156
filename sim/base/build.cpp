#include "gih/base/build.hpp"

#include <fmt/core.h>

namespace gih {

const BuildInfo& build_info() {
  static const BuildInfo info {
    GIH_VERSION,
#include "commit.inc"
        ,
#if defined(__clang__)
        fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__),
#else
        fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__),
#endif
        GIH_BUILD_TYPE, GIH_INSTRUCTION_SET
  };
  return info;
}

}  // namespace gih
