#include "gih/app/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "gih/app/text.hpp"

namespace gih {
namespace {

/// Seconds before the end at which Slurm warns: enough to save, little of a short job.
std::size_t warning(const SlurmJob& job) {
  return std::clamp<std::size_t>(slurm_seconds(job.time).value_or(0) / 4, 10, 120);
}

std::string head(const SlurmJob& job, const char* name, const char* log) {
  std::string text = fmt::format(
      "#!/usr/bin/env bash\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --output=slurm/{}\n"
      "#SBATCH --open-mode=append\n"
      "#SBATCH --time={}\n"
      "#SBATCH --ntasks=1\n"
      "#SBATCH --cpus-per-task={}\n",
      name, log, job.time, job.cpus);
  for (const std::string& option : job.options) text += "#SBATCH " + option + "\n";
  return text;
}

}  // namespace

std::optional<std::size_t> slurm_seconds(const std::string& time) {
  static const std::regex form(
      "(\\d{1,6})|(\\d{1,6}):(\\d{1,2})|(\\d{1,5}):(\\d{1,2}):(\\d{1,2})|"
      "(\\d{1,4})-(\\d{1,2})(?::(\\d{1,2})(?::(\\d{1,2}))?)?");
  std::smatch found;
  if (!std::regex_match(time, found, form)) return {};
  const auto number = [&](std::size_t group) -> std::size_t {
    return found[group].matched ? std::stoul(found[group].str()) : 0;
  };
  const std::size_t minutes = number(1) + number(2) + number(5) + number(9);
  const std::size_t seconds = number(3) + number(6) + number(10);
  const std::size_t hours = number(4) + number(8) + 24 * number(7);
  const std::size_t all = seconds + 60 * (minutes + 60 * hours);
  if (all == 0) return {};
  return all;
}

std::string slurm_set(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (std::size_t i = 0, j = 0; i < numbers.size(); i = j) {
    for (j = i + 1; j < numbers.size() && numbers[j] == numbers[j - 1] + 1; ++j) {
    }
    if (!text.empty()) text += ",";
    text += std::to_string(numbers[i]);
    if (j - i > 1) text += fmt::format("-{}", numbers[j - 1]);
  }
  return text;
}

std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string array_script(const SlurmJob& job) {
  std::string text = head(job, "gih-sweep", "%A_%a.out");
  text += fmt::format("#SBATCH --array={}{}\n", slurm_set(job.tasks),
                      job.throttle > 0 ? fmt::format("%{}", job.throttle) : "");
  text += fmt::format("#SBATCH --requeue\n#SBATCH --signal=B:USR1@{}\n", warning(job));
  text += fmt::format(R"(
# Task k makes {0} points of this folder's grid from point {0} k on. Where Slurm warns that the time ends
# (USR1) the point is saved and the task queued again; where someone ends the job (TERM) it is saved.
set -u
gih={1}
child=
why=
stop() {{
  why=$1
  [[ -z $child ]] || kill -TERM "$child" 2>/dev/null
}}
trap 'stop time' USR1
trap 'stop end' TERM
worst=0
first=$((SLURM_ARRAY_TASK_ID * {0}))
for ((index = first; index < first + {0} && index < {2}; ++index)); do
  [[ -z $why ]] || break
  "$gih" sweep task grid.ini -o . --index "$index" &
  child=$!
  wait "$child"
  status=$?
  # A signal ends the waiting, not what is waited for.
  while ((status > 128)) && kill -0 "$child" 2>/dev/null; do
    wait "$child"
    status=$?
  done
  child=
  [[ -n $why ]] || ((status <= worst)) || worst=$status
done
if [[ $why == time ]]; then
  echo "the time is over: queued again" >&2
  scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID" || exit 3
fi
[[ -z $why ]] || exit 3
exit "$worst"
)",
                      job.points_per_task, shell_word(job.program.string()), job.points);
  return text;
}

std::string collect_script(const SlurmJob& job) {
  std::string text = head(job, "gih-collect", "%j.out");
  text += "#SBATCH --requeue\n\n";
  text += fmt::format("exec {} sweep collect . -o {} --overwrite", shell_word(job.program.string()),
                      shell_word(job.table.string()));
  for (const std::string& word : job.collects) text += " " + shell_word(word);
  return text + "\n";
}

}  // namespace gih
