#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Writes the verdicts of the
# theorem into the /checks of every run. Status 1 of verify, a failed check, is for the figure to show.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"
for run in "$folder"/*.h5; do
  measure "${run%.h5}.verify.txt" "$run" -- "$gih" verify --run "$run"
done
