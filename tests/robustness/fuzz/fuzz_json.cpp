// Any text as the JSON of tokens, kernels and parameters.
#include "fuzz.hpp"
#include "gih/io/data_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gih;
  const auto& path = fuzz::file_of({reinterpret_cast<const char*>(data), size});
  fuzz::try_reading([&] {
    const TokenTable table = read_tokens(path);
    for (const Token token : table.tokens) {
      if (token >= static_cast<unsigned>(table.d)) std::abort();
    }
  });
  fuzz::try_reading([&] {
    for (const Kernel& kernel : read_kernels(path)) {
      for (const double entry : kernel.pi) {
        if (!(entry >= 0.0 && entry <= 1.0 + 1e-9)) std::abort();
      }
    }
  });
  fuzz::try_reading([&] {
    const ParameterFile file = read_parameters_json(path);
    if (!file.theta.all_finite()) std::abort();
  });
  return 0;
}
