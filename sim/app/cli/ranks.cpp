#include "ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "gih/base/error.hpp"

#ifdef GIH_WITH_MPI
#define OMPI_SKIP_MPICXX
#include <mpi.h>
#endif

namespace gih::cli {

#ifdef GIH_WITH_MPI
namespace {

constexpr int tag = 0;

/// MPI counts in int. Its own error handler ends all ranks on any failure.
template <class Byte, class Call>
void in_pieces(std::span<Byte> bytes, const Call& call) {
  constexpr std::size_t piece = std::size_t{1} << 30;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const std::size_t size = std::min(piece, bytes.size() - at);
    call(bytes.data() + at, static_cast<int>(size));
  }
}

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;
  ~MpiRanks() override { MPI_Finalize(); }

  int count() const override { return count_; }
  int rank() const override { return rank_; }
  void broadcast(std::span<std::byte> bytes) override {
    in_pieces(bytes, [](std::byte* data, int size) {
      MPI_Bcast(data, size, MPI_BYTE, 0, MPI_COMM_WORLD);
    });
  }
  void send(int to, std::span<const std::byte> bytes) override {
    in_pieces(bytes, [&](const std::byte* data, int size) {
      MPI_Send(data, size, MPI_BYTE, to, tag, MPI_COMM_WORLD);
    });
  }
  void receive(int from, std::span<std::byte> bytes) override {
    in_pieces(bytes, [&](std::byte* data, int size) {
      MPI_Recv(data, size, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  }

 private:
  int count_ = 1, rank_ = 0;
};

Ranks* opened = nullptr;

/// Whether a launcher of MPI started this process: Open MPI's, or srun with PMIx or PMI-2. Without
/// one, MPI is left alone, which saves each command its start.
bool is_launched() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMIX_RANK") || std::getenv("PMI_RANK");
}

}  // namespace

std::unique_ptr<Ranks> start_ranks() {
  if (!is_launched()) return nullptr;
  auto all = std::make_unique<MpiRanks>();
  if (all->count() == 1) {
    static const std::unique_ptr<Ranks> until_exit = std::move(all);
    return nullptr;
  }
  opened = all.get();
  return all;
}

void end_all_ranks(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int size = 0;
  MPI_Get_library_version(text, &size);
  const std::string all(text, static_cast<std::size_t>(size));
  return all.substr(0, all.find(','));
}

Ranks* ranks() {
  return opened;
}
#else
std::unique_ptr<Ranks> start_ranks() {
  const char* const count = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (count && std::string(count) != "1") {
    throw InputError(
        fmt::format("started {} times at once by mpirun, but built without MPI: build with "
                    "-DGIH_MPI=ON, or start it once",
                    count));
  }
  return nullptr;
}

void end_all_ranks(int) {}

std::string mpi_version() {
  return "none";
}

Ranks* ranks() {
  return nullptr;
}
#endif

}  // namespace gih::cli
