#!/bin/sh
# Builds the native CPU library: build.sh OUT_DIR WORK_DIR. Needs only a C compiler ($CC, cc, gcc or clang);
# $CFLAGS is added to the flags.
# The suffix of a file's name chooses its instruction set: _avx2, _avx512, _neon; other files are portable C. On x86-64 a
# _scalar file is compiled a second time with hardware fma (internal.h): without it fmaf is a slow call.
# OUT_DIR/<os>-<arch>/libdeltafin.{so,dylib} is made anew only when a source is newer.
set -eu
out=$1 work=$2
src=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
cc=${CC:-}
for c in cc gcc clang; do [ -n "$cc" ] || ! command -v "$c" >/dev/null 2>&1 || cc=$c; done
[ -n "$cc" ] || { echo "build.sh: no C compiler found: install gcc or clang, or set CC (Java-only work: ./mvnw -PskipNative)" >&2; exit 2; }
triple=$("$cc" -dumpmachine)
case $triple in
  x86_64*|amd64*) arch=x86_64 ;;
  aarch64*|arm64*) arch=aarch64 ;;
  *) arch=$(echo "$triple" | cut -d- -f1) ;;
esac
case $triple in
  *darwin*) os=macos lib=libdeltafin.dylib ;;
  *) os=linux lib=libdeltafin.so ;;
esac
dir=$out/$os-$arch
obj=$work/$os-$arch
mkdir -p "$dir" "$obj"
if [ -f "$dir/$lib" ] && [ -z "$(find "$src" \( -name '*.c' -o -name '*.h' -o -name '*.inc' -o -name build.sh \) -newer "$dir/$lib" | head -1)" ]; then exit 0; fi
flags="-std=gnu11 -O3 -g -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -fno-trapping-math -pthread -Wall -Wextra -Werror -I$src/include -I$src ${CFLAGS:-}"
objects=
for f in "$src"/*.c; do
  name=$(basename "$f" .c)
  isa=
  case $name in
    *_avx2) [ $arch = x86_64 ] || continue; isa="-mavx2 -mfma" ;;
    *_avx512) [ $arch = x86_64 ] || continue; isa="-mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx2 -mfma -mprefer-vector-width=512" ;;
    *_neon) [ $arch = aarch64 ] || continue ;;
  esac
  "$cc" $flags $isa -c "$f" -o "$obj/$name.o"
  objects="$objects $obj/$name.o"
  case $arch,$name in
    x86_64,*_scalar)
      "$cc" $flags -mfma -DDF_SCALAR_FMA -c "$f" -o "$obj/${name}_fma.o"
      objects="$objects $obj/${name}_fma.o" ;;
  esac
done
"$cc" -shared -pthread ${CFLAGS:-} -o "$dir/$lib.new" $objects -lm
# The benchmark's yardsticks live in a library of their own (bench/deltafin_bench.h).
"$cc" $flags -shared -o "$dir/$(echo "$lib" | sed 's/deltafin/deltafin_bench/')" "$src"/bench/*.c
mv "$dir/$lib.new" "$dir/$lib"
echo "built $dir/$lib"
