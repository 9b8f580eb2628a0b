"""Colours for Relay in the pages of the site: programs, and transcripts of the prompt.

The tokens are those of parser/tokens.cpp, as far as colours need them.
"""

import re

from pygments.lexer import RegexLexer, words
from pygments.token import (Comment, Generic, Keyword, Name, Number, Operator, Punctuation, String,
                            Text)

PROMPTS = ("relay> ", "  ...> ")


def shown_line(line, is_transcript):
    """A line of output as it is to be shown; None for a line of code."""
    if is_transcript:
        return None if line.startswith(PROMPTS) else line
    if match := re.match(r"// expect-error \S+ (\w+): ", line):
        return f"error[{match[1]}]: {line[match.end():]}"
    if match := re.match(r"// (expect: |\| ?)", line):
        return line[match.end():]
    return None


class RelayLexer(RegexLexer):
    """Relay; a text in which a line begins with `relay> ` is a transcript. What the tests expect in comments
    (tests/README.md) is shown as what the program shows."""

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
        is_transcript = any(line.startswith(PROMPTS[0]) for line in lines)
        end, code = 0, ""
        for line in [*lines, None]:  # None: the end
            at, end = end, end + len(line or "")
            shown = line and shown_line(line, is_transcript)
            if line and not shown and not is_transcript:
                code += line
                continue
            yield from self.tokens_of_code(at - len(code), code)
            code = ""
            if shown:
                is_trouble = re.match(r"(error|warning)\[", shown)
                yield at, Generic.Error if is_trouble else Generic.Output, shown
            elif line:
                length = len(PROMPTS[0])
                yield at, Generic.Prompt, line[:length]
                yield from self.tokens_of_code(at + length, line[length:])

    def tokens_of_code(self, at, code):
        for begin, token, part in super().get_tokens_unprocessed(code):
            yield at + begin, token, part
