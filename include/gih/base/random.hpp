#pragma once
// Counter-based random streams: a stream is a function of (seed, purpose, index) and of nothing
// else, so a longer sequence extends a shorter one, more sequences are appended to fewer, and
// validation data never moves training data. Philox 4x64-10 of the Random123 library.

#include <array>
#include <cstdint>
#include <span>

namespace gih {

/// What a stream is used for. A number, once given, keeps its meaning for ever: changing one
/// changes every published result.
enum class Purpose : std::uint64_t {
  train_kernel = 1,
  train_tokens = 2,
  validation_kernel = 3,
  validation_tokens = 4,
  claims = 5,
  memory_weights = 6,
  memory_training = 7,
  memory_sampling = 8,
  memory_switching = 9,
  snapshot_segments = 10,
  snapshot_training = 11,
};

class Stream {
 public:
  Stream(std::uint64_t seed, Purpose purpose, std::uint64_t index);

  /// 64 independent random bits.
  std::uint64_t bits() {
    if (next_ == buffer_.size()) refill();
    return buffer_[next_++];
  }

  /// Uniform on [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  /// Uniform on (0, 1), never an end point: safe in a logarithm.
  double open_uniform() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }

  /// Standard normal (Box-Muller, one of the pair, so that a draw always takes two uniforms).
  double normal();

  /// log of a Gamma(shape, 1) variable, shape > 0. Finite for every shape: a Gamma(1e-3) variable
  /// itself is often below the smallest double, its logarithm is not.
  double log_gamma(double shape);

  /// log p of a p that is Dirichlet(alpha, ..., alpha), into a span that is not empty; alpha > 0.
  /// Finite for every alpha, where p itself is often below the smallest double.
  void log_dirichlet(double alpha, std::span<double> log_p);

  /// exp of log_dirichlet: entries may underflow to exactly 0, the sum is 1 within a few roundings,
  /// none is ever NaN.
  void dirichlet(double alpha, std::span<double> p);

 private:
  void refill();

  std::array<std::uint64_t, 2> key_;
  std::array<std::uint64_t, 4> counter_;
  std::array<std::uint64_t, 4> buffer_{};
  std::size_t next_ = 4;
};

}  // namespace gih
