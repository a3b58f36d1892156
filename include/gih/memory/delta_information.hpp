#pragma once
// What a snapshot s of x_1 .. x_n still tells of x_{n+1} beside the last k tokens:
//   Delta I(k) = I(x_{n+1}; s | x_{n-k+1} .. x_n).
// Three exact methods; the cheapest that applies is chosen.

#include <string>
#include <vector>

#include "gih/memory/sequence_law.hpp"

namespace gih {

enum class Snapshot {
  full,      ///< x_1 .. x_n themselves
  counts,    ///< how often each token occurs
  blocks,    ///< the same in each block of `block` tokens (their mean)
  largest,   ///< which tokens occur in each block (max pooling)
  decimate,  ///< the last token of each block
  table,     ///< how often each transition occurs
};

struct SnapshotSpec {
  Snapshot kind = Snapshot::counts;
  int block = 4;  ///< 1 or more
};

enum class DeltaMethod {
  automatic,
  enumeration,  ///< E: every sequence
  counts,       ///< C: last tokens and counts; one kernel, snapshot full or counts
  table,        ///< T: first and last tokens and transition table; Dirichlet, snapshots full,
                ///< counts and table
};

struct DeltaInformation {
  std::vector<double> delta;        ///< k = 0 .. largest
  std::vector<double> conditional;  ///< H(x_{n+1} | last k), nats
  DeltaMethod method = DeltaMethod::automatic;
  double states = 0.0;  ///< that the method went through
};

/// k = 0 .. largest_k < n. InputError, with the number of states and the next feasible n, when none
/// of the methods (or the one asked for) stays within max_states, and when it does not apply.
DeltaInformation delta_information(const SequenceLaw& law, const SnapshotSpec& snapshot, int n,
                                   int largest_k, DeltaMethod method = DeltaMethod::automatic,
                                   std::size_t max_states = 20000000);

/// The snapshot as a label of x_1 .. x_n.
Label snapshot_label(const SequenceLaw& law, const SnapshotSpec& snapshot);

/// States of a method, as they are checked against max_states; infinite where it does not apply.
double delta_states(const SequenceLaw& law, const SnapshotSpec& snapshot, int n, int largest_k,
                    DeltaMethod method);

}  // namespace gih
