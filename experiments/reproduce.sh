#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=experiments/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"

usage() {
  cat <<EOF
Usage: experiments/reproduce.sh [--again] NAME...|all
       experiments/reproduce.sh --list|--help

Reproduces figures of the paper: installs what is missing (apt-get), builds the program for this
machine, trains every configuration experiments/NAME/*.ini, draws the figure with plots/NAME.py
(PNG and PDF) and prints a verdict for each of its claims. Where there is an experiments/NAME/after.sh,
it measures more on the runs before the figure is drawn. Asks nothing. Runs that exist are kept,
an interrupted run goes on where it stopped.

  --again   train anew, replacing earlier results
  --list    the names
  --help    this text

Environment:
  GIH_RESULTS   folder of the results (default: results/ in the source tree)
  GIH           a program gih to use instead of building one

Exit status: 0 all verdicts PASS; 1 some verdict is FAIL; 2 wrong use, or something is missing;
3 interrupted, the same command goes on; 4 the build or a run failed.
EOF
}

names=()
for folder in "$root"/experiments/*/; do
  names+=("$(basename "$folder")")
done

known() {  # NAME
  local name
  for name in "${names[@]}"; do
    [[ $name != "$1" ]] || return 0
  done
  return 1
}

# The known name that shares the longest beginning with NAME, if any.
nearest() {  # NAME
  local length name
  for ((length = ${#1}; length > 0; --length)); do
    for name in "${names[@]}"; do
      if [[ ${name:0:length} == "${1:0:length}" ]]; then
        echo "$name"
        return
      fi
    done
  done
}

again=no
wanted=()
while (($#)); do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --list) printf '%s\n' "${names[@]}"; exit 0 ;;
    --again) again=yes ;;
    -*) fail 2 "unknown option $1 (see --help)" ;;
    all) wanted+=("${names[@]}") ;;
    *)
      if ! known "$1"; then
        near=$(nearest "$1")
        fail 2 "no experiment $1${near:+, nearest: $near}; there are: ${names[*]}, all"
      fi
      wanted+=("$1") ;;
  esac
  shift
done
((${#wanted[@]})) || fail 2 "name an experiment: ${names[*]}, all (see --help)"

results=${GIH_RESULTS:-$root/results}
gih=${GIH:-}
if [[ -n $gih ]]; then
  command -v "$gih" >/dev/null || fail 2 "GIH=$gih is not a program"
fi

# Everything that may be missing is asked for before the first long run.
choose_python || install_packages "draw figures" "${packages_plot[@]}"
choose_python || fail 2 "no python3 that can import h5py and matplotlib"
if [[ -z $gih ]]; then
  install_packages "build gih" "${packages_build[@]}"
  build_program
fi

# Beside RUN.h5 lies RUN.ini, the file that it was made from; beside RUN.h5.part lies RUN.ini.part.
train() {  # INI RUN.h5
  local ini=$1 run=$2 copy=${2%.h5}.ini options=()
  if [[ $again == yes ]]; then
    options=(--overwrite)
  elif [[ -e $run.part ]]; then
    cmp -s "$ini" "$copy.part" ||
      fail 2 "$ini is not what $run.part was started from; --again trains anew"
    say "resuming $run"
    finish "$run" "$copy" --resume "$run"
    return
  elif [[ -e $run ]]; then
    cmp -s "$ini" "$copy" || fail 2 "$ini is not what $run was made from; --again trains anew"
    echo "kept $run"
    return
  fi
  cp "$ini" "$copy.part" || fail 2 "cannot write to ${run%/*}"
  say "training $run from $ini"
  finish "$run" "$copy" --config "$ini" -o "$run" "${options[@]}"
}

finish() {  # RUN.h5 COPY TRAIN_OPTION...
  local run=$1 copy=$2 status=0
  shift 2
  "$gih" train "$@" || status=$?
  ((status != 3)) || fail 3 "interrupted; the same command goes on"
  ((status == 0)) || fail "$status" "gih train $* ended with status $status"
  mv "$copy.part" "$copy" || fail 2 "cannot write to ${run%/*}"
  echo "made $run"
}

worst=0
for name in "${wanted[@]}"; do
  mkdir -p "$results/$name" || fail 2 "cannot write to $results"
  for ini in "$root/experiments/$name"/*.ini; do
    train "$ini" "$results/$name/$(basename "$ini" .ini).h5"
  done
  after=$root/experiments/$name/after.sh
  if [[ -e $after ]]; then
    "$BASH" "$after" "$gih" "$results/$name" "$again" || fail 4 "$after ended with status $?"
  fi
  status=0
  "$python" -B "$root/plots/$name.py" "$results/$name" || status=$?
  ((status <= 1)) || fail "$status" "plots/$name.py ended with status $status"
  ((status == 0)) || worst=1
done
exit "$worst"
