#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=experiments/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../experiments/setup.sh"

usage() {
  cat <<EOF
Usage: tests/run.sh [--slow] [--sanitize|--clang] [--build-only]

Installs what is missing (apt-get), builds the program with its tests, warnings being errors, and
runs the tests. Asks nothing.

  --slow         run the tests labelled slow too
  --sanitize     build with the address and undefined-behaviour sanitizers; no tests of figures
  --clang        build with clang++ instead of the default compiler; no tests of figures
  --build-only   build and run nothing
  --help         this text

Exit status: 0 all tests passed; 1 some failed, or none were found; 2 wrong use, or something is
missing; 4 the build failed.
EOF
}

slow=no
build_only=no
folder=build-test
native=ON  # like the program that reproduces the figures; clang builds what is packaged
options=(-DCMAKE_BUILD_TYPE=Release)
packages=("${packages_build[@]}" "${packages_test[@]}")
for option in "$@"; do
  case $option in
    --slow) slow=yes ;;
    --build-only) build_only=yes ;;
    --sanitize | --clang)
      [[ $folder == build-test ]] || fail 2 "--sanitize and --clang exclude each other"
      folder=build-${option#--} ;;
    --help | -h) usage; exit 0 ;;
    *) fail 2 "unknown option $option (see --help)" ;;
  esac
done
case $folder in
  build-sanitize)
    options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DGIH_SANITIZE=address,undefined") ;;
  build-clang)
    native=OFF
    options+=(-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)
    packages+=("${packages_clang[@]}") ;;
esac

install_packages "build and test gih" "${packages[@]}"
build "$folder" "${options[@]}" "-DGIH_NATIVE=$native" -DGIH_WERROR=ON -DGIH_TESTS=ON
[[ $build_only == no ]] || exit 0

log=$root/$folder/test.log
: >"$log"
worst=0
run_tests() {
  ctest --test-dir "$root/$folder" --output-on-failure --no-tests=error -j "$(nproc)" "$@" |
    tee -a "$log" || worst=1
}
# Tests of figures do not run what was built, so one build is enough for them.
without=slow
[[ $folder == build-test ]] || without="slow|figures"
run_tests -LE "$without"
[[ $slow == no ]] || run_tests -L slow

awk -v folder="$folder" '/ tests failed out of [0-9]+$/ { failed += $4; total += $NF }
  END { printf "%s: %d tests, %d failed\n", folder, total, failed }' "$log"
exit "$worst"
