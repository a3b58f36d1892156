#pragma once
// Window codes. The window of position l is (x_{l-1}, ..., x_{l-M}), shorter at the start of a
// prompt: position l has min(l-1, M) lags. Windows of length m are numbered after all shorter
// ones; within a length the digit of lag i has place value d^{i-1}, so the most recent token is
// the least significant digit.

#include <cstdint>
#include <span>
#include <vector>

namespace gih {

using Token = std::uint16_t;
using WindowCode = std::uint64_t;

class WindowCodes {
 public:
  /// d >= 2 tokens, M >= 1 lags; InputError when the codes of all windows would not fit 63 bits.
  WindowCodes(int d, int M);

  int d() const { return d_; }
  int M() const { return M_; }

  /// Number of windows of length m, d^m, and the first code of that length.
  WindowCode count(int m) const { return power_[static_cast<std::size_t>(m)]; }
  WindowCode first(int m) const { return first_[static_cast<std::size_t>(m)]; }

  /// Code of the window that precedes position l (0-based) of x: lags 1 .. min(l, M).
  WindowCode at(std::span<const Token> x, std::size_t l) const;

  /// Code of the window given by its lags, nearest first; at most M of them.
  WindowCode encode(std::span<const Token> lags) const;

  /// Lags of a code, nearest first.
  std::vector<Token> decode(WindowCode code) const;

  /// The window of the next position: `token` becomes lag 1, the oldest lag drops out once the
  /// window is full.
  WindowCode advance(WindowCode code, Token token) const {
    int m = length(code);
    WindowCode digits = (code - first(m)) * static_cast<WindowCode>(d_) + token;
    if (m < M_) {
      ++m;
    } else {
      digits %= count(M_);
    }
    return first(m) + digits;
  }

  int length(WindowCode code) const {
    int m = M_;
    while (code < first(m)) --m;
    return m;
  }

 private:
  int d_;
  int M_;
  std::vector<WindowCode> power_;
  std::vector<WindowCode> first_;
};

}  // namespace gih
