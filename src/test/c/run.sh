#!/bin/sh
# Builds the native library and the kernel test programs (*_test.c) into a directory and runs them.
#   run.sh [--work DIR] [--sanitize] [--quick] [host | aarch64 | all]     (default: all)
#   run.sh --bench [threads [repeats]]     the matrix kernels at the real shapes, beside two yardsticks
# host: this machine, every instruction set it has. aarch64: cross-compiled, run under qemu-aarch64 with --quick sweeps;
# skipped with a message where compiler or emulator are missing. --sanitize: host with address and undefined behaviour checks.
# Exit status 0: all that ran passed; 77: what was asked for alone is not possible here.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
main=$here/../../main/c
work= sanitize= quick= what=all bench=
while [ $# -gt 0 ]; do
  case $1 in
    --work) work=$2; shift ;;
    --sanitize) sanitize=yes ;;
    --quick) quick=--quick ;;
    --bench) bench=yes; shift; break ;;
    host|aarch64|all) what=$1 ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift
done
if [ -z "$work" ]; then work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; fi

# run_all NAME COMPILER QUICK EMULATOR...
run_all() {
  name=$1 compiler=$2 sweep=$3
  shift 3
  echo "== $name ($("$compiler" -dumpmachine))"
  CC=$compiler sh "$main/build.sh" "$work/$name" "$work/$name-objects"
  lib=$(dirname "$(ls "$work/$name"/*/libdeltafin.*)")
  flags="-std=gnu11 -O2 -g -ffp-contract=off -fno-math-errno -Wall -Wextra -Werror -pthread ${CFLAGS:-}"
  for source in "$here"/*_test.c; do
    test=$(basename "$source" .c)
    "$compiler" $flags -I"$main/include" -I"$main" "$source" -o "$work/$name/$test" -L"$lib" -ldeltafin -Wl,-rpath,"$lib" -lm
    echo "-- $test"
    "$@" "$work/$name/$test" $sweep
  done
}

compiler=${CC:-}
for c in cc gcc clang; do [ -n "$compiler" ] || ! command -v "$c" >/dev/null 2>&1 || compiler=$c; done
if [ -n "$bench" ]; then
  sh "$main/build.sh" "$work/bench" "$work/bench-objects"
  lib=$(dirname "$(ls "$work/bench"/*/libdeltafin.*)")
  "$compiler" -std=gnu11 -O2 -pthread -I"$main/include" -I"$main" "$here/bench_matmul.c" -o "$work/bench/bench_matmul" \
    -L"$lib" -ldeltafin -ldeltafin_bench -Wl,-rpath,"$lib"
  "$work/bench/bench_matmul" "$@"
  exit
fi
if [ "$what" != aarch64 ]; then
  [ -n "$compiler" ] || { echo "run.sh: no C compiler" >&2; exit 77; }
  if [ -n "$sanitize" ]; then
    CFLAGS="${CFLAGS:-} -O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
    export CFLAGS
    run_all sanitize "$compiler" --quick env
  else
    run_all host "$compiler" "$quick" env
  fi
fi
if [ "$what" != host ] && [ -z "$sanitize" ]; then
  cross=aarch64-linux-gnu-gcc emulator=qemu-aarch64
  if command -v $cross >/dev/null 2>&1 && command -v $emulator >/dev/null 2>&1; then
    CFLAGS= run_all aarch64 $cross --quick $emulator -L /usr/aarch64-linux-gnu
  else
    echo "== aarch64 skipped: needs $cross and $emulator"
    [ "$what" = all ] || exit 77
  fi
fi
