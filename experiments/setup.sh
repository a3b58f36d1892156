# What experiments/reproduce.sh and tests/run.sh share: what the machine needs, and the build.
# Sourced, never run.
# shellcheck shell=bash disable=SC2034

root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

# What is installed on a fresh Debian 12 or Ubuntu machine, by purpose.
packages_build=(g++ cmake ninja-build libeigen3-dev libboost-program-options-dev libboost-dev
                libhdf5-dev libfmt-dev nlohmann-json3-dev librandom123-dev)
packages_plot=(python3-numpy python3-h5py python3-matplotlib)
packages_test=("${packages_plot[@]}" doctest-dev libbenchmark-dev hdf5-tools locales openmpi-bin
               libopenmpi-dev)
packages_clang=(clang libomp-dev)

say() { printf '%s\n' "$*" >&2; }
fail() {  # STATUS MESSAGE...
  local status=$1
  shift
  say "${0##*/}: $*"
  exit "$status"
}

# Installs those packages that are missing. WHY completes "installing ... to WHY".
install_packages() {  # WHY PACKAGE...
  local why=$1 package missing=() as_root=()
  shift
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian machine: to $why, provide what these packages hold: $*"
    return 0
  fi
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local remedy="missing to $why: ${missing[*]}; as root: apt-get update && apt-get install ${missing[*]}"
  if ((EUID != 0)); then
    sudo -n true 2>/dev/null || fail 2 "$remedy"
    as_root=(sudo -n)
  fi
  say "installing ${missing[*]} to $why"
  local log
  log=$(mktemp)
  local get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y
             -o DPkg::Lock::Timeout=300 -o APT::Install-Recommends=false)
  # A fresh machine has no package lists and an old one has stale lists: one update mends both.
  if ! "${get[@]}" install "${missing[@]}" >"$log" 2>&1 &&
     ! { "${get[@]}" update && "${get[@]}" install "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    fail 2 "$remedy"
  fi
  rm -f "$log"
}

# Sets `python` to one that can draw. Debian's comes first, because on a machine with several the
# first on PATH is often not the one that apt serves.
choose_python() {
  for python in /usr/bin/python3 python3; do
    "$python" -c 'import h5py, matplotlib' 2>/dev/null && return
  done
  return 1
}

# Configures and builds in FOLDER of the source tree, silent unless it fails.
build() {  # FOLDER CMAKE_OPTION...
  local folder=$root/$1
  shift
  mkdir -p "$folder" || fail 2 "cannot write to $root"
  say "building in $folder, which takes some minutes ($*)"
  if ! { cmake -S "$root" -B "$folder" -G Ninja "$@" &&
         cmake --build "$folder" --parallel "$(nproc)"; } >"$folder/build.log" 2>&1; then
    tail -n 40 "$folder/build.log" >&2
    fail 4 "the build failed, see $folder/build.log"
  fi
}

# Sets `gih` to a program built for this machine.
build_program() {
  build build-reproduce -DCMAKE_BUILD_TYPE=Release -DGIH_NATIVE=ON -DGIH_TESTS=OFF \
    -DGIH_BENCHMARKS=OFF
  gih=$root/build-reproduce/gih
}
