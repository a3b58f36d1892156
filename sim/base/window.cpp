#include "gih/base/window.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "gih/base/error.hpp"

namespace gih {

WindowCodes::WindowCodes(int d, int M) : d_(d), M_(M) {
  if (d < 2 || d > 65536) throw InputError(fmt::format("vocabulary d = {}: must be 2 to 65536", d));
  if (M < 1) throw InputError(fmt::format("window M = {}: must be 1 or more", M));
  const auto base = static_cast<WindowCode>(d);
  power_.assign(1, 1);
  first_.assign(1, 0);
  for (int m = 1; m <= M; ++m) {
    if (power_.back() > (WindowCode{1} << 62) / base) {
      throw InputError(
          fmt::format("vocabulary d = {} with window M = {}: d^M must be at most 2^62", d, M));
    }
    first_.push_back(first_.back() + power_.back());
    power_.push_back(power_.back() * base);
  }
}

WindowCode WindowCodes::at(std::span<const Token> x, std::size_t l) const {
  const int m = static_cast<int>(std::min(l, static_cast<std::size_t>(M_)));
  WindowCode digits = 0;
  for (int i = m; i >= 1; --i) {
    digits = digits * static_cast<WindowCode>(d_) + x[l - static_cast<std::size_t>(i)];
  }
  return first(m) + digits;
}

WindowCode WindowCodes::encode(std::span<const Token> lags) const {
  WindowCode digits = 0;
  for (std::size_t i = lags.size(); i-- > 0;) {
    digits = digits * static_cast<WindowCode>(d_) + lags[i];
  }
  return first(static_cast<int>(lags.size())) + digits;
}

std::vector<Token> WindowCodes::decode(WindowCode code) const {
  const int m = length(code);
  std::vector<Token> lags(static_cast<std::size_t>(m));
  WindowCode digits = code - first(m);
  for (Token& lag : lags) {
    lag = static_cast<Token>(digits % static_cast<WindowCode>(d_));
    digits /= static_cast<WindowCode>(d_);
  }
  return lags;
}

}  // namespace gih
