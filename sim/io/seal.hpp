#pragma once
// The first 512 bytes of every HDF5 file of gih, its HDF5 user block, which other readers skip:
// three lines of text with the size of the file and a checksum of all that follows. HDF5 protects
// its arrays but not its own structures; with the seal no damaged file reaches the HDF5 library.

#include <cstddef>
#include <string>
#include <string_view>

namespace gih {

inline constexpr std::size_t seal_size = 512;

/// Fills the first seal_size bytes of a file.
void seal(std::string& file);

/// The file starts like one that was sealed, or like HDF5 at all: then it is no text.
bool looks_binary(std::string_view file);

/// InputError naming the file unless it is sealed and undamaged.
void check_seal(std::string_view file, const std::string& name);

}  // namespace gih
