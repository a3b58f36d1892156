#pragma once
// What the model sees of a prompt. A position enters the second attention only through its window
// and its token, so a prompt is exactly its cells and its questions. One struct serves finite
// prompts, the mask, the sequential loss (C.5), the population limit L = inf and soft targets.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gih/base/ranks.hpp"
#include "gih/base/window.hpp"
#include "gih/data/dataset.hpp"

namespace gih {

enum class Target {
  sampled,      ///< the token x_{L+1} that was drawn
  conditional,  ///< pi(. | parents of x_{L+1})
};
enum class Positions {
  last,        ///< predict x_{L+1} (2.1)
  sequential,  ///< predict each x_{l+1}, l = M+1 .. L, plain mean (C.5)
};

struct PromptSpec {
  int M = 3;          ///< window length
  bool mask = false;  ///< drop the first M positions from the second attention
  Target target = Target::sampled;
  Positions positions = Positions::last;
};

/// `weight` positions (or probability) with this window before and this token.
struct Cell {
  WindowCode window;
  Token next;
  double weight;
};

/// One prediction: the query window, the target law and the share in the loss.
struct Question {
  std::uint32_t prompt;
  WindowCode query;
  std::int64_t soft;  ///< offset of the target law in Prompts::soft, or -1: `target` has mass 1
  Token target;
  double weight;
};

struct Prompts {
  int d = 0;
  int M = 0;
  std::vector<std::size_t> first_cell{0};  ///< prompt i has cells [first_cell[i], first_cell[i+1])
  std::vector<Cell> cells;                 ///< of a prompt: distinct, ascending by (window, next)
  std::vector<Question> questions;         ///< weights sum to 1
  std::vector<double> soft;                ///< target laws, d entries each

  std::size_t count() const { return first_cell.size() - 1; }
  std::span<const Cell> cells_of(std::size_t prompt) const {
    return {cells.data() + first_cell[prompt], first_cell[prompt + 1] - first_cell[prompt]};
  }
  std::span<const double> target_law(const Question& question) const {
    return {soft.data() + question.soft, static_cast<std::size_t>(d)};
  }
};

/// InputError unless d, L, parents and M fit each other: L > M >= r_n.
void check_prompts(const DataSpec& data, const PromptSpec& prompts);

/// Draws the sequences of a split and reduces each to cells and questions, without keeping tokens.
/// `done`, when given, hears now and then how many sequences are finished; when it returns false,
/// building stops and the result is empty. The same result for any number of threads.
Prompts build_prompts(const DataSpec& data, const PromptSpec& prompts, Split split, int threads,
                      const std::function<bool(std::size_t)>& done = {});

/// The same for the sequences of a share alone; weights are shares of the whole split. `done` hears
/// how many of these are finished.
Prompts build_prompts(const DataSpec& data, const PromptSpec& prompts, Split split, Share share,
                      int threads, const std::function<bool(std::size_t)>& done = {});

/// Puts those of later sequences of the same split behind. InputError beyond 2^32 - 1 prompts.
void append_prompts(Prompts& all, const Prompts& part);

/// Upper bound in bytes of what build_prompts returns for a split.
double prompts_bytes(const DataSpec& data, const PromptSpec& prompts, Split split);

}  // namespace gih
