#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. New sequences of the training
# length and short ones to draw, and where the trained model and its limit attend on them.
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"

# Sequences of another seed than the training's.
sample() {  # LENGTH DATA.h5
  "$gih" sample --config "$folder/trained.h5" --data.seed 2 --data.train 200 --data.validation 0 \
    --data.length "$1" -q -o "$2"
}

run=$folder/trained.h5
for length in 24 100; do
  data=$folder/prompts_L$length.h5
  measure "$data" "$run" -- sample "$length" "$data"
  for model in trained limit; do
    measure "$folder/${model}_L$length.json" "$folder/$model.h5" "$data" -- \
      "$gih" evaluate --data "$data" --parameters "$folder/$model.h5" --attention --subset 110 --json
  done
done
