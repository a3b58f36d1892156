#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Lets every run predict the
# last token of the same 10,000 sequences, which none was trained on.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"
data=$folder/fresh.data
measure "$data" "$folder/joint1.h5" -- "$gih" sample --config "$folder/joint1.h5" \
  --data.seed 1000 --data.train 10000 -o "$data"
for run in "$folder"/*.h5; do
  measure "${run%.h5}.fresh.json" "$run" "$data" -- \
    "$gih" evaluate --data "$data" --parameters "$run" --json
done
