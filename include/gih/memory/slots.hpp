#pragma once
// Slots of a memory: a first-in first-out store of (key, value) pairs with what is known of each.

#include <cstddef>
#include <limits>
#include <vector>

#include <Eigen/Dense>

namespace gih {

/// A capacity without limit.
constexpr std::size_t unlimited_slots = std::numeric_limits<std::size_t>::max();

struct SlotInfo {
  double n = 1.0;              ///< items that it stands for
  double gain = 1.0;           ///< g, multiplies its score; c where keys were summed
  double bias = 0.0;           ///< b_e, added to its logit
  std::size_t lo = 0, hi = 0;  ///< first and last position that it stands for; 0: a null slot
  double cen = 0.0;            ///< mean position
  double use = 0.0;            ///< attention received so far
  double queries = 0.0;        ///< queries that it was shown to
  bool null = false;           ///< of a start with zeros: key and value 0
  std::size_t id = 0;          ///< number of the slot in its stream's tape

  double usage() const { return queries > 0.0 ? use / queries : 0.0; }
};

class Slots {
 public:
  /// Keys of d_e entries, values of d.
  Slots(Eigen::Index d_e, Eigen::Index d) : d_e_(d_e), d_(d) {}

  std::size_t size() const { return info_.size() - begin_; }
  bool empty() const { return size() == 0; }
  Eigen::Index d_e() const { return d_e_; }
  Eigen::Index d() const { return d_; }

  /// Slot i, oldest first, i < size().
  double* key(std::size_t i) { return K_.data() + (begin_ + i) * width(d_e_); }
  const double* key(std::size_t i) const { return K_.data() + (begin_ + i) * width(d_e_); }
  double* value(std::size_t i) { return V_.data() + (begin_ + i) * width(d_); }
  const double* value(std::size_t i) const { return V_.data() + (begin_ + i) * width(d_); }
  SlotInfo& info(std::size_t i) { return info_[begin_ + i]; }
  const SlotInfo& info(std::size_t i) const { return info_[begin_ + i]; }

  /// Appends a slot; the pointers may not be into these slots.
  void push(const double* key, const double* value, const SlotInfo& info);
  /// Forgets the `count` oldest, count <= size().
  void drop_front(std::size_t count);
  /// The `count` oldest go to the end of `to`.
  void move_front(std::size_t count, Slots& to);
  void clear() { drop_front(size()); }
  /// Items that the slots stand for, null slots left out.
  double items() const;

 private:
  static std::size_t width(Eigen::Index n) { return static_cast<std::size_t>(n); }

  Eigen::Index d_e_, d_;
  std::size_t begin_ = 0;  // slots before it are gone; memory moves once half of it is
  std::vector<double> K_, V_;
  std::vector<SlotInfo> info_;
};

}  // namespace gih
