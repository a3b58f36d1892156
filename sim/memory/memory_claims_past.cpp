// What the past, or a snapshot of it, tells of a token.

#include <algorithm>
#include <cmath>

#include "gih/memory/delta_information.hpp"
#include "gih/memory/lag_information.hpp"
#include "gih/memory/memory_information.hpp"
#include "memory_claims_groups.hpp"

namespace gih {
namespace {

constexpr const char* snaptra = "SnapTra";
constexpr std::size_t most = std::size_t{1} << 16;

/// I(x_1; x_{r+2} | the `known` tokens before x_{r+2}).
void check_screen(const SequenceLaw& law, int known, Tally& tally) {
  const int n = law.r() + 2;
  const SequenceTable table = sequence_table(law, n, most);
  tally.equal(conditional_information(table, tokens_label(1, 1), tokens_label(n, n),
                                      tokens_label(n - known, n - 1)),
              0.0);
}

void check_delta_known(const SequenceLaw& law, Tally& tally) {
  const int r = law.r(), n = r + 3;
  for (const Snapshot kind : {Snapshot::full, Snapshot::counts, Snapshot::decimate}) {
    const auto delta = delta_information(law, {kind, 2}, n, r + 1).delta;
    for (int k = r; k <= r + 1; ++k) tally.equal(delta[static_cast<std::size_t>(k)], 0.0);
  }
}

void check_falls(const SequenceLaw& law, Snapshot kind, Tally& tally) {
  const int n = std::max(6, law.r() + 3);
  const auto delta = delta_information(law, {kind, 2}, n, n - 1).delta;
  for (std::size_t k = 1; k < delta.size(); ++k) tally.at_most(delta[k], delta[k - 1]);
}

void check_split(const World& world, double weight, Tally& tally) {
  const SequenceLaw law = SequenceLaw::kernels(world.kernels);
  const Reader reader = Reader::limit(world.d(), world.M(), world.parents());
  StreamSpec stream;
  stream.segment = stream.n_mem = stream.compressor.rate = 2;
  const int n = world.d() == 2 ? 9 : 6;
  const LossSplit split = split_loss(law, reader, stream, {.a = 2.0}, n, 1e-3);
  tally.equal(split.total, weight * split.information + split.reading);
  tally.at_most(0.0, split.information);
  tally.at_most(0.0, split.reading);
}

/// pi = lambda 1 + (1 - lambda) 1 mu^T with mu uniform.
void check_lag_law(int d, double power, Tally& tally) {
  constexpr double lambda = 0.6;
  Kernel kernel{d, {1}, {}};
  for (int i = 0; i < d; ++i) {
    for (int k = 0; k < d; ++k) kernel.pi.push_back((1.0 - lambda) / d + (i == k ? lambda : 0.0));
  }
  const auto found = lag_information({kernel}, 8).chi_square;
  for (std::size_t lag = 1; lag <= found.size(); ++lag) {
    tally.equal(found[lag - 1], (d - 1) * std::pow(lambda, power * static_cast<double>(lag)));
  }
}

/// The joint law of two tokens is convex in the kernel, so far apart they tell of it.
void check_plateau(const World& world, Tally& tally) {
  const LagInformation found = lag_information(world.kernels, 5000);
  tally.equal(found.mutual.back(), found.plateau);
  tally.equal(found.mutual[found.mutual.size() - 2], found.plateau);
}

void check_lag_falls(const SequenceLaw& law, Tally& tally) {
  const auto found = lag_information(law.mixed(), 6).mutual;
  for (std::size_t lag = 1; lag < found.size(); ++lag) tally.at_most(found[lag], found[lag - 1]);
}

Conditions three_segments(const SequenceLaw& law) {
  return conditions(law, law.d() == 2 ? 3 : 2);
}

/// Smallest segments of which three are summed over and which hold r tokens.
bool fits(const SequenceLaw& law) {
  return law.r() <= (law.d() == 2 ? 3 : 2);
}

void check_coherence(const SequenceLaw& law, bool as_printed, Tally& tally) {
  if (!fits(law)) return tally.skip("segments shorter than the largest lag");
  const Conditions found = three_segments(law);
  tally.equal(as_printed ? found.coherence_printed : found.coherence_boundary, 0.0);
}

/// The table of transitions against the whole past, beside k >= r tokens; and how open it leaves
/// it.
void check_table(const World& world, bool as_printed, Tally& tally) {
  if (world.d() > 2) return tally.skip("two tokens alone");
  const std::vector<int>& parents = world.kernels.front().parents;
  const SequenceLaw law = SequenceLaw::dirichlet(2, parents, 0.5);
  const int n = 9, r = law.r();
  const auto full = delta_information(law, {Snapshot::full}, n, r + 1).delta;
  const auto table = delta_information(law, {Snapshot::table}, n, r + 1).delta;
  if (!as_printed) {
    for (int k = r; k <= r + 1; ++k) {
      tally.equal(table[static_cast<std::size_t>(k)], full[static_cast<std::size_t>(k)]);
    }
    return;
  }
  // Nothing is lost, so by the condition the snapshot would determine the segment.
  const SequenceTable all = sequence_table(law, n, most);
  tally.equal(conditional_entropy(all, tokens_label(1, n), snapshot_label(law, {Snapshot::table})),
              0.0);
}

template <class Check>
void each_known(const World& world, Tally& tally, const Check& check) {
  for (const SequenceLaw& law : known_laws(world)) check(law, tally);
}

}  // namespace

std::vector<Claim> past_claims() {
  return {
      {"past screen", "of a known kernel r tokens between two others make them independent",
       snaptra, Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_known(world, tally,
                    [](const SequenceLaw& law, Tally& to) { check_screen(law, law.r(), to); });
       },
       [](Tally& tally) { check_screen(rising_law(), 1, tally); }, "one token of two"},
      {"past screen.printed", "one token of an overlap makes the tokens beside it independent",
       snaptra, Mode::exact, false,
       [](const World& world, Tally& tally) {
         each_known(world, tally,
                    [](const SequenceLaw& law, Tally& to) { check_screen(law, 1, to); });
       },
       [](Tally& tally) { check_screen(parity_law(), 1, tally); }, "the claim itself"},
      {"past known", "beside the last r tokens no snapshot tells anything of a known kernel's next",
       "ours", Mode::exact, true,
       [](const World& world, Tally& tally) { each_known(world, tally, check_delta_known); },
       [](Tally& tally) { check_delta_known(SequenceLaw::kernels(small_world().kernels), tally); },
       "a mixture of two kernels"},
      {"past local", "the more recent tokens are known, the less the whole past adds", snaptra,
       Mode::exact, true,
       [](const World& world, Tally& tally) {
         check_falls(SequenceLaw::kernels(world.kernels), Snapshot::full, tally);
       },
       [](Tally& tally) { check_falls(parity_law(), Snapshot::counts, tally); },
       "token counts for the past"},
      {"past local.printed", "the more recent tokens are known, the less any snapshot adds",
       snaptra, Mode::exact, false,
       [](const World& world, Tally& tally) {
         each_known(world, tally, [](const SequenceLaw& law, Tally& to) {
           check_falls(law, Snapshot::counts, to);
         });
         check_falls(parity_law(), Snapshot::counts, tally);
       },
       [](Tally& tally) { check_falls(parity_law(), Snapshot::counts, tally); },
       "the claim itself"},
      {"past split",
       "E KL(Bayes || y) is the information that the memory has lost plus E KL of Bayes given the "
       "memory from y, both at least 0",
       "ours", Mode::exact, true,
       [](const World& world, Tally& tally) { check_split(world, 1.0, tally); },
       [](Tally& tally) { check_split(small_world(), 2.0, tally); }, "the lost part twice"},
      {"past lag",
       "of pi = lambda 1 + (1 - lambda) 1 mu^T two tokens have chi-square information (d-1) "
       "lambda^{2 lag}",
       "ours", Mode::exact, true,
       [](const World& world, Tally& tally) { check_lag_law(world.d(), 2.0, tally); },
       [](Tally& tally) { check_lag_law(2, 1.0, tally); }, "the power lag"},
      {"past plateau",
       "under a mixture of kernels the information of two tokens tends to that of two independent "
       "draws from the kernel's long-run law",
       "ours", Mode::exact, true,
       [](const World& world, Tally& tally) { check_plateau(world, tally); },
       [](Tally& tally) {
         tally.equal(lag_information(small_world().kernels, 400).mutual.back(), 0.0);
       },
       "no plateau"},
      {"past falls", "of pi = lambda 1 + (1 - lambda) 1 mu^T it falls with the lag", snaptra,
       Mode::exact, true,
       [](const World& world, Tally& tally) {
         Kernel kernel{world.d(), {1}, {}};
         for (int i = 0; i < world.d(); ++i) {
           for (int k = 0; k < world.d(); ++k)
             kernel.pi.push_back(0.4 / world.d() + (i == k ? 0.6 : 0.0));
         }
         check_lag_falls(SequenceLaw::kernels({kernel}), tally);
       },
       [](Tally& tally) { check_lag_falls(rising_law(), tally); }, "a chain of order 2"},
      {"past falls.printed", "the information of two tokens falls with their lag (condition 5)",
       snaptra, Mode::exact, false,
       [](const World& world, Tally& tally) {
         each_known(world, tally, check_lag_falls);
         check_lag_falls(rising_law(), tally);
       },
       [](Tally& tally) { check_lag_falls(rising_law(), tally); }, "the claim itself"},
      {"past coherence",
       "given the last r tokens of a segment, its tokens and those of the next are independent",
       snaptra, Mode::exact, true,
       [](const World& world, Tally& tally) {
         each_known(world, tally,
                    [](const SequenceLaw& law, Tally& to) { check_coherence(law, false, to); });
       },
       [](Tally& tally) {
         check_coherence(SequenceLaw::kernels(small_world().kernels), false, tally);
       },
       "a mixture of two kernels"},
      {"past coherence.printed",
       "tokens of one segment are independent given a token of another (condition 1)", snaptra,
       Mode::exact, false,
       [](const World& world, Tally& tally) {
         each_known(world, tally,
                    [](const SequenceLaw& law, Tally& to) { check_coherence(law, true, to); });
       },
       [](Tally& tally) { check_coherence(rising_law(), true, tally); }, "the claim itself"},
      {"past table",
       "beside r tokens the transition table tells as much of the next token as the whole past",
       "ours", Mode::exact, true,
       [](const World& world, Tally& tally) { check_table(world, false, tally); },
       [](Tally& tally) {
         const SequenceLaw law = SequenceLaw::dirichlet(2, {1}, 0.5);
         tally.equal(delta_information(law, {Snapshot::counts}, 9, 2).delta[2],
                     delta_information(law, {Snapshot::full}, 9, 2).delta[2]);
       },
       "token counts"},
      {"past table.printed",
       "a snapshot that loses nothing of the next token determines its segment (condition 2)",
       snaptra, Mode::exact, false,
       [](const World& world, Tally& tally) { check_table(world, true, tally); },
       [](Tally& tally) { check_table(small_world(), true, tally); }, "the claim itself"},
  };
}

}  // namespace gih
