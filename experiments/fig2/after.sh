#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Lets the program say where
# the heads attend from every position of a prompt of ten tokens.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"

# shellcheck disable=SC2031  # measure calls it
attend() {
  "$gih" sample --config "$folder/rpe.h5" --data.length 10 --data.train 1 -q -o "$scratch/data.h5" &&
    "$gih" evaluate --data "$scratch/data.h5" --parameters "$folder/rpe.h5" --attention --json
}

measure "$folder/attention.json" "$folder/rpe.h5" -- attend
