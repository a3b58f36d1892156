#include "gih/data/prompts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gih/base/error.hpp"
#include "gih/base/parallel.hpp"
#include "gih/data/chain.hpp"

namespace gih {
namespace {

/// Counts of (window, next): adds one token after another, reads out in ascending order.
class Counter {
 public:
  explicit Counter(const WindowCodes& codes) : d_(static_cast<WindowCode>(codes.d())) {
    const WindowCode windows = codes.first(codes.M()) + codes.count(codes.M());
    if (windows <= dense_limit / d_) dense_.resize(windows * d_);
  }

  void add(WindowCode window, Token next) {
    const WindowCode key = window * d_ + next;
    if (dense_.empty()) {
      sparse_.push_back(key);
    } else if (dense_[key]++ == 0) {
      seen_.push_back(key);
    }
  }

  /// Appends all cells so far.
  void read(std::vector<Cell>& cells) {
    if (dense_.empty()) {
      std::sort(sparse_.begin(), sparse_.end());
      for (std::size_t i = 0, j = 0; i < sparse_.size(); i = j) {
        while (j < sparse_.size() && sparse_[j] == sparse_[i]) ++j;
        cells.push_back(cell(sparse_[i], static_cast<double>(j - i)));
      }
      return;
    }
    std::sort(seen_.begin(), seen_.end());
    for (const WindowCode key : seen_) cells.push_back(cell(key, static_cast<double>(dense_[key])));
  }

  void clear() {
    for (const WindowCode key : seen_) dense_[key] = 0;
    seen_.clear();
    sparse_.clear();
  }

 private:
  Cell cell(WindowCode key, double weight) const {
    return {key / d_, static_cast<Token>(key % d_), weight};
  }

  static constexpr WindowCode dense_limit = 1 << 16;
  WindowCode d_;
  std::vector<std::uint64_t> dense_;
  std::vector<WindowCode> seen_;
  std::vector<WindowCode> sparse_;
};

/// Where a sequence comes from, and its share of the split's loss.
struct Source {
  const DataSpec& data;
  const PromptSpec& spec;
  const WindowCodes& codes;
  Split split;
  std::size_t index;
  const Kernel& kernel;  // empty where no kernel is needed
  double share() const { return 1.0 / static_cast<double>(data.count(split)); }
};

/// pi(. | parents of x[l]).
std::span<const double> law_of_next(const Source& from, std::span<const Token> x, std::size_t l) {
  if (from.kernel.pi.empty()) {
    const std::size_t row = from.split == Split::train ? from.index : from.data.train + from.index;
    const auto d = static_cast<std::size_t>(from.data.d);
    return {from.data.table->conditional.data() + row * d, d};
  }
  std::size_t code = 0;
  for (const int r : from.kernel.parents) {
    code = code * static_cast<std::size_t>(from.kernel.d) + x[l - static_cast<std::size_t>(r)];
  }
  return from.kernel.row(code);
}

/// x holds x_1 .. x_{L+1}; position l of the paper is x[l - 1] here.
void finite_piece(const Source& from, std::span<const Token> x, Counter& counter, Prompts& piece) {
  const auto& [data, spec, codes, split, index, kernel] = from;
  const std::size_t L = x.size() - 1;
  const auto M = static_cast<std::size_t>(spec.M);
  const bool sequential = spec.positions == Positions::sequential;
  const double share = from.share() / (sequential ? static_cast<double>(L - M) : 1.0);
  counter.clear();
  WindowCode window = 0;
  for (std::size_t l = 0; l <= L; ++l) {
    // Here `window` precedes x[l], and the cells are those of x[0] .. x[l-1].
    if (l == L || (sequential && l > M)) {
      counter.read(piece.cells);
      Question question{static_cast<std::uint32_t>(piece.count()), window, -1, x[l],
                        share};
      if (spec.target == Target::conditional) {
        const auto law = law_of_next(from, x, l);
        question.soft = static_cast<std::int64_t>(piece.soft.size());
        piece.soft.insert(piece.soft.end(), law.begin(), law.end());
      }
      piece.questions.push_back(question);
      piece.first_cell.push_back(piece.cells.size());
    }
    if (l == L) break;
    if (!spec.mask || l >= M) counter.add(window, x[l]);
    window = codes.advance(window, x[l]);
  }
}

void population_piece(const Source& from, Prompts& piece) {
  const auto& [data, spec, codes, split, index, kernel] = from;
  const WindowChain chain(kernel);
  if (data.initial == Initial::stationary && chain.classes().recurrent_count > 1) {
    throw InputError(
        fmt::format("data.initial = stationary: a kernel has {} recurrent classes, so its "
                    "stationary law is not "
                    "unique; use data.initial = uniform or a data.floor above 0",
                    chain.classes().recurrent_count));
  }
  const std::vector<double> law = extend_law(kernel, chain.long_run_law(), spec.M);
  const auto prompt = static_cast<std::uint32_t>(piece.count());
  for (std::size_t Z = 0; Z < law.size(); ++Z) {
    if (!(law[Z] > 0.0)) continue;
    const WindowCode window = codes.first(spec.M) + Z;
    const auto row = kernel.row(kernel.parent_code(codes.decode(window)));
    for (int k = 0; k < data.d; ++k) {
      const double weight = law[Z] * row[static_cast<std::size_t>(k)];
      if (weight > 0.0) piece.cells.push_back({window, static_cast<Token>(k), weight});
    }
    piece.questions.push_back(
        {prompt, window, static_cast<std::int64_t>(piece.soft.size()), 0, law[Z] * from.share()});
    piece.soft.insert(piece.soft.end(), row.begin(), row.end());
  }
  piece.first_cell.push_back(piece.cells.size());
}

}  // namespace

void append_prompts(Prompts& all, const Prompts& part) {
  const std::size_t first_prompt = all.count();
  const std::size_t first_cell = all.cells.size();
  if (first_prompt + part.count() > UINT32_MAX) {
    throw InputError("more than 4,294,967,295 prompts: use fewer sequences");
  }
  for (std::size_t i = 1; i < part.first_cell.size(); ++i) {
    all.first_cell.push_back(first_cell + part.first_cell[i]);
  }
  all.cells.insert(all.cells.end(), part.cells.begin(), part.cells.end());
  for (Question question : part.questions) {
    question.prompt += static_cast<std::uint32_t>(first_prompt);
    if (question.soft >= 0) question.soft += static_cast<std::int64_t>(all.soft.size());
    all.questions.push_back(question);
  }
  all.soft.insert(all.soft.end(), part.soft.begin(), part.soft.end());
}

void check_prompts(const DataSpec& data, const PromptSpec& prompts) {
  const int largest = data.parents.back();
  if (prompts.M < 1 || prompts.M > 31) {
    throw InputError(fmt::format("window M = {}: must be 1 to 31", prompts.M));
  }
  if (prompts.M < largest) {
    throw InputError(fmt::format("window M = {}: must be at least the largest parent lag r_n = {}",
                                 prompts.M, largest));
  }
  if (data.L && *data.L <= static_cast<std::size_t>(prompts.M)) {
    throw InputError(
        fmt::format("length L = {}: must be above the window M = {}", *data.L, prompts.M));
  }
  if (!data.L && prompts.positions == Positions::sequential) {
    throw InputError("length L = inf has no last position to grow to: positions must be \"last\"");
  }
  const WindowCodes codes(data.d, prompts.M);
  // A cell is counted under the number window x d + next, which must not wrap.
  if (codes.count(prompts.M) > (WindowCode{1} << 62) / static_cast<WindowCode>(data.d)) {
    throw InputError(fmt::format(
        "vocabulary d = {} with window M = {}: d^(M+1) must be at most 2^62", data.d, prompts.M));
  }
  if (!data.L && codes.count(prompts.M) > (WindowCode{1} << 20)) {
    throw InputError(
        fmt::format("length L = inf with d = {} and M = {}: d^M windows must be at most 2^20",
                    data.d, prompts.M));
  }
}

Prompts build_prompts(const DataSpec& data, const PromptSpec& spec, Split split, int threads,
                      const std::function<bool(std::size_t)>& done) {
  return build_prompts(data, spec, split, {0, data.count(split)}, threads, done);
}

Prompts build_prompts(const DataSpec& data, const PromptSpec& spec, Split split, Share share,
                      int threads, const std::function<bool(std::size_t)>& done) {
  check_data(data);
  check_prompts(data, spec);
  const WindowCodes codes(data.d, spec.M);
  const bool soft = spec.target == Target::conditional;
  const bool from_table = data.table && data.table->kernels.empty();
  if (soft && from_table &&
      (data.table->conditional.empty() || spec.positions == Positions::sequential)) {
    throw InputError("the data file has no kernels, which target \"conditional\" needs");
  }
  Prompts all;
  all.d = data.d;
  all.M = spec.M;
  // Rounds of chunks: a round is drawn in parallel and appended in order, so what is not yet
  // appended stays small. It takes a fraction of a second, so that `done` is heard in time.
  const double entries = data.table ? 0.0 : std::pow(data.d, data.parents.size() + 1);
  const double work = 20.0 * entries + (data.L ? static_cast<double>(*data.L) : 0.0);
  const auto chunk = static_cast<std::size_t>(std::clamp(1e6 / work, 1.0, 64.0));
  const std::size_t round = chunk * static_cast<std::size_t>(threads) * 8;
  std::vector<Prompts> pieces;
  for (std::size_t begin = share.first; begin < share.last; begin += round) {
    const std::size_t end = std::min(share.last, begin + round);
    pieces.assign((end - begin + chunk - 1) / chunk, {});
    parallel_for(threads, pieces.size(), [&](std::size_t p) {
      Counter counter(codes);
      std::vector<Token> x(data.L ? *data.L + 1 : 0);
      const std::size_t last = std::min(end, begin + (p + 1) * chunk);
      for (std::size_t i = begin + p * chunk; i < last; ++i) {
        const Kernel kernel = from_table ? Kernel{} : sequence_kernel(data, split, i);
        const Source from{data, spec, codes, split, i, kernel};
        if (data.L) {
          draw_sequence(data, kernel, split, i, x);
          finite_piece(from, x, counter, pieces[p]);
        } else {
          population_piece(from, pieces[p]);
        }
      }
    });
    for (const Prompts& piece : pieces) append_prompts(all, piece);
    if (done && !done(end - share.first)) return {};
  }
  return all;
}

double prompts_bytes(const DataSpec& data, const PromptSpec& spec, Split split) {
  const auto sequences = static_cast<double>(data.count(split));
  const double pairs = std::pow(data.d, spec.M + 1);  // full windows with their next token
  const double length = data.L ? static_cast<double>(*data.L) : 0.0;
  const bool sequential = spec.positions == Positions::sequential;
  const double questions = data.L ? (sequential ? length - spec.M : 1.0) : std::pow(data.d, spec.M);
  double cells = data.L ? std::min(pairs + spec.M, length) : pairs;
  if (sequential) {  // growing prefixes: at most the sum of min(pairs + M, l) over l = 1 .. L
    const double full = std::min(pairs + spec.M, length);
    cells = full * (full + 1.0) / 2.0 + (length - full) * full;
  }
  const bool soft = !data.L || spec.target == Target::conditional;
  const double prompts = data.L ? questions : 1.0;
  return sequences * (cells * sizeof(Cell) + questions * sizeof(Question) +
                      (soft ? questions * data.d * sizeof(double) : 0.0)) +
         (sequences * prompts + 1.0) * sizeof(std::size_t);
}

}  // namespace gih
