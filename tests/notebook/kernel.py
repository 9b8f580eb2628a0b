"""A kernel that runs, and what comes of a cell, as a test wants to see it."""

import queue
import time

from jupyter_client.manager import start_new_kernel

PATIENCE = 30


class Kernel:
    def __init__(self, folder=None):
        options = {"cwd": folder} if folder else {}
        self.manager, self.client = start_new_kernel(kernel_name="relay", **options)

    def end(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def begin(self, code, **options):
        return self.client.execute(code, **options)

    def outputs(self, request):
        """All that is published for a request, up to its end."""
        found = []
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return found
            if kind not in ("status", "execute_input"):
                found.append((kind, content))
        raise TimeoutError(f"no end, but {found}")

    def next_output(self, request):
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") == request and message["msg_type"] not in ("status", "execute_input"):
                return message["msg_type"], message["content"]

    def reply(self, request):
        """The answer on the shell's channel."""
        while True:
            message = self.client.get_shell_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") == request:
                return message["content"]

    def run(self, code, **options):
        request = self.begin(code, **options)
        return self.reply(request), self.outputs(request)

    def is_quiet(self):
        """Does nothing come for a while?"""
        try:
            self.client.get_iopub_msg(timeout=0.2)
        except queue.Empty:
            return True
        return False


def texts(outputs, name="stdout"):
    return "".join(content["text"] for kind, content in outputs if kind == "stream" and content["name"] == name)


def data(outputs, kind):
    return [content["data"] for each, content in outputs if each == kind]
