#!/usr/bin/env python3
"""`relay -e '1 + 1'` as a whole process: the median of 21 runs after a warm-up, and whether it maps LLVM."""
import statistics
import subprocess
import time
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "build" / "release" / "relay"


def once():
    start = time.perf_counter()
    subprocess.run([str(PROGRAM), "-e", "1 + 1"], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


once()
seconds = [once() for _ in range(21)]
libraries = subprocess.run(["ldd", str(PROGRAM)], capture_output=True, text=True, check=True).stdout
print(f"relay -e '1 + 1': {statistics.median(seconds) * 1e3:.2f} ms (min {min(seconds) * 1e3:.2f}), "
      f"LLVM {'linked' if 'LLVM' in libraries else 'not linked'}")
