"""Runs all cells of a notebook and compares what they show with what is stored in it.

    check.sh RELAY run_notebook.py NOTEBOOK.ipynb             compare
    check.sh RELAY run_notebook.py NOTEBOOK.ipynb --update    store what they show now, then read the diff

A cell with the tag `raises-exception` must fail, and no other may.
"""

import copy
import difflib
import json
import os
import sys

import nbformat
from nbclient import NotebookClient

PATIENCE = 60


def comparable(output):
    """Without what is another at each machine: the drawings of Graphviz, and whether it is there."""
    output = json.loads(json.dumps(output))
    data = output.get("data", {})
    if "graphviz" in data.get("image/svg+xml", "").lower():
        del data["image/svg+xml"]
    for key in ("execution_count", "metadata", "transient"):
        output.pop(key, None)
    return output


def merge_streams(outputs):
    """How a text comes in pieces is a matter of time."""
    merged = []
    for output in outputs:
        last = merged[-1] if merged else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def lines_of(outputs):
    return json.dumps([comparable(each) for each in outputs], indent=1, sort_keys=True, ensure_ascii=False).replace("\\n", "\n").splitlines()


def run(stored, folder):
    fresh = copy.deepcopy(stored)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    NotebookClient(fresh, timeout=PATIENCE, kernel_name="relay", allow_errors=True, resources={"metadata": {"path": folder}}).execute()
    for cell in fresh.cells:
        cell.metadata.pop("execution", None)  # at what time of day it ran
        if cell.cell_type == "code":
            cell.outputs = merge_streams(cell.outputs)
    return fresh


def main(path, *options):
    path = os.path.abspath(path)
    stored = nbformat.read(path, as_version=4)
    fresh = run(stored, os.path.dirname(path))
    if "--update" in options:
        nbformat.write(fresh, path)
        return 0
    wrong = 0
    for number, (old, new) in enumerate(zip(stored.cells, fresh.cells), 1):
        if old.cell_type != "code":
            continue
        failed = any(each.output_type == "error" for each in new.outputs)
        if failed != ("raises-exception" in old.metadata.get("tags", [])):
            print(f"cell {number} {'failed' if failed else 'did not fail'}:\n{old.source}")
            wrong += 1
        expected, found = lines_of(old.outputs), lines_of(new.outputs)
        if expected != found:
            print(f"cell {number}:\n{old.source}")
            print("\n".join(difflib.unified_diff(expected, found, "stored", "shown", lineterm="")))
            wrong += 1
    if wrong:
        print(f"update: tests/notebook/check.sh build/release/relay tests/notebook/run_notebook.py {os.path.relpath(path)} --update")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
