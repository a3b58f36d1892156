#include "gih/io/run_file.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "gih/base/build.hpp"
#include "gih/io/atomic_file.hpp"
#include "scratch.hpp"

using namespace gih;
namespace fs = std::filesystem;

namespace {

/// Numbers that are easy to get wrong: no symmetry, tiny and negative ones, all digits in use.
Parameters parameters(const ModelSpec& model, double start) {
  Parameters theta;
  theta.w.resize(model.H, model.M);
  for (int h = 0; h < model.H; ++h) {
    for (int i = 0; i < model.M; ++i) theta.w(h, i) = start + h + 10.0 * i + 1.0 / 3.0;
  }
  theta.c.resize(static_cast<Eigen::Index>(model.subsets().size()));
  for (Eigen::Index S = 0; S < theta.c.size(); ++S) theta.c(S) = start - 0.1 * double(S);
  theta.a = -start * 1e-300;
  const Parameters shapes = zero_parameters(model);
  double next = start;
  for (const WordMatrix& matrix : word_matrices) {
    theta.*matrix.member = shapes.*matrix.member;
    for (double& entry : (theta.*matrix.member).reshaped()) entry = next += 1.0 / 7.0;
  }
  return theta;
}

RunFile sample_run(std::size_t rows) {
  RunFile run;
  run.config = "[data]\nvocab = 3 # \xc3\xa9\n";
  run.model.H = 3;
  run.model.M = 4;
  run.model.D = 2;
  run.complete = true;
  for (std::size_t t = 0; t < rows; ++t) {
    LogRow row;
    row.stage = t < 2 ? 1 : 2;
    row.step = t == 0 ? 0 : (std::size_t{1} << 40) + t;
    row.time = 0.1 * double(t);
    row.train_loss = 1.0 / (1.0 + double(t));
    row.validation_loss = std::numeric_limits<double>::quiet_NaN();
    row.theta = parameters(run.model, double(t) + 0.7);
    run.state.log.push_back(row);
  }
  run.state.stage = 3;
  run.state.step = 17;
  run.state.time = 1.0 / 3.0;
  run.state.next_step = 1e-7 / 3.0;
  run.state.coordinates = {-1.0 / 3.0, 5e-324};
  run.state.theta = parameters(run.model, 99.9);
  return run;
}

bool same_bits(double x, double y) {
  return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
}

bool same_bits(const Parameters& x, const Parameters& y) {
  bool same = x.w.rows() == y.w.rows() && x.w.cols() == y.w.cols() && x.c.size() == y.c.size() &&
              same_bits(x.a, y.a);
  for (Eigen::Index i = 0; same && i < x.w.size(); ++i) same = same_bits(x.w(i), y.w(i));
  for (Eigen::Index i = 0; same && i < x.c.size(); ++i) same = same_bits(x.c(i), y.c(i));
  for (const WordMatrix& matrix : word_matrices) {
    const Matrix& one = x.*matrix.member;
    const Matrix& other = y.*matrix.member;
    same = same && one.rows() == other.rows() && one.cols() == other.cols();
    for (Eigen::Index i = 0; same && i < one.size(); ++i) {
      same = same_bits(one.data()[i], other.data()[i]);
    }
  }
  return same;
}

void check_same(const RunFile& x, const RunFile& y) {
  CHECK(x.config == y.config);
  CHECK(x.complete == y.complete);
  CHECK(x.model.subsets() == y.model.subsets());
  CHECK(x.model.H == y.model.H);
  CHECK(x.model.M == y.model.M);
  CHECK(x.state.stage == y.state.stage);
  CHECK(x.state.step == y.state.step);
  CHECK(x.state.time == y.state.time);
  CHECK(x.state.next_step == y.state.next_step);
  CHECK(x.state.coordinates == y.state.coordinates);
  CHECK(same_bits(x.state.theta, y.state.theta));
  REQUIRE(x.state.log.size() == y.state.log.size());
  for (std::size_t t = 0; t < x.state.log.size(); ++t) {
    CAPTURE(t);
    const LogRow& a = x.state.log[t];
    const LogRow& b = y.state.log[t];
    CHECK(a.stage == b.stage);
    CHECK(a.step == b.step);
    CHECK(same_bits(a.time, b.time));
    CHECK(same_bits(a.train_loss, b.train_loss));
    CHECK(same_bits(a.validation_loss, b.validation_loss));
    CHECK(same_bits(a.theta, b.theta));
  }
}

std::string refusal(const fs::path& path) {
  return message_of<InputError>([&] { read_run(path); });
}

/// Runs a Python program on a file; true when it ends well.
bool python(const std::string& program, const fs::path& path) {
  const std::string command =
      fmt::format("/usr/bin/python3 -B -c '{}' '{}'", program, path.string());
  return std::system(command.c_str()) == 0;
}

}  // namespace

TEST_CASE("a run file comes back bit for bit") {
  const Scratch scratch;
  for (const std::size_t rows : {0UL, 1UL, 3UL, 2000UL}) {
    CAPTURE(rows);
    const RunFile run = sample_run(rows);
    write_run(scratch / "run.h5", run);
    const RunFile back = read_run(scratch / "run.h5");
    check_same(back, run);
    CHECK(back.gih_version == build_info().version);
    CHECK(back.git_commit == build_info().git_commit);
    CHECK(back.compiler == build_info().compiler);
    CHECK(back.created.size() == std::string("2000-01-01T00:00:00Z").size());
    CHECK(back.created.back() == 'Z');
  }
  CHECK(scratch.count() == 1);
}

TEST_CASE("sizes and the rule of the subsets come back") {
  const Scratch scratch;
  struct Sizes {
    int H, M, D;
    SubsetRule rule;
  };
  for (const Sizes& sizes : {Sizes{1, 1, 1, SubsetRule::at_most},
                             {1, 1, 1, SubsetRule::exactly},
                             {4, 2, 4, SubsetRule::at_most},
                             {5, 3, 2, SubsetRule::exactly}}) {
    RunFile run;
    run.model.H = sizes.H;
    run.model.M = sizes.M;
    run.model.D = sizes.D;
    run.model.rule = sizes.rule;
    run.state.theta = parameters(run.model, 0.3);
    write_run(scratch / "run.h5", run);
    const RunFile back = read_run(scratch / "run.h5");
    check_same(back, run);
    CHECK(back.model.D == sizes.D);
    CHECK(back.model.rule == sizes.rule);
  }
}

TEST_CASE("the matrices of the full variant and of the layer norm come back, head by head") {
  const Scratch scratch;
  for (const bool residual : {true, false}) {
    RunFile run;
    run.model.d = 4;
    run.model.H = 2;
    run.model.M = 3;
    run.model.variant = Variant::full;
    run.model.residual_in_kernel = residual;
    run.model.head_norm = HeadNorm::layer;
    run.state.theta = parameters(run.model, 0.3);
    LogRow row;
    row.theta = parameters(run.model, 1.7);
    run.state.log = {row, row};
    const fs::path path = scratch / "full.h5";
    write_run(path, run);
    const RunFile back = read_run(path);
    check_same(run, back);
    CHECK(back.model.residual() == residual);
    CHECK(back.model.head_norm == HeadNorm::layer);
    CHECK(back.model.d == 4);
  }
}

TEST_CASE("a configuration longer than 64 kB is kept") {
  const Scratch scratch;
  RunFile run = sample_run(1);
  run.config = std::string(200000, 'k') + " = 1\n";
  write_run(scratch / "run.h5", run);
  CHECK(read_run(scratch / "run.h5").config == run.config);
  run.config = std::string("a\0b", 3);
  CHECK(contains(message_of<RunError>([&] { write_run(scratch / "run.h5", run); }), "zero byte"));
}

TEST_CASE("h5py sees names, shapes and numbers untransposed") {
  const Scratch scratch;
  write_run(scratch / "run.h5", sample_run(3));
  CHECK(python(R"(
import sys, numpy as np, h5py
f = h5py.File(sys.argv[1], "r")
H, M, nS, T = 3, 4, 7, 3
assert f.attrs["format"] == "gih-run" and f.attrs["format_version"] == 1, dict(f.attrs)
assert f.attrs["config"] == "[data]\nvocab = 3 # \u00e9\n" and f.attrs["complete"] == 1
for key in ("gih_version", "git_commit", "compiler", "instruction_set", "created"):
    assert len(f.attrs[key]) > 0, key
assert [s.decode() for s in f["subsets"]] == ["000", "100", "010", "110", "001", "101", "011"]
def w(start): return start + np.arange(H)[:, None] + 10.0 * np.arange(M)[None, :] + 1 / 3
assert f["final/w"].shape == (H, M) and np.array_equal(f["final/w"][:], w(99.9))
assert f["log/w"].shape == (T, H, M)
for t in range(T): assert np.allclose(f["log/w"][t], w(t + 0.7), rtol=1e-15, atol=0)
c = f["log/c"][:]
assert c.shape == (T, nS) and np.allclose(f["log/p"][:], c**2 / (c**2).sum(1, keepdims=True))
assert np.allclose(f["log/C_D"][:], (c**2).sum(1)) and f["final/a"][()] == -99.9 * 1e-300
assert list(f["log/stage"]) == [1, 1, 2] and f["log/step"][2] == 2**40 + 2
assert np.isnan(f["log/validation_loss"][:]).all()
assert set(f["log"]) == set("stage step time train_loss validation_loss c p w a C_D".split())
assert set(f["final"]) == set("w c p a C_D".split())
assert set(f["state"]) == set("stage step time next_step coordinates w c a".split())
assert np.array_equal(f["state/w"][:], f["final/w"][:]) and f["state/step"][()] == 17
seen = []
def check(name, item):
    if isinstance(item, h5py.Dataset):
        seen.append(name)
        assert len(item.attrs["description"]) > 0, name
        packed = (item.compression, item.compression_opts, item.shuffle, item.fletcher32)
        assert item.size <= 1 or packed == ("gzip", 4, True, True), name
f.visititems(check)
assert len(seen) == 24, seen
)",
               scratch / "run.h5"));
  write_run(scratch / "empty.h5", sample_run(0));
  CHECK(
      python("import sys, h5py; f = h5py.File(sys.argv[1]); "
             "assert f[\"log/c\"].shape == (0, 7) and f[\"log/w\"].shape == (0, 3, 4)",
             scratch / "empty.h5"));
}

TEST_CASE("h5dump reads the file, and the seal is text for a human") {
  const Scratch scratch;
  write_run(scratch / "run.h5", sample_run(2));
  const std::string command =
      fmt::format("h5dump -d /final/w '{0}' > '{0}.txt'", (scratch / "run.h5").string());
  REQUIRE(std::system(command.c_str()) == 0);
  const std::string dump = read_bytes(scratch / "run.h5.txt");
  CHECK(contains(dump, "H5T_IEEE_F64LE"));
  CHECK(contains(dump, "(0,0): 100.233, 110.233, 120.233, 130.233"));
  const std::string bytes = read_bytes(scratch / "run.h5");
  CHECK(bytes.starts_with("gih: HDF5 after these 512 bytes\nbytes "));
}

TEST_CASE("the checksum is the published CRC-64/XZ") {
  const Scratch scratch;
  write_run(scratch / "run.h5", sample_run(2));
  CHECK(python(R"(
import sys
data = open(sys.argv[1], "rb").read()
crc = 2**64 - 1
for byte in data[512:]:
    crc ^= byte
    for _ in range(8): crc = crc >> 1 ^ (0xC96C5795D7870F42 if crc & 1 else 0)
assert data[:512].split(b"\n")[1:3] == [b"bytes %d" % len(data), b"crc64-xz %016x" % (crc ^ 2**64 - 1)]
)",
               scratch / "run.h5"));
}

TEST_CASE("a truncated file is refused, wherever it ends") {
  const Scratch scratch;
  write_run(scratch / "run.h5", sample_run(5));
  const std::string whole = read_bytes(scratch / "run.h5");
  int tried = 0;
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    const std::string message = refusal(scratch.put("cut.h5", whole.substr(0, size)));
    if (!contains(message, "cut.h5: ")) FAIL_CHECK("size " << size << ": " << message);
    ++tried;
  }
  CHECK(tried > 100);
  CHECK(contains(refusal(scratch.put("cut.h5", "")), "is empty"));
  CHECK(contains(refusal(scratch.put("cut.h5", whole.substr(0, 5000))), "truncated (5000 of"));
  CHECK(contains(refusal(scratch.put("cut.h5", whole + "x")), "damaged"));
}

TEST_CASE("a single flipped bit is noticed, wherever it is") {
  const Scratch scratch;
  write_run(scratch / "run.h5", sample_run(5));
  const std::string whole = read_bytes(scratch / "run.h5");
  std::uint64_t random = 1;
  for (int i = 0; i < 400; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    // Every other one within the seal.
    const std::size_t byte = (random >> 20) % (i % 2 == 0 ? whole.size() : 512);
    std::string flipped = whole;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << (random >> 60) % 8));
    const std::string message = refusal(scratch.put("flipped.h5", flipped));
    if (!contains(message, "flipped.h5: ")) FAIL_CHECK("byte " << byte << ": " << message);
  }
  CHECK(contains(refusal(scratch.put("flipped.h5", whole.substr(0, whole.size() - 1) + "\x01")),
                 "(its checksum differs)"));
}

TEST_CASE("what is no run file is refused with a reason") {
  const Scratch scratch;
  CHECK(contains(refusal(scratch / "none.h5"), "none.h5: cannot open: No such file"));
  CHECK(contains(refusal(scratch.folder), "is not a regular file"));
  CHECK(contains(refusal(scratch.put("text.h5", std::string(2000, 'x'))), "is not an HDF5 file"));
  REQUIRE(python("import sys, h5py; h5py.File(sys.argv[1], \"w\")[\"log/w\"] = [1.0, 2.0]",
                 scratch / "foreign.h5"));
  CHECK(contains(refusal(scratch / "foreign.h5"), "an HDF5 file that gih did not write"));
}

namespace {

/// Changes a sealed file with h5py and seals it again, as no accident could.
bool rewrite(const std::string& statements, const fs::path& path) {
  return python(R"(
import sys, h5py, numpy
with h5py.File(sys.argv[1], "r+") as f:
    )" + statements +
                    R"(
data = open(sys.argv[1], "rb").read()
crc = 2**64 - 1
for byte in data[512:]:
    crc ^= byte
    for _ in range(8): crc = crc >> 1 ^ (0xC96C5795D7870F42 if crc & 1 else 0)
text = "gih: HDF5 after these 512 bytes\nbytes %d\ncrc64-xz %016x\n" % (len(data), crc ^ 2**64 - 1)
open(sys.argv[1], "wb").write(text.encode().ljust(512, b"\0") + data[512:])
)",
                path);
}

}  // namespace

TEST_CASE("contents that do not fit each other are refused, and nothing huge is allocated") {
  const Scratch scratch;
  const fs::path path = scratch / "run.h5";
  struct Change {
    std::string statements;
    const char* words;
  };
  const Change changes[] = {
      {"pass", ""},
      {"f.attrs.modify(\"format_version\", 7)", "gih-run version 7; this program reads version 1"},
      {"f.attrs[\"format\"] = \"gih-data\"", "is a gih-data file, not a gih-run file"},
      {"f.attrs[\"format\"] = 3", "attribute format is not a text"},
      {"del f.attrs[\"format\"]", "HDF5 cannot read format: "},
      {"del f[\"log/w\"]", "HDF5 cannot read /log/w: "},
      {"del f[\"log/c\"]; f[\"log/c\"] = [[1.0] * 7] * 3",
       "/log/c has the shape (3, 7), (2, 7) is needed"},
      {"del f[\"log/a\"]; f[\"log/a\"] = [\"x\", \"y\"]", "/log/a has elements of another type"},
      {"del f[\"subsets\"]; f[\"subsets\"] = numpy.array([b\"000\", b\"100\"])",
       "/subsets: not those of"},
      {"del f[\"state/w\"]; f[\"state/w\"] = [[1.0] * 32] * 3", "1 to 31 heads and lags"},
      {"del f[\"log/stage\"]; f.create_dataset(\"log/stage\", (2**40,), \"i4\", chunks=(1024,))",
       "too many for this file"},
  };
  for (const Change& change : changes) {
    CAPTURE(change.statements);
    write_run(path, sample_run(2));
    REQUIRE(rewrite(change.statements, path));
    const std::string message = refusal(path);
    CAPTURE(message);
    if (*change.words == '\0') {
      CHECK(message.empty());
    } else {
      CHECK(contains(message, path.string() + ": "));
      CHECK(contains(message, change.words));
    }
  }
}

TEST_CASE("parameters of another model are not written") {
  const Scratch scratch;
  RunFile run = sample_run(2);
  run.state.log[1].theta.c.resize(3);
  CHECK(contains(message_of<RunError>([&] { write_run(scratch / "run.h5", run); }),
                 "parameters of another model"));
  CHECK(scratch.count() == 0);
}

TEST_CASE("the file of a run under way has its own name") {
  CHECK(part_path("results/RUN.h5") == fs::path("results/RUN.h5.part"));
}
