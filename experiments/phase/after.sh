#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Collects each sweep into a
# table, with what theory says of every point.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"

for sweep in finite limit; do
  measure "$folder/$sweep.h5" "$folder/$sweep/grid.ini" "$folder/$sweep"/*.h5 -- \
    "$gih" sweep collect "$folder/$sweep" -o "$folder/$sweep.h5" --finite
done
