#!/bin/sh
# Makes a Debian package of a build, unpacks it, and runs what is there. Exit code 77: the tools to do
# that are not here.
#
#   tests/install/deb.sh BUILD JIT KERNELS VERSION
set -u
build=$1 jit=$2 kernels=$3 version=$4
for tool in cpack dpkg-deb dpkg-shlibdeps; do
  command -v "$tool" >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { printf 'FAILED: %s\n' "$*"; exit 1; }

cpack -G DEB --config "$build/CPackConfig.cmake" -B "$folder" >"$folder/output" 2>&1 ||
  { cat "$folder/output"; exit 1; }
package=$folder/relay_${version}_$(dpkg --print-architecture).deb
[ -f "$package" ] || fail "there is no $package"
needs=$(dpkg-deb --field "$package" Depends)
for wanted in libc6 libfmt9 $([ "$jit" = OFF ] || echo libllvm19) \
  $([ "$kernels" = OFF ] || echo libdnnl); do
  case $needs in
    *"$wanted"*) ;;
    *) fail "the package does not need $wanted, but $needs" ;;
  esac
done
# Parts that need other libraries are packages of their own.
for unwanted in protobuf onnx xeus zmq; do
  case $needs in *"$unwanted"*) fail "the package needs $unwanted" ;; esac
done
for part in kernel import; do
  [ -x "$build/relay-$part" ] || continue
  apart=$folder/relay-${part}_${version}_$(dpkg --print-architecture).deb
  [ -f "$apart" ] || fail "there is no $apart"
  dpkg-deb --contents "$apart" | grep -q "relay-$part$" || fail "$apart does not hold the part"
  case $(dpkg-deb --field "$apart" Depends) in
    *"relay (= $version)"*) ;;
    *) fail "$apart does not need relay" ;;
  esac
done
[ "$(dpkg-deb --field "$package" Version)" = "$version" ] || fail "the package has another version"
dpkg-deb --extract "$package" "$folder/root"
[ -s "$folder/root/usr/share/zsh/vendor-completions/_relay" ] || fail "no completions for Debian's zsh"
unset LD_LIBRARY_PATH
[ "$("$folder/root/usr/bin/relay" -e '1 + 1')" = "2 : int32" ] || fail "it does not run"
"$folder/root/usr/bin/relay" --version | tee "$folder/output"
[ "$jit" = OFF ] || grep -q 'LLVM 19' "$folder/output" || fail "it has no native code"
[ "$kernels" = OFF ] || grep -q 'oneDNN' "$folder/output" || fail "it has no library kernels"
