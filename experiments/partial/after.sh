#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Leaves
#   information_SHARE_inf.json, information_SHARE_LENGTH.json   which set stage 1 prefers, and by how much
#   test_LENGTH.json   the run of this length on new prompts and two induction heads beside it: on
#                      S* = {2} in pairs with Bayes, on the parents in pairs with the run
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)

try() {  # RUN KERNELS SEQUENCES
  "$gih" sample --config "$1" --data.kernels "$2" --data.train "$3" --data.seed 1001 \
    -o "$scratch/data.h5" -q &&
    printf '{"star": ' &&
    "$gih" evaluate --data "$scratch/data.h5" --parameters "$1" --subset 010 --against bayes \
      --only gih,bayes,conditional --summary --json &&
    printf ', "parents": ' &&
    "$gih" evaluate --data "$scratch/data.h5" --parameters "$1" --subset 110 --only gih --summary --json &&
    printf '}\n'
}

for share in 0.3 0.55 0.8; do
  kernels=$here/share$share.json
  measure "$folder/information_${share}_inf.json" "$kernels" -- \
    "$gih" information --kernel "$kernels" --window 3 --degree 2 --json
done
for run in "$folder"/prompt*.h5; do
  length=${run##*/prompt}
  length=${length%.h5}
  sequences=$((length > 1000 ? 4000 : 20000))
  for share in 0.3 0.55 0.8; do
    kernels=$here/share$share.json
    measure "$folder/information_${share}_$length.json" "$run" "$kernels" -- \
      "$gih" information --config "$run" --data.kernels "$kernels" --data.train "$sequences" --finite --json
  done
  kernels=$here/share0.3.json
  measure "$folder/test_$length.json" "$run" "$kernels" -- try "$run" "$kernels" "$sequences"
done
