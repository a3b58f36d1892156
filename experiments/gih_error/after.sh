#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Writes the checks of the
# theorem into every run, and leaves the distance to the induction head on new prompts of the same
# length in distance_LENGTH.json.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"

against_gih() {  # RUN
  "$gih" sample --config "$1" --data.train 4000 --data.seed 1001 -o "$scratch/data.h5" -q &&
    "$gih" evaluate --data "$scratch/data.h5" --parameters "$1" --subset 110 --only gih,conditional \
      --against gih --summary --json
}

for run in "$folder"/length*.h5; do
  name=${run##*/length}
  measure "${run%.h5}.verify.txt" "$run" -- "$gih" verify --run "$run"
  measure "$folder/distance_${name%.h5}.json" "$run" -- against_gih "$run"
done
