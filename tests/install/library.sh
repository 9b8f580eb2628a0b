#!/bin/sh
# Installs a build into a folder of its own, and builds programs in C and C++ against the library that is there, by its
# CMake package; then the Python package, if there is one.
#
#   tests/install/library.sh BUILD PYTHON      PYTHON: the interpreter, or empty
set -u
build=$1 python=${2-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { printf 'FAILED: %s\n' "$*"; exit 1; }
quietly() { "$@" >"$folder/output" 2>&1 || { cat "$folder/output"; fail "$1"; }; }

quietly cmake --install "$build" --prefix "$folder/first"
mv "$folder/first" "$folder/moved"
unset LD_LIBRARY_PATH PYTHONPATH
mkdir "$folder/project"
cp examples/c/fit.c "$folder/project"
cat >"$folder/project/sum.cpp" <<'END'
#include <relay.h>

#include <cstdio>
#include <memory>

int main() {
  relay_engine* engine = nullptr;
  relay_value* value = nullptr;
  if (relay_error* error = relay_engine_new(nullptr, &engine)) return relay_error_free(error), 1;
  const std::unique_ptr<relay_engine, void (*)(relay_engine*)> kept(engine, relay_engine_free);
  relay_error* error = relay_eval(engine, "sum(ones([3, 4]) * 2.0)", &value);
  if (error) return std::puts(relay_error_text(error)), 1;
  std::printf("%s, %s\n", relay_value_text(value), relay_version());
  relay_value_release(value);
}
END
cat >"$folder/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(uses_relay C CXX)
find_package(relay 0.1 REQUIRED)
add_executable(fit fit.c)
add_executable(sum sum.cpp)
target_link_libraries(fit PRIVATE relay::relay)
target_link_libraries(sum PRIVATE relay::relay)
END
cat >"$folder/fit.relay" <<'END'
type Line { Line { slope: float32, offset: float32 } }
def loss[n](line: Line, x: Tensor[(n), float32], y: Tensor[(n), float32]) {
  let e = line.slope * x + line.offset - y;
  sum(e * e)
}
def step(line: Line, g: Line) { Line(line.slope - 0.01 * g.slope, line.offset - 0.01 * g.offset) }
END
# By the tool that has built this, where `make` may be missing.
generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")
quietly cmake -G "${generator:-Unix Makefiles}" -S "$folder/project" -B "$folder/build" -DCMAKE_PREFIX_PATH="$folder/moved"
quietly cmake --build "$folder/build"
quietly "$folder/build/sum"
grep -q '^24.0, [0-9]' "$folder/output" || { cat "$folder/output"; fail "the program in C++"; }
quietly "$folder/build/fit" "$folder/fit.relay"
grep -q '^the line is Line(slope = 2.0000' "$folder/output" || { cat "$folder/output"; fail "the program in C"; }

# What it exports is what relay.h declares, and nothing else.
library=$(find "$folder/moved" -name librelay.so)
grep -oE '\brelay_[a-z_]+\(' include/relay.h | tr -d '(' | sort -u >"$folder/declared"
nm -D --defined-only "$library" | sed 's/.* //' | sort -u >"$folder/exported"
diff "$folder/declared" "$folder/exported" || fail "the library exports other functions than relay.h declares"
nm -D --undefined-only "$library" | grep -q ' _Znwm' || fail "the library has an operator new of its own"

[ -z "$python" ] && exit 0
packages=$(dirname "$(find "$folder/moved" -path '*/dist-packages/relay')"/x)
PYTHONPATH=$(dirname "$packages") quietly "$python" -c 'import relay; print(relay.eval("sum(ones([3, 4]))"))'
grep -qF '12.0 : float32' "$folder/output" || { cat "$folder/output"; fail "the Python package"; }
