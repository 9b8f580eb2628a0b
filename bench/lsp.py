#!/usr/bin/env python3
"""How long the language server takes from a key to its diagnostics, for a file of 2,000 lines.

    bench/lsp.py [RELAY]      build/release/relay by default

The file has 250 functions that the other lines call. Told are the median and the most of the time from sending a change to
having its diagnostics, and the median of the processor time in it: changes in the body of one function, changes of a
definition on which all the others depend, and the whole file anew."""

import json
import os
import statistics
import subprocess
import sys
import time

URI = "file:///nowhere/bench.relay"


def program():
    lines = ["def base(x) = x * 2.0;"]
    for i in range(250):
        lines += [f"/// Layer {i}.",
                  f"def layer{i}(x, w, b) {{",
                  "  let y = nn.relu(nn.dense(x, w) + b);",
                  "  let z = nn.softmax(base(y)) + mean(y);",
                  "  z - max(z)",
                  "}",
                  f"let w{i} = ones(shape=[4, 4]);",
                  f"layer{i}(ones(shape=[2, 4]), w{i}, zeros(shape=[4]))"]
    return "\n".join(lines[:2000]) + "\n"


class Server:
    def __init__(self, relay):
        self.process = subprocess.Popen([relay, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.version = 0
        self.send("initialize", {"capabilities": {}}, 1)
        self.read()

    def send(self, method, params, number=None):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        content = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.process.stdin.flush()

    def read(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def seconds(self):
        with open(f"/proc/{self.process.pid}/schedstat") as file:
            return int(file.read().split()[0]) / 1e9

    def change(self, *changes):
        """The time until the diagnostics are there, that of the processor, and how many there are."""
        self.version += 1
        begun, used = time.perf_counter(), self.seconds()
        self.send("textDocument/didChange",
                  {"textDocument": {"uri": URI, "version": self.version}, "contentChanges": list(changes)})
        found = self.read()["params"]["diagnostics"]
        return time.perf_counter() - begun, self.seconds() - used, len(found)


def insertion(line, character, text):
    place = {"line": line, "character": character}
    return {"range": {"start": place, "end": place}, "text": text}


def tell(what, results):
    wall = [1000 * result[0] for result in results]
    cpu = [1000 * result[1] for result in results]
    print(f"{what:44} {statistics.median(wall):6.1f} ms, at most {max(wall):6.1f} ms; "
          f"processor {statistics.median(cpu):6.1f} ms; {results[-1][2]} diagnostics")


def main():
    server = Server(sys.argv[1] if len(sys.argv) > 1 else "build/release/relay")
    text = program()
    server.send("textDocument/didOpen",
                {"textDocument": {"uri": URI, "languageId": "relay", "version": 0, "text": text}})
    server.read()
    print(f"{text.count(chr(10))} lines, {os.getloadavg()[0]:.1f} running")
    tell("a key in the body of a function", [server.change(insertion(1001 + 8 * i, 10, " ")) for i in range(20)])
    tell("a key that makes an error", [server.change(insertion(1000 + 8 * i + 3, 10, "q")) for i in range(10)])
    tell("a key in what all functions call", [server.change(insertion(0, 16, " ")) for i in range(10)])
    tell("the whole file", [server.change({"text": text + "\n" * i}) for i in range(10)])
    server.process.stdin.close()


main()
