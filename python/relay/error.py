"""What goes wrong in a program, or with a call of one."""


class Error(Exception):
    """A diagnostic. `str` of it is what a person sees, with the lines of the program.

    kind        "TypeMismatch", as docs/errors.md explains it
    message     one line
    diagnostic  the same as `str`
    file, line, column   where it is, from 1; "" and 0 if nowhere
    notes       such as "help: ..."
    next        the next error of the same call, or None
    """

    def __init__(self, kind, message, text, file, line, column, notes, next):
        super().__init__(text.rstrip("\n"))
        self.kind = kind
        self.message = message
        self.diagnostic = text.rstrip("\n")
        self.file = file
        self.line = line
        self.column = column
        self.notes = notes
        self.next = next
