#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Writes the verdicts of the
# theorem into the /checks of every run. Status 1 of verify, a failed check, is for the figure to show.
set -euo pipefail
gih=$1 folder=$2
for run in "$folder"/*.h5; do
  status=0
  "$gih" verify --run "$run" >"${run%.h5}.verify.txt" || status=$?
  ((status <= 1)) || exit "$status"
  echo "verified $run, status $status: ${run%.h5}.verify.txt"
done
