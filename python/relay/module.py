"""Programs: what a file, or a text, defines."""

import atexit
import os
import sys
import threading
import weakref

from relay import _relay
from relay.data import Data, class_of, places_of


# Code that is still being compiled when the process ends would be in the way of LLVM's own end.
_engines = weakref.WeakSet()
atexit.register(lambda: [engine.close() for engine in list(_engines)])


def _print(text):
    sys.stdout.write(text)


class Module:
    """A program that has been run, with what it has defined as attributes: functions, values, and a
    class for each constructor of its data types.

    jit          "auto", "off" or "always"
    threads      of a loop; 0: as many as there are cores
    seconds      that a call may take; 0: any
    bytes        of memory that all values may take while a call runs; 0: a share of the machine's
    search_path  folders where imports are looked for
    code_cache   the folder where native code is kept for later; None: nowhere
    output       gets what the program prints; None: sys.stdout does
    """

    def __init__(self, name="<module>", *, jit="auto", threads=0, seconds=0.0, bytes=0, search_path=(), code_cache=None,
                 output=None):
        path = ":".join(os.fspath(folder) for folder in search_path)
        self._engine = _relay.Engine(jit, threads, seconds, bytes, path, os.fspath(code_cache or ""), output or _print)
        _engines.add(self._engine)
        self._classes = {}
        self._constructors = {}
        self._found = {}
        self._generation = 0
        self.__name__ = name

    def run(self, text, name="<text>"):
        """Runs items of the language; the value of the last expression among them, or None."""
        self._expect(str, "run", text)
        self._forget()
        return self._engine.run(name, text, self)

    def load(self, path):
        """Runs a file as `run` does a text."""
        self._expect((str, os.PathLike), "load", path)
        self._forget()
        return self._engine.load(os.fspath(path), self)

    def _forget(self):
        """What names stand for may change."""
        for name, found in self._found.items():
            if self.__dict__.get(name) is found:
                del self.__dict__[name]
        self._found.clear()
        self._constructors.clear()
        self._generation += 1

    def eval(self, text):
        """The value of one expression."""
        self._expect(str, "eval", text)
        return self._engine.eval(text, self)

    def _expect(self, kind, method, given):
        """A program may define what a method is called, too."""
        if isinstance(given, kind):
            return
        text = f"`{method}` of a program takes a {'file' if method == 'load' else 'text'}, and no `{type(given).__name__}`"
        if method in self._engine.names():
            text += f"; what the program defines by that name is `[{method!r}]` of it"
        raise TypeError(text)

    def interrupt(self):
        """Has the call that runs, in another thread, end with an Error."""
        self._engine.interrupt()

    def __getitem__(self, name):
        """What the program defines by that name, which may be that of a method, too."""
        if name not in self._engine.names():
            raise KeyError(f"{self.__name__} defines no {name!r}")
        if name not in self._found:
            self._found[name] = self._named(name)
        return self._found[name]

    def __contains__(self, name):
        return name in self._engine.names()

    __iter__ = None

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._engine.names():
            raise AttributeError(f"{self.__name__} defines no {name!r}")
        # A member of its own from now on: to come here for each call would take as long as the call.
        found = self.__dict__[name] = self[name]
        return found

    def _named(self, name):
        value = self._engine.get(name, self)
        if isinstance(value, _relay.Function) and value.constructor is not None:
            return self._class(value)
        if isinstance(value, Data) and not value._fields:
            return type(value)
        if isinstance(value, _relay.Function):
            value.__name__ = name
            value.__doc__ = self._engine.doc(name)
        return value

    def _constructor(self, name):
        """The constructor as a function, or its one value."""
        found = self._constructors.get(name)
        if found is None:
            found = self._constructors[name] = self._engine.value(name, self)
        return found

    def _class(self, value):
        """Of what a value of data, or a constructor, is."""
        name = value.constructor
        names = value.field_names
        found = self._classes.get(name)
        if found is None or found.__match_args__ != places_of(names):
            found = self._classes[name] = class_of(self, name, names)
        return found

    def __dir__(self):
        return sorted({*super().__dir__(), *self._engine.names()})

    def __repr__(self):
        return f"<Relay program {self.__name__!r}>"


def load(path, **options):
    """Runs a file; `options` are those of Module."""
    module = Module(os.fspath(path), **options)
    module.load(path)
    return module


def program(text, name="<program>", **options):
    """Runs a text; `options` are those of Module."""
    module = Module(name, **options)
    module.run(text, name)
    return module


_default = None
_making = threading.Lock()


def eval(text):
    """The value of an expression that needs no program."""
    global _default
    with _making:
        if _default is None:
            _default = Module("<eval>")
    return _default.eval(text)
