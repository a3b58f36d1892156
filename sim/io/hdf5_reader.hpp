#pragma once
// Reading an HDF5 file of gih.

#include <functional>

#include "hdf5.hpp"

namespace gih::hdf5 {

/// A file's bytes, opened for reading. Every failure is an InputError that starts with `name`.
class Reader {
 public:
  /// The bytes must be sealed and whole.
  Reader(std::string bytes, std::string name);
  /// The root attributes must say this format and version too.
  Reader(std::string bytes, std::string name, const char* format, int version);

  std::string text(const char* attribute) const;
  std::vector<int> integers(const char* attribute) const;
  int integer(const char* attribute) const;

  bool has(const char* path) const;
  Shape shape(const char* path) const;

  /// Datasets of exactly this shape.
  std::vector<double> doubles(const char* path, const Shape&) const;
  std::vector<int> integers(const char* path, const Shape&) const;
  std::vector<std::uint64_t> counts(const char* path, const Shape&) const;
  std::vector<std::uint16_t> tokens(const char* path, const Shape&) const;
  std::vector<std::string> strings(const char* path) const;

  /// A compound dataset of texts, numbers and whole numbers of 64 bits.
  Table table(const char* path) const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  hid_t check(hid_t result, const char* what) const;
  Id open(const char* path) const;
  void read(const char* path, const Shape&, hid_t memory_type,
            const std::function<void*(std::uint64_t)>& allocate) const;

  std::string name_;
  std::uint64_t file_size_;
  Quiet quiet_;
  Id file_;
};

}  // namespace gih::hdf5
