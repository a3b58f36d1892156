#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli.hpp"
#include "gih/base/error.hpp"
#include "gih/base/parallel.hpp"
#include "gih/io/atomic_file.hpp"
#include "gih/io/data_file.hpp"
#include "interrupt.hpp"
#include "progress.hpp"

namespace gih::cli {
namespace {

/// Row i of the table, which is sequence i of the training split or, after those, of validation.
void fill_row(const DataSpec& data, std::size_t i, bool with_kernels, TokenTable& table) {
  const bool train = i < data.train;
  const Split split = train ? Split::train : Split::validation;
  const std::size_t index = train ? i : i - data.train;
  Kernel kernel = sequence_kernel(data, split, index);
  const std::span<Token> x{table.tokens.data() + i * table.columns, table.columns};
  draw_sequence(data, kernel, split, index, x);
  std::vector<Token> lags(static_cast<std::size_t>(kernel.largest_lag()));
  for (std::size_t lag = 1; lag <= lags.size(); ++lag) lags[lag - 1] = x[x.size() - 1 - lag];
  const auto law = kernel.row(kernel.parent_code(lags));
  std::copy(law.begin(), law.end(),
            table.conditional.begin() + static_cast<std::ptrdiff_t>(i * law.size()));
  if (with_kernels) table.kernels[i] = std::move(kernel);
}

int run_sample(const Arguments& arguments) {
  const Settings settings = resolve(arguments.keys);
  const DataSpec& data = settings.data;
  if (!data.L) throw InputError("data.length = inf: sample needs a finite length");
  if (data.table) throw InputError("data.file: sample draws tokens, it does not read them");
  const std::filesystem::path output = arguments.require("output");
  check_writable_target(output, arguments.has("overwrite"));
  const std::size_t rows = data.train + data.validation;
  const auto d = static_cast<std::size_t>(data.d);
  const bool with_kernels = arguments.has("kernels");
  const double kernel_bytes =
      with_kernels ? static_cast<double>(kernel_rows(data.d, data.parents.size()) * d) * 8.0 : 0.0;
  // Twice: the table, and the file made of it.
  check_memory(settings,
               50e6 + 2.0 * static_cast<double>(rows) *
                          (2.0 * static_cast<double>(*data.L + 1) + 8.0 * data.d + kernel_bytes));
  watch_interrupts();  // before the lock, so that a signal never leaves it behind
  const OutputLock lock(output);
  TokenTable table;
  table.d = data.d;
  table.rows = rows;
  table.columns = *data.L + 1;
  table.tokens.resize(rows * table.columns);
  table.conditional.resize(rows * d);
  if (with_kernels) table.kernels.resize(rows);
  {
    Progress progress("sampling", "sequences", static_cast<double>(rows), 0.0,
                      arguments.has("quiet"));
    // About a tenth of a second between looks at interrupts, however long the sequences are.
    const auto threads = static_cast<std::size_t>(settings.thread_count());
    const std::size_t round = threads * std::clamp<std::size_t>(2'000'000 / table.columns, 1, 2048);
    for (std::size_t begin = 0; begin < rows && !interrupted(); begin += round) {
      const std::size_t count = std::min(round, rows - begin);
      parallel_for(settings.thread_count(), count,
                   [&](std::size_t i) { fill_row(data, begin + i, with_kernels, table); });
      progress.update(static_cast<double>(begin + count));
    }
  }
  if (interrupted()) {
    tell("gih: interrupted; nothing was written\n");
    return exit_interrupted;
  }
  write_data(output, table, data.parents, to_ini(settings));
  if (!arguments.has("quiet")) {
    tell(fmt::format("{}: {} sequences of {} + 1 tokens\n", output.string(), rows, *data.L));
  }
  return 0;
}

}  // namespace

const Command sample_command{
    "sample",
    "draws sequences from a prior, data.train then data.validation of them, and writes a data file",
    "",
    true,
    {{"output,o", "FILE", "data file to write"},
     {"kernels", "", "store every sequence's kernel too"},
     {"overwrite", "", "replace the output if it exists"},
     {"quiet,q", "", "no progress"}},
    run_sample};

}  // namespace gih::cli
