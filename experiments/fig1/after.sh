#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Draws one long sequence with
# its kernel, and the beginnings of many short ones.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"
run=$folder/chain.h5
measure "$folder/sequence.h5" "$run" -- \
  "$gih" sample --config "$run" --kernels -q -o "$folder/sequence.h5"
measure "$folder/starts.h5" "$run" -- \
  "$gih" sample --config "$run" --data.length 10 --data.train 20000 -q -o "$folder/starts.h5"
