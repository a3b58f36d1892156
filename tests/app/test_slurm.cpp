#include "gih/app/slurm.hpp"

#include <doctest/doctest.h>

using namespace gih;

TEST_CASE("every form of a time limit") {
  const struct {
    const char* text;
    std::size_t seconds;  // 0: refused
  } cases[] = {{"1", 60},       {"90", 5400},     {"5:30", 330},    {"01:00:00", 3600},
               {"2-0", 172800}, {"1-06", 108000}, {"0-1:30", 5400}, {"1-2:03:04", 93784},
               {"0", 0},        {"0:00", 0},      {"", 0},          {"1h", 0},
               {"-5", 0},       {"1:2:3:4", 0},   {"1-", 0},        {"5:", 0},
               {"infinite", 0}, {"1 ", 0},        {"9999999", 0},   {"1-2:3:4:5", 0}};
  for (const auto& c : cases) {
    CAPTURE(std::string(c.text));
    CHECK(slurm_seconds(c.text).value_or(0) == c.seconds);
  }
}

TEST_CASE("sets of numbers") {
  CHECK(slurm_set({}) == "");
  CHECK(slurm_set({4}) == "4");
  CHECK(slurm_set({0, 1, 2, 7}) == "0-2,7");
  CHECK(slurm_set({0, 2, 3, 5, 6}) == "0,2-3,5-6");
}

TEST_CASE("a shell word keeps whatever is in it") {
  CHECK(shell_word("a b$c`d\"e\\f") == "'a b$c`d\"e\\f'");
  CHECK(shell_word("it's") == "'it'\\''s'");
}

TEST_CASE("scripts hold what sbatch and the shell need") {
  SlurmJob job;
  job.program = "/opt/my gih/bin/gih";
  job.table = "/data/o'clock.h5";
  job.points = 12;
  job.points_per_task = 5;
  job.tasks = {0, 2};
  job.throttle = 4;
  job.cpus = 2;
  job.time = "1:00:00";
  job.options = {"--partition=long", "--account=physics"};
  job.collects = {"--kernels", "0"};
  const std::string array = array_script(job);
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  for (const char* line :
       {"#SBATCH --array=0,2%4\n", "#SBATCH --time=1:00:00\n", "#SBATCH --cpus-per-task=2\n",
        "#SBATCH --signal=B:USR1@120\n", "#SBATCH --requeue\n", "#SBATCH --partition=long\n",
        "#SBATCH --account=physics\n", "gih='/opt/my gih/bin/gih'\n",
        "index < first + 5 && index < 12;"}) {
    CAPTURE(std::string(line));
    CHECK(has(array, line));
  }
  CHECK(array.starts_with("#!/usr/bin/env bash\n#SBATCH"));
  CHECK(has(collect_script(job),
            "exec '/opt/my gih/bin/gih' sweep collect . -o '/data/o'\\''clock.h5' --overwrite "
            "'--kernels' '0'\n"));
  CHECK_FALSE(has(collect_script(job), "--array"));
  job.throttle = 0;
  job.time = "1";
  CHECK(has(array_script(job), "#SBATCH --array=0,2\n"));
  CHECK(has(array_script(job), "USR1@15\n"));
}
