#!/usr/bin/env bash
# Called by reproduce.sh: GIH RESULTS_FOLDER AGAIN. Memories against closed forms.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"

measure_memory run pooled mass freezing
