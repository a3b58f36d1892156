#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Trains both models with one
# convention of the released code at a time taken back to what the paper's text says, then with all of
# them, and leaves how each predicts fresh prompts in NAME.json.
set -euo pipefail
here=$(dirname -- "${BASH_SOURCE[0]}")
# shellcheck source=experiments/measure.sh
source "$here/../measure.sh"

variant() {  # MODEL CHANGE OPTION...
  local model=$1 run=$folder/$1_$2.h5
  shift 2
  measure "$run" "$here/$model.ini" -- "$gih" train --quiet --config "$here/$model.ini" -o "$run" "$@"
}

window=(--model.head-window common)
loss=(--loss.kind cross-entropy)
variant simplified window "${window[@]}"
variant simplified norm --model.head-norm none
variant simplified loss "${loss[@]}"
variant simplified w-off --init.w-off 0.01
variant simplified text "${window[@]}" --model.head-norm none "${loss[@]}" --init.w-off 0.01

norm=(--model.head-norm none)
feature=(--model.feature-norm l2)
self=(--model.self-attention none)
rectify=(--model.rectify false)
residual=(--model.residual-in-kernel true)
variant full window "${window[@]}"
variant full norm "${norm[@]}"
variant full feature "${feature[@]}"
variant full self "${self[@]}"
variant full rectify "${rectify[@]}"
variant full residual "${residual[@]}"
variant full loss "${loss[@]}"
variant full text "${window[@]}" "${norm[@]}" "${feature[@]}" "${self[@]}" "${rectify[@]}" \
  "${residual[@]}" "${loss[@]}"

prompts=$folder/prompts.data.h5
measure "$prompts" "$here/simplified.ini" -- "$gih" sample --config "$here/simplified.ini" \
  --data.train 4000 --data.validation 0 --data.seed 1001 -o "$prompts"
for run in "$folder"/simplified*.h5 "$folder"/full*.h5; do
  measure "${run%.h5}.json" "$run" "$prompts" -- \
    "$gih" evaluate --data "$prompts" --parameters "$run" --json
done
