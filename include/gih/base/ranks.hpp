#pragma once
// Processes that share one computation. Rank 0 runs the program and gives orders; the others do what
// it orders and nothing else, so that only one process decides and writes. How bytes travel is
// not known here: by MPI in the program, by queues in tests.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace gih {

class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int count() const = 0;
  virtual int rank() const = 0;
  /// The bytes of rank 0 to all others, who call it with as many.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  /// To one rank, which receives as many. May wait until it does.
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  virtual void receive(int from, std::span<std::byte> bytes) = 0;
};

/// What rank 0 asks of all others.
struct Order {
  enum Kind : std::int32_t {
    end,   ///< be released; `number` is the exit status
    draw,  ///< draw a share of a split, which is `number`; the configuration follows
    take,  ///< take some chunks of a new table engine, which is `number`
    pass,  ///< go through those of engine `number`; `flags` says for what
  };
  Kind kind;
  std::int32_t number;
  std::uint32_t flags = 0;
};

/// [first, last) of a sequence of items.
struct Share {
  std::size_t first, last;
  std::size_t size() const { return last - first; }
};

/// Rank r of n has the r-th of n runs of about equal length, in order; some are empty when there
/// are fewer items than ranks.
Share share_of(std::size_t items, int count, int rank);

/// Rank 0 says it, the others hear it.
void broadcast_text(Ranks& ranks, std::string& text);

template <class T>
void broadcast(Ranks& ranks, std::span<T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  ranks.broadcast(std::as_writable_bytes(values));
}

template <class T>
void broadcast(Ranks& ranks, T& value) {
  broadcast(ranks, std::span<T>(&value, 1));
}

template <class T>
void send_vector(Ranks& ranks, int to, const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::uint64_t size = values.size();
  ranks.send(to, std::as_bytes(std::span(&size, 1)));
  ranks.send(to, std::as_bytes(std::span(values)));
}

template <class T>
std::vector<T> receive_vector(Ranks& ranks, int from) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::uint64_t size = 0;
  ranks.receive(from, std::as_writable_bytes(std::span(&size, 1)));
  std::vector<T> values(size);
  ranks.receive(from, std::as_writable_bytes(std::span(values)));
  return values;
}

}  // namespace gih
