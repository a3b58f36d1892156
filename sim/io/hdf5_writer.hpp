#pragma once
// Making an HDF5 file of gih.

#include <filesystem>
#include <span>

#include "hdf5.hpp"

namespace gih::hdf5 {

/// A new file, in memory until it is saved. Every failure is a RunError that names the file.
class Writer {
 public:
  /// Starts with the attributes that every file of gih has: format, version, and what wrote it.
  Writer(std::filesystem::path path, const char* format, int version);

  /// An existing file of gih, its bytes sealed and whole, to be added to.
  Writer(std::filesystem::path path, std::string bytes);

  void attribute(const char* key, const std::string& text);
  void attribute(const char* key, int value);
  void attribute(const char* key, const std::vector<int>& values);
  void group(const char* path);

  void dataset(const char* path, const Shape&, std::span<const double>, const char* description);
  void dataset(const char* path, const Shape&, std::span<const int>, const char* description);
  void dataset(const char* path, const Shape&, std::span<const std::uint64_t>,
               const char* description);
  /// As 8 bits where `largest` fits them, else 16.
  void dataset(const char* path, const Shape&, std::span<const std::uint16_t>, int largest,
               const char* description);
  /// Strings of one length.
  void dataset(const char* path, const std::vector<std::string>&, const char* description);

  /// A one-dimensional compound dataset. Replaces one of the same name.
  void table(const char* path, const Table& table, const char* description);

  /// Seals the file and writes it atomically.
  void save();

 private:
  hid_t check(hid_t result, const char* what) const;
  void text_attribute(hid_t object, const char* key, const std::string& text) const;
  void integer_attribute(const char* key, hid_t space, const int* values);
  void write(const char* path, const Shape&, std::size_t count, hid_t file_type, hid_t memory_type,
             const void* values, const char* description);

  std::filesystem::path path_;
  Quiet quiet_;
  Id file_;
};

}  // namespace gih::hdf5
