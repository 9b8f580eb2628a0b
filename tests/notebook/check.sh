#!/bin/sh
# Runs a test in Python with the kernel of a notebook, which it tells a Jupyter with a folder of its own of.
# Skipped (77) where there is no Jupyter, or no kernel in this build.
#
#   tests/notebook/check.sh RELAY TEST.py [ARG...]
set -u
program=$(realpath "$1")
shift
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import jupyter_client, jupyter_kernel_test, nbclient, nbformat' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "${python-}" ]; then
  echo "skipped: no Python with jupyter_kernel_test and nbclient (Debian: python3-jupyter-kernel-test, python3-nbclient)"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export JUPYTER_DATA_DIR="$folder/data" JUPYTER_RUNTIME_DIR="$folder/run" JUPYTER_CONFIG_DIR="$folder/config"
export IPYTHONDIR="$folder/ipython" JUPYTER_PLATFORM_DIRS=1 RELAY_CACHE=off
"$program" kernel install >"$folder/said" 2>&1
status=$?
if [ $status = 2 ] && grep -q 'is not part of this build' "$folder/said"; then
  echo "skipped: $(cat "$folder/said")"
  exit 77
fi
[ $status = 0 ] || { cat "$folder/said"; exit 1; }
export RELAY="$program" PYTHONDONTWRITEBYTECODE=1
"$python" -W ignore "$@"
