#include "gih/data/shared_prompts.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "gih/base/error.hpp"

namespace gih {
namespace {

enum class Outcome : std::int32_t { drawn, wrong_input, no_memory, failed };

/// How drawing went on a rank.
struct Report {
  Outcome outcome = Outcome::drawn;
  std::vector<char> what{};
};

[[noreturn]] void raise(const Report& report) {
  const std::string what(report.what.begin(), report.what.end());
  if (report.outcome == Outcome::no_memory) throw std::bad_alloc();
  if (report.outcome == Outcome::wrong_input) throw InputError(what);
  throw RunError(what);
}

Report report_of(const std::function<void()>& work) {
  const auto text = [](const std::exception& error) {
    const std::string what = error.what();
    return std::vector<char>(what.begin(), what.end());
  };
  try {
    work();
    return {};
  } catch (const InputError& error) {
    return {Outcome::wrong_input, text(error)};
  } catch (const std::bad_alloc&) {
    return {Outcome::no_memory};
  } catch (const std::exception& error) {
    return {Outcome::failed, text(error)};
  }
}

}  // namespace

void send_prompts(Ranks& ranks, const std::function<Prompts()>& draw) {
  Prompts own;
  const Report report = report_of([&] { own = draw(); });
  send_vector<Outcome>(ranks, 0, {report.outcome});
  send_vector(ranks, 0, report.what);
  std::int32_t wanted = 0;
  broadcast(ranks, wanted);
  if (wanted == 0) return;
  send_vector(ranks, 0, own.first_cell);
  send_vector(ranks, 0, own.cells);
  send_vector(ranks, 0, own.questions);
  send_vector(ranks, 0, own.soft);
}

Prompts collect_prompts(Ranks& ranks, const DataSpec& data, const PromptSpec& prompts, Split split,
                        int threads, const std::function<bool(std::size_t)>& done) {
  const std::size_t count = data.count(split);
  const auto share = [&](int rank) { return share_of(count, ranks.count(), rank); };
  Prompts all;
  std::vector<Report> reports(static_cast<std::size_t>(ranks.count()));
  reports[0] = report_of([&] {
    all = build_prompts(data, prompts, split, share(0), threads, [&](std::size_t own) {
      const std::size_t of_all = own * static_cast<std::size_t>(ranks.count());
      return !done || done(std::min(count, of_all));
    });
  });
  for (int from = 1; from < ranks.count(); ++from) {
    Report& report = reports[static_cast<std::size_t>(from)];
    report.outcome = receive_vector<Outcome>(ranks, from).at(0);
    report.what = receive_vector<char>(ranks, from);
  }
  const auto wrong = std::find_if(reports.begin(), reports.end(), [](const Report& report) {
    return report.outcome != Outcome::drawn;
  });
  std::int32_t wanted = wrong == reports.end() ? 1 : 0;
  broadcast(ranks, wanted);
  if (wrong != reports.end()) raise(*wrong);
  bool stopped = share(0).size() > 0 && all.count() == 0;
  Report joined;  // what the others send is received to its end, whatever happens here
  for (int from = 1; from < ranks.count(); ++from) {
    Prompts part;
    part.d = all.d;
    part.M = all.M;
    part.first_cell = receive_vector<std::size_t>(ranks, from);
    part.cells = receive_vector<Cell>(ranks, from);
    part.questions = receive_vector<Question>(ranks, from);
    part.soft = receive_vector<double>(ranks, from);
    stopped = stopped || (share(from).size() > 0 && part.count() == 0);
    if (stopped || joined.outcome != Outcome::drawn) continue;
    joined = report_of([&] { append_prompts(all, part); });
  }
  if (joined.outcome != Outcome::drawn) raise(joined);
  return stopped ? Prompts{} : all;
}

}  // namespace gih
