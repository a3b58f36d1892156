#include "gih/base/ranks.hpp"

namespace gih {

Share share_of(std::size_t items, int count, int rank) {
  const auto n = static_cast<std::size_t>(count), r = static_cast<std::size_t>(rank);
  const std::size_t each = items / n, more = items % n;  // the first `more` ranks have one more
  const std::size_t first = r * each + (r < more ? r : more);
  return {first, first + each + (r < more ? 1 : 0)};
}

void broadcast_text(Ranks& ranks, std::string& text) {
  std::uint64_t size = text.size();
  broadcast(ranks, size);
  text.resize(size);
  broadcast(ranks, std::span<char>(text));
}

}  // namespace gih
