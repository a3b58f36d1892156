#include "gih/app/config.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "io/scratch.hpp"

using namespace gih;

namespace {

std::string refusal(const std::vector<Assignment>& assignments) {
  return message_of<InputError>([&] { resolve(assignments); });
}

std::string ini_refusal(const std::string& text) {
  return message_of<InputError>([&] { read_ini(text, "C.ini"); });
}

Assignment option(const std::string& key, const std::string& value) {
  return {key, value, "--" + key};
}

/// key=value@place, one a line.
std::string flat(const std::vector<Assignment>& assignments) {
  std::string text;
  for (const Assignment& a : assignments) text += a.key + "=" + a.value + "@" + a.place + "\n";
  return text;
}

std::string stage_name(std::string key, const std::string& number) {
  const std::size_t at = key.find(".K.");
  return at == std::string::npos ? key : key.replace(at + 1, 1, number);
}

}  // namespace

// ---- read_ini ----------------------------------------------------------------------------------

TEST_CASE("INI text becomes assignments with their places") {
  struct {
    const char* what;
    const char* text;
    const char* expected;
  } const cases[] = {
      {"nothing", "", ""},
      {"sections", "[data]\nalpha = 0.2\n\n[model]\nwindow=5\n",
       "data.alpha=0.2@C.ini:2\nmodel.window=5@C.ini:5\n"},
      {"dotted keys without a section", "data.alpha = 1\n", "data.alpha=1@C.ini:1\n"},
      {"a section with a dot", "[stage.1]\ntrain = c+w\n", "stage.1.train=c+w@C.ini:2\n"},
      {"comments", "# [model]\n[data] # here\nalpha = 1 # there\n#alpha = 2\n",
       "data.alpha=1@C.ini:3\n"},
      {"CRLF", "[data]\r\nalpha = 1\r\n\r\nfloor = 0.1\r\n",
       "data.alpha=1@C.ini:2\ndata.floor=0.1@C.ini:4\n"},
      {"an empty value", "[data]\nfile =\nkernels=\n",
       "data.file=@C.ini:2\ndata.kernels=@C.ini:3\n"},
      {"blanks", "  [data]\n\t alpha\t=  1,  2 \t\n", "data.alpha=1,  2@C.ini:2\n"},
      {"an equals sign in a value", "[data]\nfile = a=b.h5\n", "data.file=a=b.h5@C.ini:2\n"},
      {"no newline at the end", "[data]\nalpha = 1", "data.alpha=1@C.ini:2\n"},
      {"a section that comes again", "[data]\nalpha = 1\n[model]\n[data]\nfloor = 0\n",
       "data.alpha=1@C.ini:2\ndata.floor=0@C.ini:5\n"},
  };
  for (const auto& c : cases) {
    CAPTURE(std::string(c.what));
    CHECK(flat(read_ini(c.text, "C.ini")) == c.expected);
  }
}

TEST_CASE("what is no INI text is refused with its line") {
  struct {
    const char* text;
    const char* words;
  } const cases[] = {
      {"[data]\nalpha\n",
       "C.ini:2: \"alpha\" is not a line of a configuration: must be key = value"},
      {"[data\nalpha = 1\n", "C.ini:1: \"[data\""},
      {"data]\n", "C.ini:1: "},
      {"[data]\nalpha = 1\n\nalpha = 1\n", "C.ini:4: data.alpha is given again (first at C.ini:2)"},
      {"[data]\nalpha = 1\n[model]\n[data]\nalpha = 2\n", "C.ini:5: data.alpha is given again"},
      {"data.alpha = 1\n[data]\nalpha = 2\n", "C.ini:3: data.alpha is given again"},
      {"\xef\xbb\xbf[data]\n", "C.ini:1: "},
  };
  for (const auto& c : cases) {
    CAPTURE(std::string(c.text));
    const std::string message = ini_refusal(c.text);
    CAPTURE(message);
    CHECK(message.starts_with(c.words));
  }
}

TEST_CASE("of a file that is no text one short printable line is quoted") {
  std::string binary(5000, '\x01');
  binary += '\x1b';
  const std::string message = ini_refusal(binary);
  CHECK(message.starts_with("C.ini:1: "));
  CHECK(message.size() < 250);
  CHECK(std::all_of(message.begin(), message.end(), [](unsigned char c) { return c >= ' '; }));
}

// ---- the table of keys -------------------------------------------------------------------------

TEST_CASE("every key accepts its default and gives the same text back") {
  std::set<std::string> names;
  for (const KeyRow& row : key_table()) {
    CAPTURE(std::string(row.name));
    Settings settings;
    Stage stage;
    stage.trains = Blocks::all();
    const std::string text = row.get(settings, &stage);
    CHECK(row.set({settings, &stage}, text));
    CHECK(row.get(settings, &stage) == text);
    CHECK(std::string(row.accepted).size() > 0);
    CHECK(std::string(row.meaning).size() > 0);
    CHECK(names.insert(row.name).second);
  }
  CHECK(names.size() > 30);
}

TEST_CASE("every key but a path refuses what it cannot understand, and says what it takes") {
  for (const KeyRow& row : key_table()) {
    CAPTURE(std::string(row.name));
    const bool is_path = std::string(row.accepted).starts_with("the path");
    for (const char* junk : {"?", "-", "1 2", "nan", "inf,", "0x1", "1;2"}) {
      CAPTURE(std::string(junk));
      Settings settings;
      Stage stage;
      CHECK(row.set({settings, &stage}, junk) == is_path);
      if (is_path) continue;
      std::vector<Assignment> given{option(stage_name(row.name, "1"), junk)};
      CHECK(refusal(given) == given[0].place + " = " + junk + ": must be " + row.accepted);
      given[0].place = "C.ini:3";
      CHECK(refusal(given) ==
            "C.ini:3: " + given[0].key + " = " + junk + ": must be " + row.accepted);
    }
    Settings settings;
    Stage stage;
    CHECK(row.set({settings, &stage}, "") == is_path);
  }
}

TEST_CASE("a path that INI text could not hold is refused") {
  for (const char* key : {"data.file", "data.kernels", "init.file"}) {
    for (const char* path : {"a#b.h5", " a.h5", "a.h5 ", "a\nb.h5", "a\rb", "a\tb", "a\x7f"}) {
      CAPTURE(std::string(path));
      CHECK(contains(refusal({option(key, path)}), "must be the path of"));
    }
  }
}

TEST_CASE("ranges include their ends and nothing beyond") {
  struct {
    const char* key;
    std::vector<const char*> accepted, refused;
  } const cases[] = {
      {"data.vocab", {"2", "65536"}, {"1", "0", "65537", "-3", "2.5"}},
      {"data.parents", {"1", "31", "1,2", "1, 3", "2"}, {"0", "2,1", "1,1", "1,,2", "32", "1,2,"}},
      {"data.length", {"2", "1e9", "inf", "100000"}, {"1", "1e10", "0", "Inf", "-5"}},
      {"data.alpha", {"0.001", "1e6", "1"}, {"0", "0.0009", "1e7", "-0.1"}},
      {"data.floor", {"0", "0.3"}, {"-0.1", "0.6", "1"}},
      {"data.train", {"1", "1e4", "1000000000"}, {"0", "1e10", "-1", "1.5"}},
      {"data.validation", {"0", "1e9"}, {"-1"}},
      {"data.seed", {"0", "18446744073709551615"}, {"18446744073709551616", "-1", "1.5"}},
      {"model.window", {"1", "31"}, {"0", "32", "-1"}},
      {"model.mask", {"true", "false"}, {"True", "1", "yes"}},
      {"loss.epsilon", {"auto", "0", "1", "0.1"}, {"-0.1", "1.1"}},
      {"init.c", {"0.01", "1,2,3", "-1"}, {"1,,2", "1,x"}},
      {"init.a", {"-1", "1e300"}, {"1e309"}},
      {"init.step", {"last", "0:0", "1:20", "99:0"}, {"1", "1:", ":1", "100:1", "1:2:3", "1:-1"}},
      {"stage.K.train", {"c", "w", "a", "c+w", "a+w+c", "c + w"}, {"c,w", "c+c", "b", "c+", "cw"}},
      {"stage.K.epochs", {"0", "1e12"}, {"-1", "1e13"}},
      {"stage.K.stepper", {"dormand-prince", "rosenbrock"}, {"", "euler", "Rosenbrock"}},
      {"stage.K.learning-rate", {"1", "1e-300", "1e308"}, {"0", "-1", "1e309"}},
      {"log.every", {"auto", "1", "1000"}, {"0", "-1"}},
      {"run.threads", {"all", "1", "1024"}, {"0", "1025"}},
      {"run.checkpoint", {"0.1", "60", "86400"}, {"0", "86401"}},
      {"run.max-memory",
       {"80 %", "100 %", "500 MB", "4 GB", "80%", "4GB", "1.5 GB"},
       {"80", "101 %", "0 MB", "-1 GB", "4 TB", "GB", "4 GB x"}},
  };
  std::size_t tried = 0;
  for (const auto& c : cases) {
    for (const KeyRow& row : key_table()) {
      if (row.name != std::string(c.key)) continue;
      ++tried;
      for (const bool expected : {true, false}) {
        for (const char* text : expected ? c.accepted : c.refused) {
          CAPTURE(std::string(c.key));
          CAPTURE(std::string(text));
          Settings settings;
          Stage stage;
          CHECK(row.set({settings, &stage}, text) == expected);
          if (!expected) continue;
          // What it gives back means the same.
          const std::string back = row.get(settings, &stage);
          CHECK(row.set({settings, &stage}, back));
          CHECK(row.get(settings, &stage) == back);
        }
      }
    }
  }
  CHECK(tried == std::size(cases));
}

TEST_CASE("the table for the documentation has a row for every key") {
  const std::string text = key_table_markdown();
  for (const KeyRow& row : key_table()) {
    CHECK(contains(text, std::string("| `") + row.name + "` | "));
  }
}

// ---- resolve and back --------------------------------------------------------------------------

TEST_CASE("the resolved text gives the same settings and the same text") {
  const std::vector<std::vector<Assignment>> configurations{
      {},
      {option("data.alpha", "0.25"), option("stage.1.train", "w+c"),
       option("stage.1.epochs", "1e4"), option("stage.2.train", "a"),
       option("stage.2.learning-rate", "0.3")},
      {option("data.length", "inf"), option("model.subsets", "exactly"),
       option("init.c", "1,-2.5,1e-3"), option("run.max-memory", "1.5 GB"),
       option("log.every", "7"), option("run.threads", "3")},
      {option("data.seed", "18446744073709551615"), option("loss.epsilon", "1e-3"),
       option("data.target", "conditional"), option("loss.positions", "sequential"),
       option("model.mask", "true"), option("data.initial", "stationary")},
      {option("memory.rate", "8"), option("memory.scale", "inf"), option("memory.lags", "1,3"),
       option("memory.compressor", "conv"), option("memory.slots", "inf")},
  };
  const Settings defaults;
  for (const auto& assignments : configurations) {
    const std::string text = to_ini(resolve(assignments));
    CAPTURE(std::string(text));
    CHECK(to_ini(resolve(read_ini(text, "again"))) == text);
    std::set<std::string> given;
    for (const Assignment& a : read_ini(text, "again")) given.insert(a.key);
    for (const KeyRow& row : key_table()) {
      const std::string name = stage_name(row.name, "1");
      if (row.optional) {
        CHECK(given.contains(name) ==
              (row.get(resolve(assignments), nullptr) != row.get(defaults, nullptr)));
      } else if (name == row.name || contains(text, "[stage.1]")) {
        CHECK(given.contains(name));
      }
    }
  }
  CHECK(contains(to_ini(resolve(configurations[1])), "epochs = 10000\n"));
  CHECK(contains(to_ini(resolve(configurations[3])), "seed = 18446744073709551615\n"));
}

TEST_CASE("later assignments win") {
  const Settings settings =
      resolve({{"data.alpha", "0.2", "C.ini:1"}, option("data.alpha", "0.3")});
  CHECK(settings.data.prior.alpha == 0.3);
}

TEST_CASE("an unknown key is refused with its place and the nearest name") {
  struct {
    const char* key;
    const char* nearest;
  } const cases[] = {
      {"data.alpah", "data.alpha"},         {"alpha", "data.alpha"},
      {"model.win", "model.window"},        {"stage.2.epoch", "stage.2.epochs"},
      {"stage.K.epochs", "stage.K.epochs"}, {"stage.1.learning_rate", "stage.1.learning-rate"},
      {"data.Alpha", "data.alpha"},         {"", ""},
  };
  for (const auto& c : cases) {
    CAPTURE(std::string(c.key));
    const std::string message = refusal({{c.key, "1", "C.ini:7"}});
    CHECK(message.starts_with(std::string("C.ini:7: ") + c.key + " is not a key; the nearest is " +
                              c.nearest));
  }
}

TEST_CASE("a stage has one name") {
  for (const char* number : {"0", "01", "+1", "1e0", "1.0", "100", "-1", "", "x", "1 "}) {
    CAPTURE(std::string(number));
    CHECK(contains(refusal({option(std::string("stage.") + number + ".epochs", "5"),
                            option("stage.1.train", "c")}),
                   "is not a key"));
  }
}

TEST_CASE("stages have no gaps and say what they train") {
  struct {
    std::vector<Assignment> given;
    const char* words;
  } const cases[] = {
      {{option("stage.2.train", "c")}, "--stage.2.train: stage 2 without stage 1"},
      {{option("stage.1.train", "c"), option("stage.3.train", "w")}, "stage 3 without stage 2"},
      {{option("stage.1.epochs", "5")},
       "--stage.1.epochs: stage.1.train is missing: must be c, w, a"},
      {{option("stage.1.train", "c"), option("stage.2.epochs", "1")}, "stage.2.train is missing"},
  };
  for (const auto& c : cases) CHECK(contains(refusal(c.given), c.words));
  const Settings settings = resolve({option("stage.2.train", "w"), option("stage.1.train", "c")});
  REQUIRE(settings.schedule.size() == 2);
  CHECK(settings.schedule[0].trains.c);
  CHECK(settings.schedule[1].trains.w);
}

TEST_CASE("the nearest name takes the fewest edits") {
  const std::vector<std::string> names{"data.alpha", "data.floor", "model.window"};
  struct {
    const char* name;
    const char* nearest;
  } const cases[] = {{"data.alpha", "data.alpha"},
                     {"dat.flor", "data.floor"},
                     {"window", "model.window"},
                     {"model.windows", "model.window"}};
  for (const auto& c : cases) CHECK(nearest_name(c.name, names) == c.nearest);
  CHECK(nearest_name("x", {}) == "");
}
