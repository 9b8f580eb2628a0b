#!/usr/bin/env python3
"""Evaluates the NumPy expressions of the table of cases and records the results.

Usage: ./dev oracle [FAMILY...]. Reads tests/oracle/cases/FAMILY.tsv, writes tests/oracle/recorded/FAMILY.json.

Inputs of a floating dtype are handed over as float64 with the values that they have in their dtype, so
that the record is the exact answer and not NumPy's own rounding. The result is given the dtype of
the row's first input where both are floats, or both integers; else it keeps NumPy's. The note
`dtype=NAME` says otherwise (`dtype=A,B` for the fields of a tuple).
"""
import importlib
import json
import math
import re
import sys
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
FLOATS = ("float16", "bfloat16", "float32", "float64")


def unit_numbers(count, leaf):
    return [math.fmod(0.137 + 0.6180339887 * (k + 1009 * leaf), 1.0) for k in range(count)]


def rounded(dtype, values):
    """float64 values as a float dtype has them, in float64."""
    values = np.asarray(values, np.float64)
    if dtype != "bfloat16":
        with np.errstate(over="ignore"):
            return values.astype(dtype).astype(np.float64)
    bits = values.view(np.uint64)
    kept = (bits + ((bits >> np.uint64(45)) & np.uint64(1)) + np.uint64((1 << 44) - 1)) >> np.uint64(45)
    return np.where(np.isfinite(values), (kept << np.uint64(45)).view(np.float64), values)


def reference_names():
    """What the modules reference*.py define, for the expressions."""
    names = {}
    for path in sorted(HERE.glob("reference*.py")):
        module = importlib.import_module(path.stem)
        names.update({name: value for name, value in vars(module).items() if not name.startswith("_")})
    return names


REFERENCE = reference_names()


class Inputs:
    """Reads one column of inputs; `dtype` becomes that of the first one."""
    TOKEN = re.compile(r" *(?:([()])|(\w+)\[([0-9,]*)\](?:=\{([^}]*)\}|:([^ )]*?)\.\.([^ )]*))?)")

    def __init__(self, text):
        self.dtype = None
        self.leaf = 0
        stack = [[]]
        at = 0
        while at < len(text):
            match = self.TOKEN.match(text, at)
            if not match:
                raise ValueError(f"an input expected at {text[at:]!r}")
            at = match.end()
            bracket, dtype, dims, data, low, high = match.groups()
            if bracket == "(":
                stack.append([])
            elif bracket == ")":
                fields = tuple(stack.pop())
                stack[-1].append(fields)
            else:
                stack[-1].append(self.tensor(dtype, dims, data, low, high))
        (self.values,) = stack

    def tensor(self, dtype, dims, data, low, high):
        shape = tuple(int(extent) for extent in dims.split(",") if extent)
        count = math.prod(shape)
        self.dtype = self.dtype or dtype
        is_float = dtype in FLOATS
        if data is not None:
            words = [word for word in data.split(",") if word]
            values = [float(word) if is_float else int(word) for word in words]
        else:
            low = float(low) if low else 0.2 if is_float else 0.0
            high = float(high) if high else 0.9 if is_float else 2.0 if dtype == "bool" else 10.0
            values = [low + (high - low) * unit for unit in unit_numbers(count, self.leaf)]
            if not is_float:
                values = [math.floor(value) for value in values]
        self.leaf += 1
        if len(values) != count:
            raise ValueError(f"{len(values)} elements given for {count}")
        if is_float:
            return rounded(dtype, values).reshape(shape)
        return np.array(values, dtype).reshape(shape)


def leaf_record(value, first, wanted):
    value = np.asarray(value)
    dtype = wanted or str(value.dtype)
    if not wanted and first:
        kind = np.dtype("float64" if first in FLOATS else first).kind
        both_integers = kind in "iu" and value.dtype.kind in "iu"
        if both_integers or (kind == "f" and value.dtype.kind == "f"):
            dtype = first
    if dtype in FLOATS:
        data = [number_text(x) for x in rounded(dtype, value).ravel().tolist()]
    else:
        data = [int(x) for x in value.astype(dtype).ravel().tolist()]
    return {"dtype": dtype, "shape": list(value.shape), "data": data}


def number_text(x):
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return x


def record_of(value, first, wanted):
    if isinstance(value, (tuple, list)):
        wanted = wanted + [None] * (len(value) - len(wanted))
        return {"tuple": [record_of(field, first, [name]) for field, name in zip(value, wanted)]}
    return leaf_record(value, first, wanted[0] if wanted else None)


def row_record(cells):
    inputs = Inputs("" if cells[1] == "-" else cells[1])
    notes = cells[4].split() if len(cells) > 4 else []
    wanted = [name for note in notes if note.startswith("dtype=") for name in note[6:].split(",")]
    names = dict(REFERENCE, np=np, math=math)
    names.update({chr(ord("a") + i): value for i, value in enumerate(inputs.values)})
    with np.errstate(all="ignore"):
        return record_of(eval(cells[3], names), inputs.dtype, wanted)


def record_file(path):
    records = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        key = " | ".join(cells)
        if key in records:
            sys.exit(f"{path}:{number}: this row is there twice")
        try:
            records[key] = row_record(cells)
        except Exception as error:  # whatever the expression raised is the answer
            sys.exit(f"{path}:{number}: {key}: {type(error).__name__}: {error}")
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in records.items()]
    (HERE / "recorded" / f"{path.stem}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return len(records)


def main():
    warnings.simplefilter("ignore")  # the mean of nothing is what a row asks for
    names = sys.argv[1:] or sorted(path.stem for path in (HERE / "cases").glob("*.tsv"))
    for name in names:
        count = record_file(HERE / "cases" / f"{name}.tsv")
        print(f"{name}: {count} rows")


if __name__ == "__main__":
    main()
