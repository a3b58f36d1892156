#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=experiments/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../../experiments/setup.sh"

case ${1:-} in
  --help | -h)
    cat <<EOT
Usage: tests/robustness/run.sh [NAME...]

Builds the program with what is missing installed (apt-get), or takes the one that GIH names, and
does to it what befalls programs: kills, full disks, damaged files, two at once, a Slurm that ends
its jobs. Prints a line for each, and totals. With names, those alone (tests/robustness/faults.py
--list).

Exit status: 0 nothing was lost, wrong or broken; 1 something was; 2 wrong use, or something is
missing; 4 the build failed.
EOT
    exit 0 ;;
  -*) fail 2 "unknown option $1 (see --help)" ;;
esac

if [[ -z ${GIH:-} ]]; then
  install_packages "build gih" "${packages_build[@]}"
  build_program
  GIH=$gih
fi
install_packages "read run files" "${packages_plot[@]}"
export GIH
worst=0
/usr/bin/python3 -B "$root/tests/robustness/faults.py" "$@" || worst=$?
((worst < 2)) || exit "$worst"
if (($# == 0)); then
  GIH_SOURCE=$root /usr/bin/python3 -B "$root/tests/robustness/test_slurm.py" || worst=1
fi
exit "$worst"
