#include "hdf5_reader.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstring>
#include <utility>

#include "gih/base/error.hpp"
#include "seal.hpp"

namespace gih::hdf5 {

Reader::Reader(std::string bytes, std::string name)
    : name_(std::move(name)), file_size_(bytes.size()) {
  check_seal(bytes, name_);
  const Id access = memory_access();
  check(H5Pset_file_image(access, bytes.data(), bytes.size()), "the file");
  bytes = {};  // `access` has its own copy, and opening makes another
  file_ = Id(check(H5Fopen(memory_name(this).c_str(), H5F_ACC_RDONLY, access), "the file"));
}

Reader::Reader(std::string bytes, std::string name, const char* format, int version)
    : Reader(std::move(bytes), std::move(name)) {
  const std::string found = text("format");
  if (found != format) fail(fmt::format("is a {} file, not a {} file", found, format));
  const int found_version = integer("format_version");
  if (found_version != version) {
    fail(fmt::format("is {} version {}; this program reads version {}", format, found_version,
                     version));
  }
}

void Reader::fail(const std::string& what) const {
  throw InputError(name_ + ": " + what);
}

hid_t Reader::check(hid_t result, const char* what) const {
  if (result < 0) fail(fmt::format("HDF5 cannot read {}: {}", what, last_words()));
  return result;
}

std::string Reader::text(const char* key) const {
  const Id attribute(check(H5Aopen(file_, key, H5P_DEFAULT), key));
  const Id type(check(H5Aget_type(attribute), key));
  const Id space(check(H5Aget_space(attribute), key));
  if (H5Tis_variable_str(type) <= 0 || H5Sget_simple_extent_npoints(space) != 1) {
    fail(fmt::format("attribute {} is not a text", key));
  }
  char* characters = nullptr;
  check(H5Aread(attribute, text_type(), &characters), key);
  std::string text = characters == nullptr ? "" : characters;
  H5free_memory(characters);
  return text;
}

std::vector<int> Reader::integers(const char* key) const {
  const Id attribute(check(H5Aopen(file_, key, H5P_DEFAULT), key));
  const Id type(check(H5Aget_type(attribute), key));
  const Id space(check(H5Aget_space(attribute), key));
  const auto count = H5Sget_simple_extent_npoints(space);
  if (H5Tequal(type, H5T_STD_I32LE) <= 0 || count < 1 || count > 1024) {
    fail(fmt::format("attribute {} is not made of integers", key));
  }
  std::vector<int> values(static_cast<std::size_t>(count));
  check(H5Aread(attribute, H5T_NATIVE_INT, values.data()), key);
  return values;
}

int Reader::integer(const char* key) const {
  const auto values = integers(key);
  if (values.size() != 1) fail(fmt::format("attribute {} is not one integer", key));
  return values.front();
}

bool Reader::has(const char* path) const {
  return check(H5Lexists(file_, path, H5P_DEFAULT), path) > 0;
}

Id Reader::open(const char* path) const {
  return Id(check(H5Dopen2(file_, path, H5P_DEFAULT), path));
}

Shape Reader::shape(const char* path) const {
  const Id dataset = open(path);
  const Id space(check(H5Dget_space(dataset), path));
  const int rank = H5Sget_simple_extent_ndims(space);
  check(rank, path);
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  check(H5Sget_simple_extent_dims(space, dims.data(), nullptr), path);
  return {dims.begin(), dims.end()};
}

void Reader::read(const char* path, const Shape& expected, hid_t memory_type,
                  const std::function<void*(std::uint64_t)>& allocate) const {
  const Shape found = shape(path);
  if (found != expected) {
    fail(fmt::format("{} has the shape ({}), ({}) is needed", path, fmt::join(found, ", "),
                     fmt::join(expected, ", ")));
  }
  const Id dataset = open(path);
  const Id type(check(H5Dget_type(dataset), path));
  const std::size_t size = H5Tget_size(memory_type);
  if (H5Tget_class(type) != H5Tget_class(memory_type) || H5Tget_size(type) > size) {
    fail(fmt::format("{} has elements of another type", path));
  }
  // Compression saves at most a factor of about 1000: more was never written, and is not allocated.
  double needed = static_cast<double>(size);
  for (const std::uint64_t extent : found) needed *= static_cast<double>(extent);
  if (needed > 2000.0 * static_cast<double>(file_size_) || needed > 0x1p36) {
    fail(fmt::format("{} claims {} bytes, too many for this file", path, needed));
  }
  void* values = allocate(entries(found));
  if (entries(found) > 0) {
    check(H5Dread(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), path);
  }
}

std::vector<double> Reader::doubles(const char* path, const Shape& shape) const {
  std::vector<double> values;
  read(path, shape, H5T_NATIVE_DOUBLE, [&](auto n) { return values.resize(n), values.data(); });
  return values;
}

std::vector<int> Reader::integers(const char* path, const Shape& shape) const {
  std::vector<int> values;
  read(path, shape, H5T_NATIVE_INT, [&](auto n) { return values.resize(n), values.data(); });
  return values;
}

std::vector<std::uint64_t> Reader::counts(const char* path, const Shape& shape) const {
  std::vector<std::uint64_t> values;
  read(path, shape, H5T_NATIVE_UINT64, [&](auto n) { return values.resize(n), values.data(); });
  return values;
}

std::vector<std::uint16_t> Reader::tokens(const char* path, const Shape& shape) const {
  std::vector<std::uint16_t> values;
  read(path, shape, H5T_NATIVE_UINT16, [&](auto n) { return values.resize(n), values.data(); });
  return values;
}

std::vector<std::string> Reader::strings(const char* path) const {
  const Id dataset = open(path);
  const Id type(check(H5Dget_type(dataset), path));
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0) {
    fail(fmt::format("{} is not made of strings of one length", path));
  }
  const Shape found = shape(path);
  if (found.size() != 1) fail(fmt::format("{} is not a list", path));
  const std::size_t length = H5Tget_size(type);
  std::string joined;
  read(path, found, type, [&](auto n) { return joined.resize(n * length), joined.data(); });
  std::vector<std::string> values;
  for (std::size_t at = 0; at < joined.size(); at += length) {
    values.push_back(joined.substr(at, length));
  }
  return values;
}

Table Reader::table(const char* path) const {
  const Id dataset = open(path);
  const Id type(check(H5Dget_type(dataset), path));
  const Shape found = shape(path);
  if (H5Tget_class(type) != H5T_COMPOUND || found.size() != 1) {
    fail(fmt::format("{} is not a table", path));
  }
  Table table;
  const int width = H5Tget_nmembers(type);
  for (int k = 0; k < width; ++k) {
    const auto member = static_cast<unsigned>(k);
    char* name = H5Tget_member_name(type, member);
    const Id cell(check(H5Tget_member_type(type, member), path));
    const H5T_class_t kind = H5Tget_class(cell);
    const bool text = kind == H5T_STRING && H5Tis_variable_str(cell) > 0;
    const bool number =
        (kind == H5T_FLOAT || kind == H5T_INTEGER) && H5Tget_size(cell) == cell_size;
    table.fields.push_back({name == nullptr ? "" : name, text                ? CellKind::text
                                                         : kind == H5T_FLOAT ? CellKind::number
                                                                             : CellKind::whole});
    H5free_memory(name);
    if (!text && !number) fail(fmt::format("{} has fields of another type", path));
  }
  const Id row = row_type(table.fields);
  std::vector<char> values;
  const std::size_t size = table.fields.size() * cell_size;
  read(path, found, row, [&](auto n) { return values.resize(n * size), values.data(); });
  for (std::uint64_t r = 0; r < found.front(); ++r) {
    std::vector<TableCell> cells;
    for (std::size_t k = 0; k < table.fields.size(); ++k) {
      const char* at = values.data() + r * size + k * cell_size;
      char* characters = nullptr;
      double number = 0.0;
      std::int64_t whole = 0;
      switch (table.fields[k].kind) {
        case CellKind::text:
          std::memcpy(&characters, at, cell_size);
          cells.emplace_back(std::string(characters == nullptr ? "" : characters));
          H5free_memory(characters);
          break;
        case CellKind::number:
          std::memcpy(&number, at, cell_size);
          cells.emplace_back(number);
          break;
        case CellKind::whole:
          std::memcpy(&whole, at, cell_size);
          cells.emplace_back(whole);
          break;
      }
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace gih::hdf5
