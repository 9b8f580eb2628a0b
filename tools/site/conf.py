"""Sphinx's settings for the site (./dev site)."""

import os
import pathlib
import posixpath
import re
import shutil
import sys

from docutils import nodes
from sphinx.util import logging

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from relay_lexer import RelayLexer  # noqa: E402

project = "Relay"
author = "the authors of Relay"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Relay"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_static_path = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")]
html_js_files = ["offline.js"]
html_css_files = ["site.css"]
pygments_style = "tango"
pygments_dark_style = "monokai"
myst_heading_anchors = 3
highlight_language = "text"

PAGE = re.compile(r"[\w/.-]+\.(md|relay)")


def link_named_pages(app, doctree, name):
    """A page that the text names in backticks, `docs/errors.md`, is a link to it."""
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        if not PAGE.fullmatch(text) or isinstance(literal.parent, nodes.reference):
            continue
        stem = text.rpartition(".")[0].replace("README", "index" if text == "README.md" else "README")
        for folder in ("", posixpath.dirname(name), "docs"):
            target = posixpath.normpath(posixpath.join(folder, stem))
            if target in app.env.found_docs:
                link = nodes.reference("", "", internal=True, refuri=app.builder.get_relative_uri(name, target))
                literal.replace_self(link)
                link += literal
                break
        else:
            if text.startswith("docs/"):
                logging.getLogger(__name__).warning("there is no page %s", text, location=literal)


def stand_alone(app, failure):
    """Debian's package of the theme expects a server: it asks for a style sheet of another package at `/javascript`, and
    its script imports another one, which a browser does not do for files."""
    if failure:
        return
    static = pathlib.Path(app.outdir, "_static")
    shutil.copy("/usr/share/javascript/normalize.css/normalize.css", static / "styles")
    styles = static / "styles/furo.css"
    styles.write_text(styles.read_text().replace("url(/javascript/normalize.css/", "url("))
    script, other = static / "scripts/furo.js", static / "scripts/gumshoe-patched.js"
    head = 'import Gumshoe from "./gumshoe-patched.js";'
    if head in script.read_text():
        script.write_text(other.read_text() + script.read_text().replace(head, ""))


def setup(app):
    app.add_lexer("relay", RelayLexer)
    app.connect("doctree-resolved", link_named_pages)
    app.connect("build-finished", stand_alone)
