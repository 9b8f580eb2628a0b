#!/bin/sh
# Installs a build into a folder of its own, moves that, and runs what is there.
#
#   tests/install/install.sh BUILD JIT KERNELS VERSION     JIT, KERNELS: ON or OFF, as the build is
set -u
build=$1 jit=$2 kernels=$3 version=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }
# expect WHAT TEXT COMMAND...: the command succeeds, and TEXT is in what it prints.
expect() {
  what=$1 text=$2
  shift 2
  if ! "$@" >"$folder/output" 2>&1; then
    fail "$what: exit code"
  elif ! grep -qF -- "$text" "$folder/output"; then
    fail "$what: no \`$text\`"
  else
    return 0
  fi
  cat "$folder/output"
}

cmake --install "$build" --prefix "$folder/first" >"$folder/output" 2>&1 ||
  { cat "$folder/output"; exit 1; }
# What is found is found from the program, and not where it was built or installed.
mv "$folder/first" "$folder/moved"
prefix=$folder/moved
unset LD_LIBRARY_PATH RELAY_PATH
export HOME="$folder" NO_COLOR=1
cd "$folder" || exit 1
relay=$prefix/bin/relay

expect "a version" "relay $version" "$relay" --version
expect "an answer" "2 : int32" "$relay" -e '1 + 1'
expect "an example" "List" "$relay" "$prefix/share/doc/relay/examples/02_lists.relay"
expect "the interpreter" "12.0" "$relay" --jit=off -e 'sum(ones([3, 4]))'
# Nothing large is loaded before it is needed.
LD_DEBUG=files "$relay" -e '1 + 1' 2>&1 | grep -E 'libLLVM|librelay|libdnnl' &&
  fail "a sum loads libraries"
if [ "$jit" = ON ]; then
  expect "LLVM's version" "LLVM 19" "$relay" --version
  expect "native code" "12.0" "$relay" --jit=always --stats -e 'sum(ones([3, 4]) * 1.0)'
  grep -qE '^kernels run natively +[1-9]' "$folder/output" ||
    { fail "no kernel was run natively"; cat "$folder/output"; }
  # The kernel has been kept in a file, from which it would come without a compiler.
  RELAY_CACHE=off LD_DEBUG=files "$relay" --jit=always -e 'sum(ones([3, 4]))' 2>&1 |
    grep -q "calling init: $folder/moved/.*/lib/relay/librelay_jit.so" ||
    fail "librelay_jit.so is not that of lib/relay"
fi
if [ "$kernels" = ON ]; then
  expect "the libraries' versions" "oneDNN" "$relay" --version
  LD_DEBUG=files "$relay" -e 'sum(nn.dense(ones([64, 64]), ones([64, 64])))' 2>&1 |
    grep -q "calling init: $folder/moved/.*/lib/relay/librelay_kernels.so" ||
    fail "librelay_kernels.so is not that of lib/relay"
fi
# Without them there is a Relay all the same, which says so.
rm -f "$prefix"/lib/relay/*.so
expect "what is absent" "native code:     absent" "$relay" --version
expect "what is absent" "library kernels: absent" "$relay" --version
expect "no native code" "262144" "$relay" --jit=always -e 'sum(nn.dense(ones([64, 64]), ones([64, 64])))'

for file in share/man/man1/relay.1 share/relay/stdlib/prelude.relay share/doc/relay/copyright \
  share/doc/relay/docs/notation.md share/bash-completion/completions/relay \
  share/zsh/site-functions/_relay share/fish/vendor_completions.d/relay.fish; do
  [ -s "$prefix/$file" ] || fail "$file is not installed"
done
[ $failures = 0 ]
