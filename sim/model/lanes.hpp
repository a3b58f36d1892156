#pragma once
// Eight doubles as one number. A fixed width, whatever the machine has: the order of additions, and
// so every bit of a result, is the same everywhere. They are built of vectors as wide as the
// processor's own, because gcc takes wider ones apart through memory.

#include <cstddef>
#include <cstdint>

namespace gih {

#if defined(__AVX512F__)
constexpr std::size_t native_lanes = 8;
#elif defined(__AVX__)
constexpr std::size_t native_lanes = 4;
#else
constexpr std::size_t native_lanes = 2;
#endif

template <std::size_t n>
struct Pack {
  using Half = Pack<n / 2>;
  Half low, high;

  static Pack all(double x) { return {Half::all(x), Half::all(x)}; }
  static Pack widened(const std::uint16_t* x) {
    return {Half::widened(x), Half::widened(x + n / 2)};
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
