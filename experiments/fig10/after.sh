#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Draws the kernel of each run.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"
for run in "$folder"/seed?.h5; do
  data=$folder/kernel_$(basename "$run")
  measure "$data" "$run" -- "$gih" sample --config "$run" --kernels -q -o "$data"
done
