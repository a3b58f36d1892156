// Any bytes as a data file or a run file.
#include "fuzz.hpp"
#include "gih/io/data_file.hpp"
#include "gih/io/run_file.hpp"
#include "gih/io/stored.hpp"
#include "gih/io/table_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gih;
  const auto& path = fuzz::file_of({reinterpret_cast<const char*>(data), size});
  fuzz::try_reading([&] { is_hdf5(path); });
  fuzz::try_reading([&] { read_stored(path); });
  fuzz::try_reading([&] { read_tokens(path); });
  fuzz::try_reading([&] { read_kernels(path); });
  fuzz::try_reading([&] { read_run(path); });
  return 0;
}
