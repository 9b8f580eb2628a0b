"""Puts the pages of the site together: copies of the project's own pages, each where it stands there, so that
their links hold; a page for each example; and the navigation, in the order in which a reader wants it.

    stage.py FOLDER
"""

import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The front page is the README. A page of docs/ that is missing here is a warning, with which the site does not build.
NAVIGATION = {
    "index": {
        "Begin": ["docs/tour", "examples/index"],
        "Learn": ["docs/tutorial/ad", "docs/notation", "docs/rules", "docs/derivatives"],
        "Use": ["docs/prompt", "docs/commands", "docs/errors", "docs/tools", "docs/schedules", "docs/byoc", "docs/quantization"],
        "Reach": ["docs/notebook", "docs/editors", "docs/importing", "docs/exporting", "docs/python", "docs/c", "docs/ahead"],
        "Look up": ["docs/operators/README", "docs/passes", "docs/analyses", "docs/importing_onnx", "docs/exporting_onnx", "docs/importing_nnvm", "docs/limits", "docs/reliability", "CHANGELOG"],
        "Change Relay": ["HACKING", "STYLE", "docs/architecture", "docs/adding-an-op", "tests/README", "bench/NOTES"],
    },
}
SINGLE = ["CHANGELOG", "HACKING", "STYLE", "tests/README", "bench/NOTES"]


def toctree(caption, pages):
    head = [f":caption: {caption}"] if caption else []
    return "\n".join(["", "```{toctree}", ":hidden:", *head, "", *pages, "```", ""])


def split_example(text):
    """The comment at the head of an example, as prose, and the program."""
    lines = text.splitlines()
    count = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    return " ".join(line[2:].strip() for line in lines[:count]), "\n".join(lines[count:]).strip()


def write_examples(target):
    folder = target / "examples"
    folder.mkdir()
    rows = []
    for path in sorted((ROOT / "examples").glob("*.relay")):
        prose, program = split_example(path.read_text())
        (folder / f"{path.stem}.md").write_text(
            f"# {path.name}\n\n{prose}\n\n`./dev run examples/{path.name}` runs it.\n\n```relay\n{program}\n```\n")
        rows.append(f"| [{path.name}]({path.stem}.md) | {prose.split('. ')[0].rstrip('.')} |")
    (folder / "index.md").write_text("# Examples\n\n| program | what it does |\n| --- | --- |\n" + "\n".join(rows) + "\n")
    return [path.stem for path in sorted((ROOT / "examples").glob("*.relay"))]


def main():
    target = pathlib.Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    shutil.copytree(ROOT / "docs", target / "docs")
    for name in SINGLE:
        (target / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / f"{name}.md", target / f"{name}.md")
    front = (ROOT / "README.md").read_text()
    (target / "index.md").write_text(front.replace("](examples)", "](examples/index.md)"))  # a folder is no page
    navigation = dict(NAVIGATION)
    navigation["examples/index"] = {None: write_examples(target)}
    operators = sorted(path.stem for path in (ROOT / "docs/operators").glob("*.md") if path.stem != "README")
    navigation["docs/operators/README"] = {None: operators}
    for page, groups in navigation.items():
        with open(target / f"{page}.md", "a") as file:
            file.writelines(toctree(caption, pages) for caption, pages in groups.items())


main()
