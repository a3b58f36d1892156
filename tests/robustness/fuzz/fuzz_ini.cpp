// Any text as a configuration, and as a grid.
#include "fuzz.hpp"
#include "gih/app/config.hpp"
#include "gih/app/grid.hpp"
#include "gih/app/settings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gih;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::try_reading([&] {
    const std::vector<Assignment> keys = read_ini(text, "fuzz.ini");
    fuzz::try_reading([&] {
      // What resolves is written so that it resolves to the same.
      const std::string resolved = to_ini(resolve(keys));
      if (to_ini(resolve(read_ini(resolved, "again"))) != resolved) std::abort();
    });
    fuzz::try_reading([&] { expand(keys); });
  });
  return 0;
}
