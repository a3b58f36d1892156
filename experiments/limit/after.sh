#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Lets sharp.h5 predict the
# last token of sequences of growing length and leaves what it measured in predictions_L*.json.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"

# shellcheck disable=SC2031  # measure calls it
predict() {  # LENGTH
  "$gih" sample --config "$folder/sharp.h5" --data.length "$1" -o "$scratch/data.h5" >/dev/null &&
    "$gih" evaluate --data "$scratch/data.h5" --parameters "$folder/sharp.h5" --json
}

for length in 300 1000 3000 10000 30000 100000; do
  measure "$folder/predictions_L$length.json" "$folder/sharp.h5" -- predict "$length"
done
