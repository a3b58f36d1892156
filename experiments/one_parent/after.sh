#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Leaves the verdicts of the
# theorem in the /checks of every run.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"
for run in "$folder"/*.h5; do
  measure "${run%.h5}.verify.txt" "$run" -- "$gih" verify --run "$run"
done
