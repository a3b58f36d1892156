#include "gih/memory/slots.hpp"

namespace gih {

void Slots::push(const double* key, const double* value, const SlotInfo& info) {
  K_.insert(K_.end(), key, key + d_e_);
  V_.insert(V_.end(), value, value + d_);
  info_.push_back(info);
}

void Slots::drop_front(std::size_t count) {
  begin_ += count;
  if (2 * begin_ < info_.size()) return;
  K_.erase(K_.begin(), K_.begin() + static_cast<std::ptrdiff_t>(begin_ * width(d_e_)));
  V_.erase(V_.begin(), V_.begin() + static_cast<std::ptrdiff_t>(begin_ * width(d_)));
  info_.erase(info_.begin(), info_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
}

void Slots::move_front(std::size_t count, Slots& to) {
  for (std::size_t i = 0; i < count; ++i) to.push(key(i), value(i), info(i));
  drop_front(count);
}

double Slots::items() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < size(); ++i) sum += info(i).null ? 0.0 : info(i).n;
  return sum;
}

}  // namespace gih
