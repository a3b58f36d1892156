#pragma once
// The questions of prompts as the reference engine takes them.

#include <memory>
#include <vector>

#include "gih/data/prompts.hpp"
#include "gih/model/reference_engine.hpp"

namespace gih::test {

/// Questions of the reference engine for the same sequences as build_prompts.
inline std::vector<ReferenceQuestion> literal_questions(const DataSpec& data,
                                                        const PromptSpec& spec) {
  std::vector<ReferenceQuestion> questions;
  const std::size_t L = *data.L;
  std::vector<Token> x(L + 1);
  for (std::size_t i = 0; i < data.train; ++i) {
    const bool given = data.table && data.table->kernels.empty();
    const Kernel kernel = given ? Kernel{} : sequence_kernel(data, Split::train, i);
    draw_sequence(data, kernel, Split::train, i, x);
    const bool sequential = spec.positions == Positions::sequential;
    for (std::size_t l = sequential ? static_cast<std::size_t>(spec.M) + 1 : L; l <= L; ++l) {
      ReferenceQuestion question;
      question.prompt.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(l));
      question.target.assign(static_cast<std::size_t>(data.d), 0.0);
      question.target[x[l]] = 1.0;
      if (spec.target == Target::conditional) {
        std::size_t code = 0;
        for (const int r : data.parents) {
          code = code * static_cast<std::size_t>(data.d) + x[l - static_cast<std::size_t>(r)];
        }
        const auto law = kernel.row(code);
        question.target.assign(law.begin(), law.end());
      }
      questions.push_back(std::move(question));
    }
  }
  for (ReferenceQuestion& question : questions) {
    question.weight = 1.0 / static_cast<double>(questions.size());
  }
  return questions;
}

/// Given sequences, each a prompt and its target, as training data.
inline DataSpec token_data(const std::vector<std::vector<Token>>& rows, int d) {
  auto table = std::make_shared<TokenTable>();
  table->d = d;
  table->rows = rows.size();
  table->columns = rows.front().size();
  for (const auto& row : rows) table->tokens.insert(table->tokens.end(), row.begin(), row.end());
  DataSpec data;
  data.d = d;
  data.parents = {1};
  data.L = table->columns - 1;
  data.train = table->rows;
  data.validation = 0;
  data.table = table;
  return data;
}

}  // namespace gih::test
