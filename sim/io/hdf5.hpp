#pragma once
// The little of HDF5 that gih uses, each call wrapped once; a failure becomes one sentence. Files
// are made and read in memory, so HDF5 neither locks nor leaves half of one. The library of the
// distribution is not thread-safe: Quiet lets one thread at a time in.

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gih/io/table_file.hpp"

namespace gih::hdf5 {

/// Extents, slowest first; empty for a scalar.
using Shape = std::vector<std::uint64_t>;

std::uint64_t entries(const Shape& shape);

/// An HDF5 identifier, released with its owner.
class Id {
 public:
  explicit Id(hid_t id = H5I_INVALID_HID) : id_(id) {}
  ~Id() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  Id(Id&& other) noexcept : id_(other.id_) { other.id_ = H5I_INVALID_HID; }
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

/// While it lives HDF5 prints nothing itself, and other threads wait for their turn; then the
/// caller's setting is back. Readers and writers hold one.
class Quiet {
 public:
  Quiet();
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  std::unique_lock<std::recursive_mutex> turn_;
  H5E_auto2_t handler_ = nullptr;
  void* data_ = nullptr;
};

/// What HDF5 says of the last failure, in the innermost of its functions that took part.
std::string last_words();

/// Strings of HDF5's variable length in UTF-8: h5py gives them as str, and unlike a string of
/// fixed length an attribute of them may exceed 64 kB.
Id text_type();

/// The time of making that files carry, UTC: "2024-12-01T10:20:30Z".
std::string now();

/// Type of a table's row in memory, cells packed: texts as pointers, numbers, whole numbers.
Id row_type(const std::vector<TableField>& fields);
constexpr std::size_t cell_size = 8;  ///< of every kind

/// Access to a file in memory alone.
Id memory_access();

/// A file name for HDF5 to keep, different for each live owner. No such file can exist: HDF5 would
/// refuse to open an image under the name of a file that does.
std::string memory_name(const void* owner);

}  // namespace gih::hdf5
