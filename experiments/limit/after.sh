#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Lets sharp.h5 predict the
# last token of sequences of growing length and leaves what it measured in predictions_L*.json.
set -euo pipefail
gih=$1 folder=$2 again=$3
scratch=$(mktemp -d "$folder/predictions.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
for length in 300 1000 3000 10000 30000 100000; do
  result=$folder/predictions_L$length.json
  if [[ $again == no && $result -nt $folder/sharp.h5 ]]; then
    echo "kept $result"
    continue
  fi
  "$gih" sample --config "$folder/sharp.h5" --data.length "$length" \
    -o "$scratch/data.h5" --overwrite >/dev/null
  "$gih" evaluate --data "$scratch/data.h5" --parameters "$folder/sharp.h5" --json >"$scratch/result"
  mv "$scratch/result" "$result"
  echo "made $result"
done
