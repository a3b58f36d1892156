#!/usr/bin/env bash
# Called by reproduce.sh: GIH RESULTS_FOLDER AGAIN. Losses of the compressor, and how deep its gradient goes.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"

measure_memory train curves depth
measure_memory run trained
