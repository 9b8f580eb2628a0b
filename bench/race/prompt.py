"""Processes that answer line by line, and the prompt of Relay as one of them."""
import os
import select
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ANSWER_SECONDS = 120


class Child:
    """A process that answers each line with a line."""

    def __init__(self, command):
        self.process = subprocess.Popen([str(each) for each in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.name = Path(command[0]).name
        self.read = b""

    def send(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def answer(self):
        while b"\n" not in self.read:
            if not select.select([self.process.stdout], [], [], ANSWER_SECONDS)[0]:
                sys.exit(f"{self.name} does not answer")
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                sys.exit(f"{self.name} ended early")
            self.read += more
        line, self.read = self.read.split(b"\n", 1)
        return line.decode()

    def ask(self, line):
        self.send(line)
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Prompt:
    """Relay, on so many threads."""

    def __init__(self, threads, jit="always", options=()):
        self.child = Child([ROOT / "build" / "release" / "relay", f"--jit={jit}", f"--threads={threads}", *options])

    def enter(self, text):
        """What answers nothing: definitions, bindings, expressions that end in `;`."""
        self.child.send(text)

    def loaded(self, file):
        self.enter(f":load {file}")
        self.settle()

    def settle(self):
        """Waits until all that was entered is done, and passes over what it printed."""
        self.child.send("0")
        while not self.child.answer().startswith("0 :"):
            pass

    def asked(self, line):
        """What it prints; after an error, which stands on the terminal, that is nothing."""
        self.child.send(line)
        answer = self.child.ask("0")
        if answer.startswith("0 :"):
            sys.exit(f"relay has no answer to: {line}")
        self.child.answer()
        return answer

    def seconds(self, count, expression):
        """Those of so many runs."""
        return [float(each) for each in self.asked(f":seconds {count} {expression}").split()]

    def close(self):
        self.child.close()
