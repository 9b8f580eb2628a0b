"""Runs the cells of a notebook in their order, as Jupyter does, and compares what they give with what the
notebook has kept. Needs nothing but Python.

    notebook.py NOTEBOOK.ipynb [--update]
"""

import ast
import contextlib
import io
import json
import sys

path = sys.argv[1]
notebook = json.load(open(path))


def run(source, names):
    """What a cell prints, and its last expression."""
    tree = ast.parse(source)
    shown = None
    printed = io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, path, "exec"), names)
        if last:
            shown = eval(compile(ast.Expression(last.value), path, "eval"), names)
    return printed.getvalue(), None if shown is None else repr(shown)


def outputs(printed, shown, count):
    made = []
    if printed:
        made.append({"name": "stdout", "output_type": "stream", "text": printed.splitlines(True)})
    if shown is not None:
        made.append({"data": {"text/plain": shown.splitlines(True)}, "execution_count": count, "metadata": {},
                     "output_type": "execute_result"})
    return made


names = {"__name__": "__main__"}
wrong = 0
cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
for count, cell in enumerate(cells, 1):
    found = outputs(*run("".join(cell["source"]), names), count)
    if "--update" in sys.argv:
        cell["outputs"], cell["execution_count"] = found, count
    elif found != cell["outputs"]:
        wrong += 1
        print(f"cell {count} gives\n{json.dumps(found, indent=1)}")
        print(f"and has kept\n{json.dumps(cell['outputs'], indent=1)}")
if "--update" in sys.argv:
    with open(path, "w") as file:
        json.dump(notebook, file, indent=1, ensure_ascii=False)
        file.write("\n")
sys.exit(1 if wrong or not cells else 0)
