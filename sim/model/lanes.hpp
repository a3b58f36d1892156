#pragma once
// Eight doubles as one number. A fixed width, whatever the machine has: the order of additions, and
// so every bit of a result, is the same everywhere. They are built of vectors as wide as the
// processor's own, because gcc takes wider ones apart through memory.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

namespace gih {

#if defined(__AVX512F__)
constexpr std::size_t native_lanes = 8;
#elif defined(__AVX__)
constexpr std::size_t native_lanes = 4;
#else
constexpr std::size_t native_lanes = 2;
#endif

/// log 2, and in two parts, the first short enough that times a whole number below 2^20 it is
/// exact.
constexpr double log_2 = 0.69314718055994530942;
constexpr double log_2_high = 0x1.62e42fefap-1, log_2_low = 0x1.cf79abc9e3b3ap-40;
/// Added to a number it leaves the nearest whole number k in the low bits, as 1.5 * 2^52 + k.
constexpr double integer_shift = 0x1.8p52;

template <std::size_t n>
struct Pack {
  using Half = Pack<n / 2>;
  Half low, high;

  static Pack all(double x) { return {Half::all(x), Half::all(x)}; }
  static Pack widened(const std::uint16_t* x) {
    return {Half::widened(x), Half::widened(x + n / 2)};
  }
  static Pack log(const Pack& x) { return {Half::log(x.low), Half::log(x.high)}; }
  static Pack exp(const Pack& x) { return {Half::exp(x.low), Half::exp(x.high)}; }
  /// x where w > 0, else 0.
  static Pack where_positive(const Pack& w, const Pack& x) {
    return {Half::where_positive(w.low, x.low), Half::where_positive(w.high, x.high)};
  }
  double operator[](std::size_t i) const { return i < n / 2 ? low[i] : high[i - n / 2]; }
  void set(std::size_t i, double x) { i < n / 2 ? low.set(i, x) : high.set(i - n / 2, x); }

  friend Pack operator+(const Pack& a, const Pack& b) { return {a.low + b.low, a.high + b.high}; }
  friend Pack operator-(const Pack& a, const Pack& b) { return {a.low - b.low, a.high - b.high}; }
  friend Pack operator*(const Pack& a, const Pack& b) { return {a.low * b.low, a.high * b.high}; }
  friend Pack operator/(const Pack& a, const Pack& b) { return {a.low / b.low, a.high / b.high}; }
};

template <>
struct Pack<native_lanes> {
  using Native = double __attribute__((vector_size(native_lanes * sizeof(double))));
  Native v;

  static Pack all(double x) { return {x - Native{}}; }
  static Pack widened(const std::uint16_t* x) {
    // Loops, because gcc takes __builtin_convertvector of a whole vector apart into halves.
    using Int = std::int32_t __attribute__((vector_size(native_lanes * sizeof(std::int32_t))));
    Int whole{};
    for (std::size_t i = 0; i < native_lanes; ++i) whole[i] = x[i];
    Pack result;
    for (std::size_t i = 0; i < native_lanes; ++i) result.v[i] = whole[i];
    return result;
  }
  static Pack where_positive(const Pack& w, const Pack& x) { return {w.v > 0.0 ? x.v : Native{}}; }
  /// Within two units in the last place. x = 2^k m with m from sqrt(1/2) to sqrt(2), and log m is
  /// 2 artanh(r) of r = (m - 1) / (m + 1), |r| < 0.172, by its series.
  static Pack log(const Pack& x) {
    using Bits = std::int64_t __attribute__((vector_size(native_lanes * sizeof(std::int64_t))));
    Pack result;
    for (std::size_t i = 0; i < native_lanes; ++i) {
      if (x.v[i] >= std::numeric_limits<double>::min() &&
          x.v[i] <= std::numeric_limits<double>::max())
        continue;
      for (std::size_t j = 0; j < native_lanes; ++j) result.v[j] = std::log(x.v[j]);
      return result;
    }
    const auto bits = __builtin_bit_cast(Bits, x.v);
    constexpr auto root_half = __builtin_bit_cast(std::int64_t, 0.70710678118654752440);
    const Bits k = (bits - root_half) >> 52;
    const auto m = __builtin_bit_cast(Native, bits - (k << 52));
    // No processor before AVX-512 converts these integers, but 1.5 * 2^52 + k has them in its bits.
    const Bits of_k = k + __builtin_bit_cast(std::int64_t, integer_shift);
    const Native exponent = __builtin_bit_cast(Native, of_k) - integer_shift;
    const Native r = (m - 1.0) / (m + 1.0);
    const Native z = r * r;
    Native series = z / 23.0;
    for (int odd = 21; odd > 1; odd -= 2) series = (series + 1.0 / odd) * z;
    result.v = exponent * log_2_high + (2.0 * r + (2.0 * r * series + exponent * log_2_low));
    return result;
  }
  /// Within two units in the last place. x = k log 2 + r with |r| <= log(2) / 2, and exp r is its
  /// series.
  static Pack exp(const Pack& x) {
    using Bits = std::int64_t __attribute__((vector_size(native_lanes * sizeof(std::int64_t))));
    constexpr double safe = 700.0;  // beyond, 2^k may be no normal number
    Pack result;
    for (std::size_t i = 0; i < native_lanes; ++i) {
      if (std::abs(x.v[i]) <= safe) continue;
      for (std::size_t j = 0; j < native_lanes; ++j) result.v[j] = std::exp(x.v[j]);
      return result;
    }
    const Native shifted = x.v * (1.0 / log_2) + integer_shift;
    const Native k = shifted - integer_shift;
    const Native r = (x.v - k * log_2_high) - k * log_2_low;
    Native series = r / 13.0 + 1.0;
    for (int n = 12; n > 0; --n) series = series * r / n + 1.0;
    const Bits exponent = __builtin_bit_cast(Bits, shifted) << 52;
    result.v = __builtin_bit_cast(Native, __builtin_bit_cast(Bits, series) + exponent);
    return result;
  }
  double operator[](std::size_t i) const { return v[i]; }
  void set(std::size_t i, double x) { v[i] = x; }

  friend Pack operator+(const Pack& a, const Pack& b) { return {a.v + b.v}; }
  friend Pack operator-(const Pack& a, const Pack& b) { return {a.v - b.v}; }
  friend Pack operator*(const Pack& a, const Pack& b) { return {a.v * b.v}; }
  friend Pack operator/(const Pack& a, const Pack& b) { return {a.v / b.v}; }
};

constexpr std::size_t lanes = 8;
using Lanes = Pack<lanes>;

inline Lanes operator*(double x, const Lanes& a) {
  return Lanes::all(x) * a;
}
inline Lanes& operator+=(Lanes& a, const Lanes& b) {
  return a = a + b;
}
inline Lanes& operator-=(Lanes& a, const Lanes& b) {
  return a = a - b;
}

inline Lanes log(const Lanes& x) {
  return Lanes::log(x);
}
inline Lanes exp(const Lanes& x) {
  return Lanes::exp(x);
}
inline double sum_lanes(const Lanes& v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

inline Lanes load(const double* from) {
  Lanes x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
inline void store(const Lanes& x, double* to) {
  std::memcpy(to, &x, sizeof x);
}

/// sum_i x_i y_i of arrays of the same length.
inline double dot(std::span<const double> x, std::span<const double> y) {
  Lanes sum{};
  std::size_t i = 0;
  for (; i + lanes <= x.size(); i += lanes) sum += load(&x[i]) * load(&y[i]);
  double rest = 0.0;
  for (; i < x.size(); ++i) rest += x[i] * y[i];
  return sum_lanes(sum) + rest;
}

/// Each x becomes exp(x).
inline void exp_each(std::span<double> x) {
  std::size_t i = 0;
  for (; i + lanes <= x.size(); i += lanes) store(exp(load(&x[i])), &x[i]);
  Lanes rest{};
  for (std::size_t j = i; j < x.size(); ++j) rest.set(j - i, x[j]);
  rest = exp(rest);
  for (std::size_t j = i; j < x.size(); ++j) x[j] = rest[j - i];
}

/// Counts of positions below 65,536 are kept as such: they stream four times as fast, and widen to
/// the same doubles.
struct ShortLanes {
  std::uint16_t n[lanes];
  std::uint16_t operator[](std::size_t i) const { return n[i]; }
};

inline const Lanes& widened(const Lanes& n) {
  return n;
}
inline Lanes widened(const ShortLanes& n) {
  return Lanes::widened(n.n);
}

}  // namespace gih
