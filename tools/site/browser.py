"""A headless Chromium, spoken to through two pipes: opens pages, and tells what they say and what went wrong."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 30  # seconds


class Browser:
    """One tab. Use it in a `with`."""

    def __init__(self, program="chromium"):
        self.profile = tempfile.mkdtemp(prefix="relay-site-")
        to_browser, self.writes = os.pipe()
        self.reads, from_browser = os.pipe()

        def wire():  # the browser reads commands from 3 and writes answers to 4
            commands, answers = os.dup(to_browser), os.dup(from_browser)
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "--window-size=1280,900"],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest = b""
        self.last = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{part}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.writes)
        os.close(self.reads)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _message(self, end):
        while b"\0" not in self.rest:
            if not select.select([self.reads], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.reads, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writes, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._message(end)
            if answer.get("id") != self.last:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def open(self, url):
        """Opens a page, and waits until it is loaded."""
        self.events = []
        self.call("Page.navigate", url=url)
        end = time.monotonic() + PATIENCE
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message(end))

    def value(self, expression):
        """What a JavaScript expression gives on the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    def wait(self, expression):
        """Until the expression is true there. Is it?"""
        end = time.monotonic() + PATIENCE
        while not self.value(expression):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def troubles(self):
        """Errors in the console, and files that did not load, since the page was opened."""
        self.value("0")  # what is on its way comes before its answer
        found = []
        for event in self.events:
            method, what = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                details = what["exceptionDetails"]
                thrown = details.get("exception", {})
                found.append(f"exception: {thrown.get('description', thrown.get('value', details['text']))}")
            elif method == "Runtime.consoleAPICalled" and what["type"] == "error":
                found.append("console: " + " ".join(str(part.get("value", "?")) for part in what["args"]))
            elif method == "Log.entryAdded" and what["entry"]["level"] == "error":
                found.append(f"log: {what['entry']['text']} {what['entry'].get('url', '')}")
            elif method == "Network.loadingFailed":
                found.append(f"not loaded: {what['errorText']}")
        return found

    def picture(self, path):
        import base64
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
