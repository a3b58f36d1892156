#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=experiments/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../experiments/setup.sh"

usage() {
  cat <<EOF
Usage: tests/run.sh [--slow] [--sanitize|--clang|--fuzz] [--build-only]

Installs what is missing (apt-get), builds the program with its tests, warnings being errors, and
runs the tests. Asks nothing.

  --slow         run the tests labelled slow too
  --sanitize     build with the address and undefined-behaviour sanitizers; no tests of figures
  --clang        build with clang++ instead of the default compiler; no tests of figures
  --fuzz         let clang's libFuzzer try the readers of INI, JSON and HDF5, a minute each; no tests
  --build-only   build and run nothing
  --help         this text

Exit status: 0 all tests passed; 1 some failed, or none were found; 2 wrong use, or something is
missing; 4 the build failed.
EOF
}

slow=no
build_only=no
folder=build-test
tests=ON
native=ON  # like the program that reproduces the figures; clang builds what is packaged
options=(-DCMAKE_BUILD_TYPE=Release)
packages=("${packages_build[@]}" "${packages_test[@]}")
for option in "$@"; do
  case $option in
    --slow) slow=yes ;;
    --build-only) build_only=yes ;;
    --sanitize | --clang | --fuzz)
      [[ $folder == build-test ]] || fail 2 "--sanitize, --clang and --fuzz exclude each other"
      folder=build-${option#--} ;;
    --help | -h) usage; exit 0 ;;
    *) fail 2 "unknown option $option (see --help)" ;;
  esac
done
case $folder in
  build-test)
    options+=(-DGIH_MPI=ON) ;;
  build-sanitize)
    # Less optimised it compiles in half the time; benchmarks would tell nothing.
    options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DGIH_SANITIZE=address,undefined"
             "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" -DGIH_BENCHMARKS=OFF) ;;
  build-clang)
    native=OFF
    options+=(-DGIH_BENCHMARKS=OFF -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)
    packages+=("${packages_clang[@]}") ;;
  build-fuzz)
    native=OFF
    tests=OFF
    options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++
             -DGIH_FUZZ=ON -DGIH_BENCHMARKS=OFF
             "-DGIH_SANITIZE=address,undefined,fuzzer-no-link")
    packages+=("${packages_clang[@]}") ;;
esac

install_packages "build and test gih" "${packages[@]}"
build "$folder" "${options[@]}" "-DGIH_NATIVE=$native" -DGIH_WERROR=ON "-DGIH_TESTS=$tests"
[[ $build_only == no ]] || exit 0

if [[ $folder == build-fuzz ]]; then
  worst=0
  for name in ini json data; do
    found=$root/$folder/found/$name
    mkdir -p "$found/new"
    if "$root/$folder/tests/robustness/fuzz/fuzz_$name" -max_total_time="${GIH_FUZZ_SECONDS:-60}" \
         -timeout=20 -rss_limit_mb=4096 -artifact_prefix="$found/" "$found/new" \
         "$root/tests/robustness/fuzz/corpus/$name" >"$found/log" 2>&1; then
      echo "fuzz_$name: nothing found in $(grep -oE '^Done [0-9]+' "$found/log" | grep -oE '[0-9]+') inputs"
    else
      tail -n 30 "$found/log" >&2
      echo "fuzz_$name: FOUND, the input is in $found"
      worst=1
    fi
  done
  exit "$worst"
fi

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
