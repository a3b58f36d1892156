#include "gih/io/table_file.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "gih/io/atomic_file.hpp"
#include "gih/io/run_file.hpp"
#include "scratch.hpp"

using namespace gih;

namespace {

TableFile sample() {
  TableFile file;
  file.config = "data.alpha = 0.1 0.2\n";
  file.table.fields = {{"index", CellKind::whole},
                       {"data.alpha", CellKind::number},
                       {"name", CellKind::text},
                       {"gap", CellKind::number},
                       {"reason", CellKind::text}};
  for (std::int64_t i = 0; i < 300; ++i) {
    const double gap =
        i % 7 == 0 ? std::numeric_limits<double>::infinity() : -0.1 * static_cast<double>(i);
    file.table.rows.push_back({i - 1, 0.1 + static_cast<double>(i), "point-" + std::to_string(i),
                               gap, std::string(static_cast<std::size_t>(i), 'x')});
  }
  return file;
}

}  // namespace

TEST_CASE("a table comes back as it was written") {
  const Scratch scratch;
  const TableFile file = sample();
  write_table(scratch / "t.h5", file);
  const TableFile back = read_table(scratch / "t.h5");
  CHECK(back.config == file.config);
  CHECK(!back.created.empty());
  REQUIRE(back.table.fields.size() == file.table.fields.size());
  for (std::size_t k = 0; k < file.table.fields.size(); ++k) {
    CHECK(back.table.fields[k].name == file.table.fields[k].name);
    CHECK(back.table.fields[k].kind == file.table.fields[k].kind);
  }
  CHECK(back.table.rows == file.table.rows);
}

TEST_CASE("NaN and empty texts, and a table of no rows") {
  const Scratch scratch;
  TableFile file;
  file.table.fields = {{"a", CellKind::number}, {"b", CellKind::text}};
  write_table(scratch / "none.h5", file);
  CHECK(read_table(scratch / "none.h5").table.rows.empty());
  file.table.rows = {{std::nan(""), std::string()}};
  write_table(scratch / "one.h5", file);
  const auto rows = read_table(scratch / "one.h5").table.rows;
  REQUIRE(rows.size() == 1);
  CHECK(std::isnan(std::get<double>(rows[0][0])));
  CHECK(std::get<std::string>(rows[0][1]).empty());
}

TEST_CASE("what is no table is refused by name") {
  const Scratch scratch;
  RunFile run;
  run.model.H = 2;
  run.model.M = 2;
  run.state.theta = zero_parameters(run.model);
  write_run(scratch / "run.h5", run);
  const auto message = [&](const char* name) {
    return message_of<InputError>([&] { read_table(scratch / name); });
  };
  CHECK(contains(message("run.h5"), "run.h5: is a gih-run file, not a gih-sweep file"));
  CHECK(contains(message("nothing.h5"), "nothing.h5: cannot open"));
  write_table(scratch / "t.h5", sample());
  std::string bytes = read_bytes(scratch / "t.h5");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  scratch.put("t.h5", bytes);
  CHECK(contains(message("t.h5"), "t.h5: "));
  CHECK(contains(message_of<InputError>([&] { read_run(scratch / "t.h5"); }), "t.h5"));
}
