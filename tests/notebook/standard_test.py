"""What every kernel must do, by Jupyter's own tests of kernels."""

import unittest

import jupyter_kernel_test


class Standard(jupyter_kernel_test.KernelTests):
    kernel_name = "relay"
    language_name = "relay"
    file_extension = ".relay"
    code_hello_world = 'print(1, label="hello, world")'
    code_stderr = "def sum(x) { x }"  # hides a builtin, which is a warning
    completion_samples = [
        {"text": "nn.softm", "matches": {"nn.softmax"}},
        {"text": ":derivat", "matches": set()},
        {"text": ":expl", "matches": {":explain"}},
    ]
    complete_code_samples = ["1 + 2", "def f(x) { x * x }", ":ops soft", "let x = 3.0;", ""]
    incomplete_code_samples = ["def f(x) {", "sum([1.0,", "let x ="]
    invalid_code_samples = ["let 3 = x", "1 + )"]
    code_generate_error = "1 + [1.0, 2.0]("
    code_execute_result = [
        {"code": "1 + 2", "result": "3 : int32"},
        {"code": "[1.0, 2.0]", "mime": "text/html"},
        {"code": "1 + 2 * 3", "result": "7 : int32"},
    ]
    code_display_data = [
        {"code": "plot([1.0, 4.0, 9.0])", "mime": "image/svg+xml"},
        {"code": "def cube(x) { x * x * x }\n:grad cube", "mime": "text/html"},
    ]
    code_history_pattern = "*2 * 3"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "nn.softmax"

    def execute_helper(self, *arguments, **options):
        """Jupyter's, which waits for a tenth of a second where a machine that is busy takes longer."""
        channel = self.kc.iopub_channel
        get = channel.get_msg
        channel.get_msg = lambda timeout=None: get(timeout=jupyter_kernel_test.TIMEOUT)
        try:
            return super().execute_helper(*arguments, **options)
        finally:
            channel.get_msg = get


if __name__ == "__main__":
    unittest.main()
