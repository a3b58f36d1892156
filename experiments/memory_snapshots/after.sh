#!/usr/bin/env bash
# Called by reproduce.sh: GIH RESULTS_FOLDER AGAIN. Snapshots with local context, overlaps, sizes, and trained queries.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"

measure_memory run local overlap spread count
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
measure "$folder/tuned.h5" "$here/tuned.memory" "$folder/trained.h5" -- \
  "$gih" memory run "$here/tuned.memory" --init.file "$folder/trained.h5" -o "$folder/tuned.h5"
