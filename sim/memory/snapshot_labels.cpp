// What a snapshot keeps of a sequence.
#include <fmt/format.h>

#include <map>

#include "gih/memory/delta_information.hpp"

namespace gih {
namespace {

void append_counts(std::string& text, std::span<const Token> x, int d, bool only_whether) {
  std::vector<int> counts(static_cast<std::size_t>(d), 0);
  for (const Token token : x) ++counts[token];
  for (const int count : counts) text += fmt::format("{},", only_whether ? count > 0 : count);
}

}  // namespace

Label snapshot_label(const SequenceLaw& law, const SnapshotSpec& snapshot) {
  const int d = law.d();
  const auto block = static_cast<std::size_t>(snapshot.block);
  const std::vector<int> parents = law.parents();
  return [=, kind = snapshot.kind](std::span<const Token> x) {
    std::string text;
    if (kind == Snapshot::full) return tokens_label(1, static_cast<int>(x.size()))(x);
    if (kind == Snapshot::counts) append_counts(text, x, d, false);
    if (kind == Snapshot::table) {
      const auto r = static_cast<std::size_t>(parents.back());
      std::map<std::vector<Token>, int> counts;
      for (std::size_t l = r; l < x.size(); ++l) {
        std::vector<Token> transition{x[l]};
        for (const int lag : parents) transition.push_back(x[l - static_cast<std::size_t>(lag)]);
        ++counts[transition];
      }
      for (const auto& [transition, count] : counts) {
        text += fmt::format("{}:{};", fmt::join(transition, ","), count);
      }
    }
    for (std::size_t first = 0; first < x.size(); first += block) {
      const auto part = x.subspan(first, std::min(block, x.size() - first));
      if (kind == Snapshot::decimate) text += fmt::format("{},", part.back());
      if (kind == Snapshot::blocks || kind == Snapshot::largest) {
        append_counts(text, part, d, kind == Snapshot::largest);
      }
    }
    return text;
  };
}

}  // namespace gih
