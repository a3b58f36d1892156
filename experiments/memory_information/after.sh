#!/usr/bin/env bash
# Called by reproduce.sh: GIH RESULTS_FOLDER AGAIN. What memories no longer know, and what snapshots of
# a past add to the last k tokens.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
measure "$folder/split.h5" "$here/split.memory" -- \
  "$gih" memory split "$here/split.memory" --kernels 400 -o "$folder/split.h5"
annealed=(--data.vocab 2 --data.parents 1 --data.alpha 0.5)
for snapshot in full table counts; do
  measure "$folder/annealed_$snapshot.json" -- \
    "$gih" information "${annealed[@]}" --delta 12 --local 7 --snapshot "$snapshot" --json
done
for chain in chain xor; do
  for snapshot in full counts; do
    measure "$folder/${chain}_$snapshot.json" "$here/$chain.json" -- \
      "$gih" information --kernel "$here/$chain.json" --delta 12 --local 4 --snapshot "$snapshot" --json
  done
  measure "$folder/${chain}_lags.json" "$here/$chain.json" -- \
    "$gih" information --kernel "$here/$chain.json" --lag 40 --json
done
measure "$folder/prior_lags.json" -- \
  "$gih" information "${annealed[@]}" --kernels 2000 --lag 40 --json
