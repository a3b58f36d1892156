#!/usr/bin/env bash
# Called by reproduce.sh: GIH RESULTS_FOLDER AGAIN. Slots of memory and of compressed memory, and what each compressor costs.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"

measure_memory run total reach both cost
