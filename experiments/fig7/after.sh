#!/usr/bin/env bash
# Called by reproduce.sh when the runs are there: GIH RESULTS_FOLDER AGAIN. Tests both models on new
# chains of other concentrations and lengths and leaves what it measured in test_ALPHA_LENGTH.json:
#   bayes        trained.h5 and all estimators, in pairs with Bayes
#   gih          some of them in pairs with the GIH
#   by_length    trained.h5 and the true law with epsilon = L^(-1/2) of the test's length
#   alpha001     alpha001.h5 in pairs with Bayes
set -euo pipefail
# shellcheck source=experiments/measure.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../measure.sh"

# A longer test extends the prompts of a shorter one; its kernels are the same.
try() {  # ALPHA LENGTH SEQUENCES
  "$gih" sample --config "$folder/trained.h5" --data.alpha "$1" --data.length "$2" \
    --data.train "$3" --data.validation 0 --data.seed 1001 -o "$scratch/data.h5" -q &&
    printf '{"bayes": ' &&
    "$gih" evaluate --data "$scratch/data.h5" --parameters "$folder/trained.h5" --against bayes \
      --summary --json &&
    printf ', "gih": ' &&
    "$gih" evaluate --data "$scratch/data.h5" --parameters "$folder/trained.h5" --against gih \
      --only gih,unigram,bigram --summary --json &&
    printf ', "by_length": ' &&
    "$gih" evaluate --data "$scratch/data.h5" --parameters "$folder/trained.h5" --epsilon auto \
      --only conditional --summary --json &&
    printf ', "alpha001": ' &&
    "$gih" evaluate --data "$scratch/data.h5" --parameters "$folder/alpha001.h5" --against bayes \
      --only bayes --summary --json &&
    printf '}\n'
}

for alpha in 0.05 0.1 0.2; do
  for length in 10 20 50 100 200 400 700 1000; do
    sequences=$((length < 100 ? 40000 : 20000))  # short prompts vary more
    measure "$folder/test_${alpha}_$length.json" "$folder/trained.h5" "$folder/alpha001.h5" -- \
      try "$alpha" "$length" "$sequences"
  done
done
