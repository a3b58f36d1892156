#include "gih/io/table_file.hpp"

#include "gih/io/atomic_file.hpp"
#include "hdf5_reader.hpp"
#include "hdf5_writer.hpp"

namespace gih {
namespace {

constexpr const char* table_format = "gih-sweep";
constexpr int table_format_version = 1;

}  // namespace

void write_table(const std::filesystem::path& path, const TableFile& file) {
  hdf5::Writer writer(path, table_format, table_format_version);
  writer.attribute("config", file.config);
  writer.attribute("created", hdf5::now());
  writer.table("/points", file.table,
               "a row a point of the sweep: its configuration, what training ended with, and what "
               "theory says of it; NaN and empty where there is none");
  writer.save();
}

TableFile read_table(const std::filesystem::path& path) {
  const hdf5::Reader reader(read_bytes(path), path.string(), table_format, table_format_version);
  TableFile file;
  file.config = reader.text("config");
  file.gih_version = reader.text("gih_version");
  file.git_commit = reader.text("git_commit");
  file.created = reader.text("created");
  file.table = reader.table("/points");
  return file;
}

}  // namespace gih
