"""Runs the examples of a page, the lines with `>>>`, as doctest does; code fences end what is expected.

    page.py PAGE.md
"""

import doctest
import os
import re
import sys

path = sys.argv[1]
text = re.sub(r"(?m)^```.*$", "", open(path).read())
test = doctest.DocTestParser().get_doctest(text, {}, path, path, 0)
if not test.examples:
    sys.exit(f"{path} has no examples")
runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
runner.run(test)
sys.exit(1 if runner.summarize().failed else 0)
