#include "gih/app/grid.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "gih/base/error.hpp"
#include "io/scratch.hpp"

using namespace gih;

namespace {

Grid grid(const std::string& text) {
  return expand(read_ini(text, "g.ini"));
}

/// Values of the axes, point by point: "a b|a b".
std::string values(const Grid& grid) {
  std::string text;
  for (const GridPoint& point : grid.points) {
    if (!text.empty()) text += '|';
    for (std::size_t k = 0; k < point.values.size(); ++k) text += (k ? " " : "") + point.values[k];
  }
  return text;
}

std::string refusal(const std::string& text) {
  try {
    grid(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("lists and ranges") {
  CHECK(values(grid("data.alpha = 0.01 0.03  0.1\n")) == "0.01|0.03|0.1");
  CHECK(values(grid("data.seed = 1..4 7\n")) == "1|2|3|4|7");
  CHECK(values(grid("init.w-diagonal = 0:2:0.5\n")) == "0|0.5|1|1.5|2");
  CHECK(values(grid("init.w-diagonal = 2:-1:-1.5\n")) == "2|0.5|-1");
  CHECK(values(grid("init.a = 1e-3:4e-3:1e-3\n")) == "0.001|0.002|0.003|0.004");
  CHECK(values(grid("data.parents = 1,2 1,3\n")) == "1,2|1,3");
  CHECK(values(grid("data.length = 100 inf\nloss.epsilon = auto 0.1\n")) ==
        "100 auto|100 0.1|inf auto|inf 0.1");
  // What adding steps up would miss.
  CHECK(values(grid("data.alpha = 0.1:0.7:0.1\n")) == "0.1|0.2|0.3|0.4|0.5|0.6|0.7");
}

TEST_CASE("an ordinary configuration is a grid of one point") {
  const Grid one = grid(
      "[data]\nalpha = 0.1\n[init]\nc = 0.1, 0.2,0,0, 0,0,0\n[run]\n"
      "max-memory = 80 %\n[stage.1]\ntrain = c\nepochs = 5\n");
  REQUIRE(one.points.size() == 1);
  CHECK(one.axes.empty());
  CHECK(one.points[0].name == "point-" + one.points[0].hash);
  CHECK(one.points[0].config == to_ini(resolve(one.points[0].keys)));
  CHECK(one.points[0].config.find("c = 0.1,0.2,0,0,0,0,0\n") != std::string::npos);
}

TEST_CASE("the last axis runs fastest, zipped keys move together, excluded points are left out") {
  CHECK(values(grid("data.seed = 1 2\ninit.a = 0.1 0.2\n")) == "1 0.1|1 0.2|2 0.1|2 0.2");
  CHECK(values(grid("sweep.zip = data.seed,init.a\ndata.seed = 1 2\ndata.length = 20 30\n"
                    "init.a = 0.1 0.2\n")) == "1 20 0.1|1 30 0.1|2 20 0.2|2 30 0.2");
  CHECK(values(
            grid("data.seed = 1 2\ninit.a = 0.1 0.2\nsweep.exclude = data.seed=2&init.a>0.15\n")) ==
        "1 0.1|1 0.2|2 0.1");
  CHECK(values(grid("data.length = 20 inf\ndata.seed = 1..3\n"
                    "sweep.exclude = data.length>=1000&data.seed<2 data.seed=3\n")) ==
        "20 1|20 2|inf 2");
  // It is asked before the keys have to fit each other.
  CHECK(values(grid("model.heads = 2 3\nmodel.degree = 2 3\n"
                    "sweep.exclude = model.heads=2&model.degree=3\n")) == "2 2|3 2|3 3");
  const Grid some = grid("data.seed = 1..3\nsweep.exclude = data.seed=1\n");
  CHECK(some.points[0].index == 0);
  CHECK(some.points[1].index == 1);
}

TEST_CASE("hashes tell configurations apart and leave out how they are run") {
  const Grid all = grid("data.alpha = 0.01 0.03\ndata.seed = 1..50\n");
  std::set<std::string> hashes;
  for (const GridPoint& point : all.points) hashes.insert(point.hash);
  CHECK(hashes.size() == 100);
  const std::string same = all.points[0].hash;
  CHECK(grid("data.alpha = 0.01\n").points[0].hash == same);
  CHECK(grid("data.alpha = 1e-2\nrun.threads = 1\nrun.checkpoint = 9\n").points[0].hash == same);
  CHECK(grid("data.alpha = 0.01\nlog.every = 7\n").points[0].hash != same);
}

TEST_CASE("names are short and safe") {
  std::string text = "model.heads = 2\nmodel.window = 2\n";
  for (const char* key : {"data.alpha", "init.a", "init.w-diagonal", "init.w-off", "init.c",
                          "init.qkv", "data.floor"}) {
    text += std::string(key) + " = 0.0123456789 0.123456789\n";
  }
  const Grid many = grid(text);
  CHECK(many.points.size() == 128);
  std::set<std::string> names;
  for (const GridPoint& point : many.points) {
    names.insert(point.name);
    CHECK(point.name.size() < 100);
    CHECK(point.name.ends_with("-" + point.hash));
    CHECK(std::all_of(point.name.begin(), point.name.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             c == '-' || c == '_';
    }));
  }
  CHECK(names.size() == 128);
  CHECK(grid("stage.1.train = c\nstage.1.learning-rate = 0.5 1\n")
            .points[0]
            .name.starts_with("1-learning-rate-0p5-"));
}

TEST_CASE("later assignments win, whole lists at a time") {
  CHECK(values(expand({{"data.seed", "1..3", "g.ini:1"},
                       {"init.a", "1 2", "g.ini:2"},
                       {"data.seed", "8 9", "--data.seed"}})) == "8 1|8 2|9 1|9 2");
}

TEST_CASE("paths are relative to the grid, and the text that is kept reads the same elsewhere") {
  const Scratch scratch;
  const auto folder = scratch / "grids";
  std::filesystem::create_directories(folder);
  const char* kernel = R"({"vocab": 2, "parents": [1], "pi": [[0.5, 0.5], [0.25, 0.75]]})";
  const char* other = R"({"vocab": 2, "parents": [1], "pi": [[0.5, 0.5], [0.5, 0.5]]})";
  std::ofstream(folder / "one kernel.json") << kernel;
  std::ofstream(scratch / "two.json") << other;
  std::ofstream(folder / "g.ini")
      << "data.kernels = one kernel.json | ../two.json\nmodel.heads = 3\n";
  const Grid found = expand(read_grid(folder / "g.ini"));
  REQUIRE(found.points.size() == 2);
  CHECK(found.points[0].values[0] == (folder / "one kernel.json").string());
  CHECK(found.points[1].values[0] == (scratch / "two.json").string());
  CHECK(found.points[0].name.starts_with("kernels-one-kernel-"));
  std::ofstream(scratch / "kept.ini") << found.text;
  const Grid kept = expand(read_grid(scratch / "kept.ini"));
  REQUIRE(kept.points.size() == 2);
  CHECK(kept.text == found.text);
  for (std::size_t i = 0; i < 2; ++i) CHECK(kept.points[i].hash == found.points[i].hash);
}

TEST_CASE("what is wrong is named with its place") {
  const std::pair<const char*, const char*> cases[] = {
      {"data.alhpa = 0.1 0.2\n", "g.ini:1: data.alhpa is not a key; the nearest is data.alpha"},
      {"data.alpha = 0.1 -1\n", "g.ini:1: data.alpha = -1: must be a number from 0.001"},
      {"data.alpha = 0.1 nan\n", "data.alpha = nan: must be"},
      {"data.alpha = \n", "data.alpha"},
      {"\ndata.seed = 3..1\n", "g.ini:2: data.seed = 3..1: must be FIRST..LAST"},
      {"data.seed = 1..x\n", "must be FIRST..LAST"},
      {"data.seed = 0..100000\n", "must be at most 100000 values"},
      {"data.alpha = 0:1:0.5\n", "holds 0: must be a number from 0.001"},
      {"init.a = 0:1:0\n", "with a step from first to last"},
      {"init.a = 0:1:-1\n", "with a step from first to last"},
      {"init.a = 0:1e9:1\n", "must be at most 100000 values"},
      {"init.a = 0:x:1\n", "three numbers"},
      {"init.a = 0:1:1e-17\n", "at most 15 digits"},
      {"data.seed = 1..999\ninit.a = 0:999:1\n",
       "the grid has 999000 points: must be at most 100000"},
      {"data.alpha = 0.1 1e-1\n", "points 0 and 1 of the grid are the same configuration"},
      {"run.threads = 1 2\n", "must be one value"},
      {"sweep.zpi = data.seed\n", "g.ini:1: sweep.zpi is not a key; the nearest is sweep.zip"},
      {"data.seed = 1 2\nsweep.zip = data.seed,data.sed\n", "the nearest is data.seed"},
      {"data.seed = 1 2\ninit.a = 1 2 3\nsweep.zip = data.seed,init.a\n",
       "data.seed has 2 values, init.a has 3"},
      {"data.seed = 1 2\nsweep.zip = data.seed\n", "must be keys that move together"},
      {"data.seed = 1 2\nsweep.zip = data.seed,data.seed\n", "stands there twice"},
      {"data.seed = 1 2\nsweep.exclude = data.seed=3\n", "excludes no point"},
      {"data.seed = 1 2\nsweep.exclude = data.sed=1\n", "the nearest is data.seed"},
      {"data.seed = 1 2\nsweep.exclude = data.seed\n", "must be KEY=VALUE"},
      {"data.seed = 1 2\nsweep.exclude = data.seed=>1\n", "=> must be"},
      {"data.seed = 1 2\nsweep.exclude = data.seed<x\n", "must be a number after <"},
      {"data.seed = 1 2\nsweep.exclude = data.seed<9\n", "leaves no point"},
      {"model.heads = 2 3\nmodel.degree = 3\n",
       "model.degree = 3: must be at most model.heads = 2"},
  };
  for (const auto& example : cases) {
    const std::string text = example.first, part = example.second;
    CAPTURE(text);
    const std::string found = refusal(text);
    CAPTURE(found);
    CHECK(found.find(part) != std::string::npos);
  }
}
