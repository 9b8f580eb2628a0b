#!/bin/sh
# The language server with a client that is not ours: tests/lsp/neovim.lua in Neovim, what it prints compared with
# tests/lsp/neovim.out. Skipped (77) where there is no Neovim.
#
#   tests/lsp/neovim.sh RELAY [--update]
command -v nvim >/dev/null || exit 77
cd "$(dirname "$0")/../.." || exit 2
export XDG_STATE_HOME="${TMPDIR:-/tmp}" XDG_DATA_HOME="${TMPDIR:-/tmp}"
actual=$(timeout 200 nvim --headless -u NONE -i NONE -n --cmd "let g:relay_path = '$1'" -c "luafile tests/lsp/neovim.lua" 2>&1)
if [ "${2-}" = --update ]; then
  printf '%s\n' "$actual" >tests/lsp/neovim.out
  exit 0
fi
printf '%s\n' "$actual" | diff -u tests/lsp/neovim.out - && exit 0
echo "update: $0 $1 --update"
exit 1
