#include "hdf5.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

namespace gih::hdf5 {

std::uint64_t entries(const Shape& shape) {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) product *= extent;
  return product;
}

namespace {

std::recursive_mutex& turn() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace

Quiet::Quiet() : turn_(turn()) {
  H5Eget_auto2(H5E_DEFAULT, &handler_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Quiet::~Quiet() {
  H5Eset_auto2(H5E_DEFAULT, handler_, data_);
}

std::string last_words() {
  std::string words = "unknown reason";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned n, const H5E_error2_t* error, void* into) -> herr_t {
        if (n == 0 && error->desc != nullptr) *static_cast<std::string*>(into) = error->desc;
        return 0;
      },
      &words);
  return words;
}

Id text_type() {
  Id type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

std::string now() {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

static_assert(sizeof(char*) == cell_size && sizeof(double) == cell_size);

Id row_type(const std::vector<TableField>& fields) {
  const Id text = text_type();
  Id type(H5Tcreate(H5T_COMPOUND, cell_size * fields.size()));
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const CellKind kind = fields[k].kind;
    const hid_t cell = kind == CellKind::text     ? static_cast<hid_t>(text)
                       : kind == CellKind::number ? H5T_NATIVE_DOUBLE
                                                  : H5T_NATIVE_INT64;
    H5Tinsert(type, fields[k].name.c_str(), k * cell_size, cell);
  }
  return type;
}

Id memory_access() {
  Id access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fapl_core(access, std::size_t{1} << 20, false);
  return access;
}

std::string memory_name(const void* owner) {
  return fmt::format("/dev/null/{}", owner);
}

}  // namespace gih::hdf5
