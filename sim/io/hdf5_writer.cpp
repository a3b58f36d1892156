#include "hdf5_writer.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "gih/base/build.hpp"
#include "gih/base/error.hpp"
#include "gih/io/atomic_file.hpp"
#include "seal.hpp"

namespace gih::hdf5 {
namespace {

constexpr std::uint64_t chunk_entries = std::uint64_t{1} << 17;  // 1 MiB of doubles
constexpr unsigned deflate_level = 4;

std::vector<hsize_t> extents(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

/// Chunks of about chunk_entries, whole rows where they fit.
std::vector<hsize_t> chunk_of(const Shape& shape) {
  std::vector<hsize_t> chunk = extents(shape);
  std::uint64_t room = chunk_entries;
  for (std::size_t k = chunk.size(); k-- > 0;) {
    chunk[k] = std::min<hsize_t>(chunk[k], room);
    room = std::max<std::uint64_t>(1, room / chunk[k]);
  }
  return chunk;
}

}  // namespace

Writer::Writer(std::filesystem::path path, const char* format, int version)
    : path_(std::move(path)) {
  const Id creation(check(H5Pcreate(H5P_FILE_CREATE), "the file"));
  check(H5Pset_userblock(creation, seal_size), "the file");
  file_ = Id(check(H5Fcreate(memory_name(this).c_str(), H5F_ACC_TRUNC, creation, memory_access()),
                   "the file"));
  attribute("format", format);
  attribute("format_version", version);
  const BuildInfo& build = build_info();
  attribute("gih_version", build.version);
  attribute("git_commit", build.git_commit);
  attribute("compiler", build.compiler);
  attribute("instruction_set", build.instruction_set);
}

Writer::Writer(std::filesystem::path path, std::string bytes) : path_(std::move(path)) {
  check_seal(bytes, path_.string());
  const Id access = memory_access();
  check(H5Pset_file_image(access, bytes.data(), bytes.size()), "the file");
  file_ = Id(check(H5Fopen(memory_name(this).c_str(), H5F_ACC_RDWR, access), "the file"));
}

hid_t Writer::check(hid_t result, const char* what) const {
  if (result < 0) {
    throw RunError(fmt::format("{}: HDF5 cannot write {}: {}", path_.string(), what, last_words()));
  }
  return result;
}

void Writer::text_attribute(hid_t object, const char* key, const std::string& text) const {
  if (text.find('\0') != std::string::npos) {
    throw RunError(
        fmt::format("{}: HDF5 cannot write {}: it contains a zero byte", path_.string(), key));
  }
  const Id type = text_type();
  const Id space(check(H5Screate(H5S_SCALAR), key));
  const Id attribute(check(H5Acreate2(object, key, type, space, H5P_DEFAULT, H5P_DEFAULT), key));
  const char* characters = text.c_str();
  check(H5Awrite(attribute, type, &characters), key);
}

void Writer::attribute(const char* key, const std::string& text) {
  text_attribute(file_, key, text);
}

void Writer::attribute(const char* key, int value) {
  const Id space(check(H5Screate(H5S_SCALAR), key));
  integer_attribute(key, space, &value);
}

void Writer::attribute(const char* key, const std::vector<int>& values) {
  const hsize_t count = values.size();
  const Id space(check(H5Screate_simple(1, &count, nullptr), key));
  integer_attribute(key, space, values.data());
}

void Writer::integer_attribute(const char* key, hid_t space, const int* values) {
  const Id attribute(
      check(H5Acreate2(file_, key, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT), key));
  check(H5Awrite(attribute, H5T_NATIVE_INT, values), key);
}

void Writer::group(const char* path) {
  const Id group(check(H5Gcreate2(file_, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), path));
}

void Writer::write(const char* path, const Shape& shape, std::size_t count, hid_t file_type,
                   hid_t memory_type, const void* values, const char* description) {
  if (entries(shape) != count) {
    throw RunError(fmt::format("{}: {} has {} entries, its shape {} needs {}", path_.string(), path,
                               count, fmt::join(shape, " x "), entries(shape)));
  }
  const Id creation(check(H5Pcreate(H5P_DATASET_CREATE), path));
  check(H5Pset_obj_track_times(creation, false), path);  // equal content, equal bytes
  if (count > 1) {
    const auto chunk = chunk_of(shape);
    check(H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data()), path);
    check(H5Pset_shuffle(creation), path);
    check(H5Pset_deflate(creation, deflate_level), path);
    check(H5Pset_fletcher32(creation), path);
  }
  const auto dims = extents(shape);
  const Id space(check(shape.empty()
                           ? H5Screate(H5S_SCALAR)
                           : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                       path));
  const Id dataset(
      check(H5Dcreate2(file_, path, file_type, space, H5P_DEFAULT, creation, H5P_DEFAULT), path));
  if (count > 0) {
    check(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), path);
  }
  text_attribute(dataset, "description", description);
}

void Writer::dataset(const char* path, const Shape& shape, std::span<const double> values,
                     const char* description) {
  write(path, shape, values.size(), H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(), description);
}

void Writer::dataset(const char* path, const Shape& shape, std::span<const int> values,
                     const char* description) {
  write(path, shape, values.size(), H5T_STD_I32LE, H5T_NATIVE_INT, values.data(), description);
}

void Writer::dataset(const char* path, const Shape& shape, std::span<const std::uint64_t> values,
                     const char* description) {
  write(path, shape, values.size(), H5T_STD_U64LE, H5T_NATIVE_UINT64, values.data(), description);
}

void Writer::dataset(const char* path, const Shape& shape, std::span<const std::uint16_t> values,
                     int largest, const char* description) {
  write(path, shape, values.size(), largest < 256 ? H5T_STD_U8LE : H5T_STD_U16LE, H5T_NATIVE_UINT16,
        values.data(), description);
}

void Writer::dataset(const char* path, const std::vector<std::string>& values,
                     const char* description) {
  std::string joined;
  for (const std::string& value : values) joined += value;
  const Id type(check(H5Tcopy(H5T_C_S1), path));
  check(H5Tset_size(type, values.empty() ? 1 : values.front().size()), path);
  write(path, {values.size()}, values.size(), type, type, joined.data(), description);
}

void Writer::table(const char* path, const Table& table, const char* description) {
  const Id type = row_type(table.fields);
  check(type, path);
  std::vector<char> values(table.rows.size() * table.fields.size() * cell_size);
  char* at = values.data();
  for (const auto& row : table.rows) {
    for (const TableCell& cell : row) {
      if (const auto* text = std::get_if<std::string>(&cell)) {
        const char* characters = text->c_str();
        std::memcpy(at, &characters, cell_size);
      } else if (const auto* number = std::get_if<double>(&cell)) {
        std::memcpy(at, number, cell_size);
      } else {
        std::memcpy(at, &std::get<std::int64_t>(cell), cell_size);
      }
      at += cell_size;
    }
  }
  if (check(H5Lexists(file_, path, H5P_DEFAULT), path) > 0) {
    check(H5Ldelete(file_, path, H5P_DEFAULT), path);
  }
  write(path, {table.rows.size()}, table.rows.size(), type, type, values.data(), description);
}

void Writer::save() {
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "the file");
  // The image leaves the user block out, while the addresses in it count the block.
  const ssize_t size = H5Fget_file_image(file_, nullptr, 0);
  check(size, "the file");
  std::string bytes(seal_size + static_cast<std::size_t>(size), '\0');
  check(H5Fget_file_image(file_, bytes.data() + seal_size, static_cast<std::size_t>(size)),
        "the file");
  seal(bytes);
  write_atomically(path_, bytes);
}

}  // namespace gih::hdf5
