#include "key_values.hpp"

#include "gih/app/config.hpp"

namespace gih {

bool set_parents(std::string_view text, std::vector<int>& parents) {
  std::vector<int> lags;
  for (const std::string& piece : split(text, ',')) {
    int lag = 0;
    if (!whole(piece, 1, 31, lag) || (!lags.empty() && lag <= lags.back())) return false;
    lags.push_back(lag);
  }
  parents = lags;
  return true;
}

bool set_numbers(std::string_view text, std::vector<double>& numbers) {
  std::vector<double> found;
  for (const std::string& piece : split(text, ',')) {
    const auto value = to_number(piece);
    if (!value) return false;
    found.push_back(*value);
  }
  numbers = found;
  return true;
}

bool set_init_step(std::string_view text, Settings& settings) {
  if (text == "last") {
    settings.init_step.reset();
    return true;
  }
  const auto pieces = split(text, ':');
  int stage = 0;
  std::size_t step = 0;
  if (pieces.size() != 2 || !whole(pieces[0], 0, most_stages, stage) ||
      !whole(pieces[1], 0, std::uint64_t{1} << 53, step)) {
    return false;
  }
  settings.init_step = {stage, step};
  return true;
}

bool set_path(std::string_view text, std::string& path) {
  const auto breaks = [](unsigned char c) { return c == '#' || c < ' ' || c == 0x7f; };
  if (text.starts_with(' ') || text.ends_with(' ')) return false;
  if (std::any_of(text.begin(), text.end(), breaks)) return false;
  path = text;
  return true;
}

bool set_memory(std::string_view text, Settings& settings) {
  const std::size_t end = std::min(text.find_first_of(" %MG"), text.size());
  const auto after = split(text.substr(end), ' ');
  const std::string unit = after.back();
  double amount = 0.0;
  if (after.size() > 2 || (after.size() == 2 && !after[0].empty())) return false;
  if (!real(text.substr(0, end), 0.001, unlimited, amount)) return false;
  settings.memory_bytes = 0.0;
  if (unit == "%") return amount <= 100.0 && ((settings.memory_percent = amount), true);
  settings.memory_bytes = unit == "MB" ? amount * 1e6 : unit == "GB" ? amount * 1e9 : 0.0;
  return settings.memory_bytes > 0.0;
}

bool set_blocks(std::string_view text, Blocks& blocks) {
  Blocks found;
  for (const std::string& piece : split(text, '+')) {
    bool* const block = piece == "c"     ? &found.c
                        : piece == "w"   ? &found.w
                        : piece == "a"   ? &found.a
                        : piece == "qkv" ? &found.qkv
                                         : nullptr;
    if (block == nullptr || *block) return false;
    *block = true;
  }
  blocks = found;
  return true;
}

std::string blocks_text(Blocks blocks) {
  std::vector<const char*> names;
  if (blocks.c) names.push_back("c");
  if (blocks.w) names.push_back("w");
  if (blocks.a) names.push_back("a");
  if (blocks.qkv) names.push_back("qkv");
  return fmt::format("{}", fmt::join(names, "+"));
}

std::string numbers_text(const std::vector<double>& numbers) {
  std::vector<std::string> texts;
  for (const double number : numbers) texts.push_back(to_text(number));
  return fmt::format("{}", fmt::join(texts, ","));
}

}  // namespace gih
