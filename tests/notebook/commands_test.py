"""All commands of the prompt work in a cell: what docs/commands.md shows of them is what a cell shows, as text."""

import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from kernel import Kernel

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")


def transcripts():
    """The blocks of the page, each a list of entries with the lines that follow them."""
    with open(os.path.join(ROOT, "docs", "commands.md")) as file:
        page = file.read()
    for block in re.findall(r"```relay\n(.*?)```", page, re.S):
        entries = []
        for line in block.splitlines():
            if line.startswith("relay> "):
                entries.append((line.removeprefix("relay> "), []))
            else:
                entries[-1][1].append(line)
        yield entries


def pattern(lines):
    """`…` is any text, and alone on its line any lines. All blocks run in one session, which counts its entries."""
    found = ""
    for line in lines:
        line = re.sub(r"<entry \d+>", "<entry>", line)
        found += r"(.*\n)*?" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + "\n"
    return found


def text_of(outputs):
    text = ""
    for kind, content in outputs:
        if kind == "stream":
            text += content["text"]
        elif kind == "error":
            text += re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(content["traceback"])) + "\n"
        else:
            text += content["data"]["text/plain"] + "\n"
    return re.sub(r"<entry \d+>", "<entry>", text).replace("(goes on: not supported in a notebook: to wait here)\n", "")


class CommandsTest(unittest.TestCase):
    def test_commands_as_their_page_shows_them(self):
        names = set()
        with tempfile.TemporaryDirectory() as folder:
            kernel = Kernel(folder)
            try:
                for entries in transcripts():
                    kernel.run(":break off\n:forget f")  # of the blocks before
                    for code, lines in entries:
                        names.add(code.split()[0])
                        text = text_of(kernel.run(code)[1])
                        with self.subTest(code=code):
                            self.assertRegex(text, f"\\A{pattern(lines)}\\Z")
            finally:
                kernel.end()
        self.assertGreater(len([name for name in names if name.startswith(":")]), 20)


if __name__ == "__main__":
    unittest.main()
