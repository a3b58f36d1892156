#include "seal.hpp"

#include <fmt/core.h>

#include <boost/crc.hpp>
#include <charconv>
#include <cstdint>

#include "gih/base/error.hpp"

namespace gih {
namespace {

constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";
constexpr std::string_view first_line = "gih: HDF5 after these 512 bytes\n";
constexpr std::string_view size_key = "bytes ";

/// CRC-64/XZ, as the xz programs and the crc libraries of other languages have it.
using Crc =
    boost::crc_optimal<64, 0x42F0E1EBA9EA3693, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, true, true>;

/// The whole block that belongs to a file; `file` includes the place of the block.
std::string block_of(std::string_view file) {
  const std::string_view content = file.substr(seal_size);
  Crc crc;
  crc.process_bytes(content.data(), content.size());
  std::string block = fmt::format("{}{}{}\ncrc64-xz {:016x}\n", first_line, size_key, file.size(),
                                  static_cast<std::uint64_t>(crc.checksum()));
  block.resize(seal_size, '\0');
  return block;
}

/// The size that the block states, 0 when it cannot be read.
std::uint64_t stated_size(std::string_view file) {
  std::uint64_t size = 0;
  const std::string_view rest = file.substr(first_line.size());
  if (rest.starts_with(size_key)) {
    std::from_chars(rest.data() + size_key.size(), rest.data() + rest.size(), size);
  }
  return size;
}

}  // namespace

void seal(std::string& file) {
  file.replace(0, seal_size, block_of(file));
}

bool looks_binary(std::string_view file) {
  return file.starts_with(hdf5_signature) || file.starts_with(first_line) ||
         (file.size() > seal_size && file.substr(seal_size).starts_with(hdf5_signature));
}

void check_seal(std::string_view file, const std::string& name) {
  const auto fail = [&](const std::string& what) { throw InputError(name + ": " + what); };
  if (file.empty()) fail("is empty");
  if (file.starts_with(hdf5_signature)) {
    fail("an HDF5 file that gih did not write, or that another program has rewritten");
  }
  if (!looks_binary(file)) fail("is not an HDF5 file of gih");
  if (file.starts_with(first_line)) {
    const std::uint64_t size = stated_size(file);
    if (size > file.size()) {
      fail(fmt::format(
          "truncated ({} of {} bytes), or rewritten by another program: restore it from a copy",
          file.size(), size));
    }
  }
  // Every byte of the block is compared, the padding too.
  if (file.size() <= seal_size || file.substr(0, seal_size) != block_of(file)) {
    fail("damaged, or rewritten by another program (its checksum differs): restore it from a copy");
  }
}

}  // namespace gih
