#!/usr/bin/env python3
"""Relay as a tool of GradBench: answers its messages, a line of JSON each (CONTRIBUTING.md of github.com/gradbench/gradbench).

In a checkout of GradBench:
    ./gradbench run --eval "./gradbench repo eval gmm" --tool "python3 RELAY/bench/gradbench/tool.py"
Inputs go through files; the timings are of the evaluations alone, each run to its value. Relay compiles before the first one.
Usage: tool.py [--jit MODE] [--multithreaded]
"""
import argparse
import json
import math
import os
import shutil
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "race")]
from evaluations import BY_NAME  # noqa: E402
from messages import function_of, read, write  # noqa: E402
from racers import Relay, write_inputs  # noqa: E402
from sides import environment  # noqa: E402


def timings(name, seconds):
    return [{"name": name, "nanoseconds": round(each * 1e9)} for each in seconds]


class Tool:
    def __init__(self, folder, jit, threads):
        self.folder, self.jit, self.threads = folder, jit, threads

    def start(self, message):
        return {"tool": "relay"}

    def define(self, message):
        if message["module"] in BY_NAME:
            return {"success": True}
        return {"success": False, "error": f"there is no program for `{message['module']}`"}

    def evaluate(self, message):
        evaluation, asked = BY_NAME[message["module"]], message["input"]
        function = function_of(evaluation.name, message["function"], asked)
        options = asked if isinstance(asked, dict) else {}
        begin = time.perf_counter()
        inputs = self.folder / "inputs"
        shutil.rmtree(inputs, ignore_errors=True)
        write_inputs(read(evaluation.name, asked), inputs)
        side = Relay(self.folder, self.jit, self.threads)
        try:
            side.prepare(evaluation, inputs)
            arrays = side.arrays(function)
            prepared = time.perf_counter() - begin
            first = side.run(function, 1)[0]
            enough = math.ceil(options.get("min_seconds", 0) / max(first, 1e-7))
            runs = side.run(function, min(max(options.get("min_runs", 1), enough), 100_000) + 1)[1:]
        finally:
            side.close()
        output = write(evaluation.name, message["function"], arrays)
        return {"success": True, "output": output, "timings": timings("prepare", [prepared]) + timings("evaluate", runs)}

    def answer(self, message):
        known = {"start": self.start, "define": self.define, "evaluate": self.evaluate}
        try:
            return known[message["kind"]](message) if message["kind"] in known else {}
        except (Exception, SystemExit) as error:  # Relay's own message stands on standard error
            return {"success": False, "error": f"{type(error).__name__}: {error}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jit", default="always")
    parser.add_argument("--multithreaded", action="store_true", help="as many threads as the machine has processors")
    options = parser.parse_args()
    folder = environment("gradbench-")
    tool = Tool(folder, options.jit, os.cpu_count() if options.multithreaded else 1)
    try:
        for line in sys.stdin:
            message = json.loads(line)
            print(json.dumps({"id": message["id"]} | tool.answer(message)), flush=True)
    finally:
        shutil.rmtree(folder)


main()
