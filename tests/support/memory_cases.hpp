#pragma once
// Sequences, readers and runs that the tests of the memory floor share.

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "gih/base/random.hpp"
#include "gih/memory/stream.hpp"

namespace gih::test {

inline std::vector<Token> tokens(std::string_view digits) {
  std::vector<Token> x;
  for (const char digit : digits) x.push_back(static_cast<Token>(digit - '0'));
  return x;
}

inline std::vector<Token> random_tokens(int d, std::size_t L, std::uint64_t index) {
  Stream stream(11, Purpose::claims, index);
  std::vector<Token> x(L);
  for (Token& token : x) token = static_cast<Token>(stream.uniform() * d);
  return x;
}

inline Matrix random_matrix(Eigen::Index rows, Eigen::Index columns, Stream& stream) {
  return Matrix::NullaryExpr(rows, columns, [&] { return stream.normal(); });
}

/// A trained-looking reader: soft heads, degree 2.
inline Reader soft_reader(int d, int M, bool mask = true) {
  ModelSpec model;
  model.d = d;
  model.M = model.H = M;
  model.D = std::min(2, M);
  model.mask = mask;
  Parameters theta = zero_parameters(model);
  Stream stream(12, Purpose::claims, static_cast<std::uint64_t>(M));
  for (Eigen::Index i = 0; i < theta.w.size(); ++i) theta.w.data()[i] = stream.normal();
  for (Eigen::Index i = 0; i < theta.c.size(); ++i) theta.c[i] = 0.5 + stream.uniform();
  theta.a = 3.0;
  return Reader::trained(model, theta);
}

/// What the query is told at the end of the items.
inline Reading answer(const StreamSpec& spec, const Items& items, const ReadOptions& options,
                      const Eigen::VectorXd& weights = {}) {
  StreamingMemory stream(spec, weights, items.d_e(), items.d);
  const bool track = compressor_row(spec.compressor.kind).uses_usage;
  run_stream(stream, items, options, track);
  const std::size_t t = items.length() + 1;
  return std::as_const(stream).read(items.u.row(static_cast<Eigen::Index>(t) - 1).data(), t,
                                    options);
}

}  // namespace gih::test
