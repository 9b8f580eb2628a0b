"""Colours for Relay in the pages of the site: programs, and transcripts of the prompt.

The tokens are those of parser/tokens.cpp, as far as colours need them.
"""

import re

from pygments.lexer import RegexLexer, words
from pygments.token import (Comment, Generic, Keyword, Name, Number, Operator, Punctuation, String,
                            Text)

PROMPTS = ("relay> ", "  ...> ")


class RelayLexer(RegexLexer):
    """Relay; a text in which a line begins with `relay> ` is a transcript."""

    name = "Relay"
    aliases = ["relay"]
    filenames = ["*.relay"]

    tokens = {
        "root": [
            (r"\s+", Text),
            (r"//[^\n]*", Comment.Single),
            (r"/\*(.|\n)*?\*/", Comment.Multiline),
            (r'"(\\.|[^"\\\n])*"', String),
            (r"^(:|\?)[a-z]+", Keyword.Pseudo),  # a command of the prompt
            (words(("let", "fn", "def", "if", "else", "type", "match", "extern", "free_var", "ref",
                    "ref_read", "ref_write", "for", "import", "with", "scatter"), prefix=r"\b",
                   suffix=r"\b"), Keyword),
            # `sum k < n { … }` is index notation, `sum(x)` a call.
            (r"\b(sum|prod|max|min|argmax|argmin|any|all)(?=[ ]+[a-z_])", Keyword),
            (r"\b(bool|bfloat16|u?int\d+|float\d+|Tensor)\b", Keyword.Type),
            (r"\b(True|False)\b", Keyword.Constant),
            (r"\d+(\.\d+)?([eE][+-]?\d+)?(bf16|[fiu]\d*)?", Number),
            (r"[%@]?[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", Name),
            (r"[()\[\]{},;:]", Punctuation),
            (r".", Operator),
        ]
    }

    def get_tokens_unprocessed(self, text, stack=("root",)):
        lines = text.splitlines(keepends=True)
        if not any(line.startswith(PROMPTS[0]) for line in lines):
            yield from super().get_tokens_unprocessed(text, stack)
            return
        at = 0
        for line in lines:
            length = len(PROMPTS[0])
            if line.startswith(PROMPTS):
                yield at, Generic.Prompt, line[:length]
                for begin, token, part in super().get_tokens_unprocessed(line[length:], stack):
                    yield at + length + begin, token, part
            else:
                is_trouble = re.match(r"(error|warning)\[", line)
                yield at, Generic.Error if is_trouble else Generic.Output, line
            at += len(line)
