# What experiments/NAME/after.sh measures on finished runs. Sourced by it, never run; takes its arguments.
# shellcheck shell=bash disable=SC2030,SC2031,SC2034

gih=$1 folder=$2 again=$3

# measure RESULT INPUT... -- COMMAND...
#
# Runs COMMAND, whose output becomes RESULT, or says "kept RESULT" where RESULT was made by the same
# command from inputs of the same content and `again` is no. RESULT appears whole or not at all.
# Beside it RESULT.from holds the command and the checksums of the inputs; dates play no part.
#   - Where RESULT is itself a word of COMMAND, as after -o, the command writes that file.
#   - COMMAND may be a shell function; its text counts as part of the command. It joins what it runs
#     by &&, and may use the folder "$scratch", which is gone afterwards.
# The status is that of COMMAND; 1 of `gih verify`, a failed check, is a result too.
measure() (  # a subshell, so that the trap and the names are its own
  set +e
  result=$1
  shift
  inputs=()
  while (($#)) && [[ $1 != -- ]]; do
    inputs+=("$1")
    shift
  done
  if (($# < 2)); then
    measure_error "$result: no command after --"
    exit 2
  fi
  shift
  for input in "${inputs[@]}"; do
    if [[ ! -f $input ]]; then
      measure_error "$input: missing, to make $result from it"
      exit 2
    fi
  done

  if [[ $again == no && -e $result ]] &&
     cmp -s "$result.from" <(measure_record "$result" "$@"); then
    echo "kept $result"
    exit 0
  fi

  scratch=$(mktemp -d "$result.XXXXXX") || exit 2
  trap 'rm -rf "$scratch"' EXIT
  made=$scratch/${result##*/}
  words=()
  output=$made
  for word in "$@"; do
    if [[ $word == "$result" ]]; then
      word=$made
      output=/dev/null
    fi
    words+=("$word")
  done
  "${words[@]}" >"$output"
  status=$?
  ((status == 0)) || [[ $status == 1 && $1 == "$gih" && $2 == verify ]] || exit "$status"

  # The record comes last, so that an interruption leaves none. It is of the inputs as they are now,
  # since `gih verify --run` writes into its input.
  rm -f "$result.from" &&
    measure_record "$result" "$@" >"$scratch/record.from" &&
    mv "$made" "$result" &&
    mv "$scratch/record.from" "$result.from" || exit 4
  echo "made $result"
)

# What RESULT is made from, without the places of program, sources and results.
measure_record() {  # RESULT COMMAND..., and the array `inputs`
  local word input sum
  shift
  if [[ $(type -t "$1") == function ]]; then
    declare -f "$1"
  fi
  for word in "$@"; do
    [[ $word != "$gih" ]] || word=gih
    printf '%q ' "$(measure_place "$word")"
  done
  echo
  for input in "${inputs[@]}"; do
    sum=$(sha256sum <"$input") || return
    echo "${sum%% *}  $(measure_place "$input")"
  done
}

measure_place() {  # WORD
  local word=$1 sources
  sources=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
  word=${word//"$folder/"/}
  printf '%s' "${word//"$sources/"/}"
}

measure_error() { printf 'measure: %s\n' "$*" >&2; }

# Tables NAME.h5 of the grids NAME.memory beside the after.sh that calls, by gih memory ACTION.
measure_memory() {  # ACTION NAME...
  local action=$1 grids name
  grids=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
  shift
  for name in "$@"; do
    measure "$folder/$name.h5" "$grids/$name.memory" -- \
      "$gih" memory "$action" "$grids/$name.memory" -o "$folder/$name.h5"
  done
}
