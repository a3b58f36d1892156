#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=experiments/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"

usage() {
  cat <<EOF
Usage: experiments/reproduce.sh [--again] NAME...|memory|all
       experiments/reproduce.sh --list|--help

Reproduces figures of the paper: installs what is missing (apt-get), builds the program for this
machine (some minutes), trains every configuration experiments/NAME/*.ini, runs every grid
experiments/NAME/*.sweep (gih sweep run), measures more where there is an experiments/NAME/after.sh
(gih memory on its grids *.memory), draws the figure with plots/NAME.py (PNG, PDF, SVG) and prints a
verdict for each of its claims. Asks nothing. Runs that exist are kept, whatever version of the
program made them; an interrupted run goes on where it stopped. A FAIL or a failed run does not keep
the other experiments from being made; of several a summary comes last. report.html in the folder of
the results shows all experiments that are there. "memory" stands for all whose names begin so.

  --again   train anew, replacing earlier results
  --list    the names
  --help    this text

Environment:
  GIH_RESULTS   folder of the results (default: results/ in the source tree)
  GIH           a program gih to use instead of building one

Exit status: 0 all verdicts PASS; 1 some verdict is FAIL; 2 wrong use, or something is missing;
3 interrupted, the same command goes on; 4 the build or a run failed. Of several experiments the
largest counts.
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
    memory) for name in "${names[@]}"; do [[ $name != memory_* ]] || wanted+=("$name"); done ;;
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

# Gives one experiment up, so that summary and report can say why.
give_up() {  # STATUS MESSAGE...
  count_seconds
  ((${1} == 3)) || printf '%s\n' "${*:2}" >"$folder/failed.txt"
  fail "$@"
}

# Adds the seconds since the last call to those that training and measuring took before.
count_seconds() {
  local before=0
  [[ $timed == yes ]] || return 0
  [[ ! -s $folder/seconds.txt ]] || before=$(<"$folder/seconds.txt")
  echo "$((before + SECONDS))" >"$folder/seconds.txt"
  SECONDS=0
}

# Beside RUN.h5 lies RUN.ini, the file that it was made from; beside RUN.h5.part lies RUN.ini.part.
train() {  # INI RUN.h5
  local ini=$1 run=$2 copy=${2%.h5}.ini options=() kernels
  # An INI file names its kernels from the source tree, wherever this script is called.
  kernels=$(sed -n 's/^kernels = //p' "$ini")
  if [[ $again == yes ]]; then
    options=(--overwrite)
  elif [[ -e $run.part ]]; then
    cmp -s "$ini" "$copy.part" ||
      give_up 2 "$ini is not what $run.part was started from; --again trains anew"
    say "resuming $run"
    finish "$run" "$copy" --resume "$run"
    return
  elif [[ -e $run ]]; then
    cmp -s "$ini" "$copy" || give_up 2 "$ini is not what $run was made from; --again trains anew"
    echo "kept $run"
    return
  fi
  cp "$ini" "$copy.part" || give_up 2 "cannot write to ${run%/*}"
  local twin
  if twin=$(find_twin "$ini"); then
    cp "$twin" "$run.copy" && mv "$run.copy" "$run" && mv "$copy.part" "$copy" ||
      give_up 2 "cannot write to ${run%/*}"
    echo "copied $run from $twin, of the same configuration"
    return
  fi
  say "training $run from $ini"
  finish "$run" "$copy" --config "$ini" ${kernels:+--data.kernels "$root/$kernels"} -o "$run" \
    "${options[@]}"
}

# The finished run of another experiment with the same configuration, if there is one. Paths in a
# configuration are relative to it, so one that names files is not shared.
find_twin() {  # INI
  local copy
  [[ $again == no ]] || return 1
  ! grep -qE '^[[:space:]]*(file|kernels)[[:space:]]*=' "$1" || return 1
  for copy in "$results"/*/*.ini; do
    if [[ -e ${copy%.ini}.h5 ]] && cmp -s "$1" "$copy"; then
      echo "${copy%.ini}.h5"
      return
    fi
  done
  return 1
}

finish() {  # RUN.h5 COPY TRAIN_OPTION...
  local run=$1 copy=$2 status=0
  shift 2
  "$gih" train "$@" || status=$?
  ((status != 3)) || give_up 3 "interrupted; the same command goes on"
  ((status == 0)) || give_up "$status" "gih train $* ended with status $status"
  mv "$copy.part" "$copy" || give_up 2 "cannot write to ${run%/*}"
  echo "made $run"
}

sweep() {  # GRID FOLDER
  local status=0
  if [[ $again == yes && -e $2/grid.ini ]]; then rm -rf -- "$2"; fi
  say "sweeping $1 into $2"
  "$gih" sweep run "$1" -o "$2" || status=$?
  ((status != 3)) || give_up 3 "interrupted; the same command goes on"
  ((status == 0)) || give_up "$status" "gih sweep run $1 ended with status $status"
}

# Runs in a subshell, which ends with the status of this experiment.
reproduce() {  # NAME
  local name=$1 folder=$results/$1 ini grid after status=0 timed=yes
  mkdir -p "$folder" || fail 2 "cannot write to $results"
  rm -f "$folder/failed.txt" "$folder/verdicts.json"
  if [[ $again == yes ]]; then
    rm -f "$folder/seconds.txt"
  elif [[ ! -e $folder/seconds.txt ]] && compgen -G "$folder/*.h5" >/dev/null; then
    timed=no  # nobody knows what these runs took
  fi
  SECONDS=0
  for ini in "$root/experiments/$name"/*.ini; do
    [[ ! -e $ini ]] || train "$ini" "$folder/$(basename "$ini" .ini).h5"
  done
  for grid in "$root/experiments/$name"/*.sweep; do
    [[ ! -e $grid ]] || sweep "$grid" "$folder/$(basename "$grid" .sweep)"
  done
  after=$root/experiments/$name/after.sh
  if [[ -e $after ]]; then
    "$BASH" "$after" "$gih" "$folder" "$again" || status=$?
    ((status != 3)) || give_up 3 "interrupted; the same command goes on"
    ((status == 0)) || give_up 4 "$after ended with status $status"
  fi
  count_seconds
  "$python" -B "$root/plots/$name.py" "$folder" || status=$?
  ((status <= 1)) || give_up "$status" "plots/$name.py ended with status $status"
  exit "$status"
}

summarise() {  # NAME...
  local name folder verdicts seconds
  printf '\n%-20s %8s  %s\n' experiment seconds verdicts
  for name in "$@"; do
    folder=$results/$name
    seconds=-
    [[ ! -s $folder/seconds.txt ]] || seconds=$(<"$folder/seconds.txt")
    if [[ -e $folder/failed.txt ]]; then
      verdicts="failed: $(<"$folder/failed.txt")"
    else
      verdicts=$(awk '{ ++n[$1] } END { printf "%d of %d PASS", n["PASS"], NR
        if (n["FAIL"]) printf ", %d FAIL", n["FAIL"] }' "$folder/verdict.txt")
    fi
    printf '%-20s %8s  %s\n' "$name" "$seconds" "$verdicts"
  done
}

# All experiments that are there, be they of this call or of an earlier one.
write_report() {
  local name folders=()
  for name in "${names[@]}"; do
    [[ ! -e $results/$name/failed.txt && ! -e $results/$name/verdicts.json ]] ||
      folders+=("$results/$name")
  done
  "$python" -B "$root/plots/report.py" "${folders[@]}" -o "$results/report.html" --overwrite \
    --title "gih: reproduced figures"
}

worst=0
mkdir -p "$results" || fail 2 "cannot write to $results"
for name in "${wanted[@]}"; do
  set +e  # so that it is heeded within
  (set -e; reproduce "$name")
  status=$?
  set -e
  ((status != 3)) || exit 3
  # Whatever ended it without a word, such as a full disk.
  [[ -e $results/$name/verdicts.json || -e $results/$name/failed.txt ]] || {
    ((status > 1)) || status=4
    mkdir -p "$results/$name" && echo "ended with status $status" >"$results/$name/failed.txt"
  }
  ((status <= worst)) || worst=$status
done
((${#wanted[@]} == 1)) || summarise "${wanted[@]}"
write_report || fail 4 "plots/report.py ended with status $?"
exit "$worst"
