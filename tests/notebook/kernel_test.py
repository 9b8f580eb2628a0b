"""What Relay's kernel does with cells, and what an editor asks of it."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from kernel import Kernel, data, texts

ENDLESS = "def spin(n) { spin(n + 1) }\nprint(0)\nspin(0)"


def begin_endless(kernel):
    """A cell that runs for ever, once it has begun: an interrupt before that would be of nothing."""
    request = kernel.begin(ENDLESS)
    kernel.next_output(request)
    return request


class KernelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.kernel = Kernel(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.kernel.end()
        cls.folder.cleanup()

    def run_cell(self, code, **options):
        reply, outputs = self.kernel.run(code, **options)
        self.assertEqual(reply["status"], "ok", reply)
        return outputs

    def value_of(self, code):
        return data(self.run_cell(code), "execute_result")[-1]

    def error_of(self, code):
        reply, outputs = self.kernel.run(code)
        self.assertEqual(reply["status"], "error", outputs)
        errors = [content for kind, content in outputs if kind == "error"]
        self.assertEqual(len(errors), 1)
        self.assertEqual({**errors[0], "status": "error", "execution_count": reply["execution_count"]}, reply)
        return errors[0]

    # Values

    def test_values_of_all_expressions_in_order(self):
        outputs = self.run_cell("let a = 2\na * 3\n\n[a, a]; 7\nTrue")
        shown = [content["data"]["text/plain"] for _, content in outputs]
        self.assertEqual(shown, ["a : int32", "6 : int32", "7 : int32", "True : bool"])
        self.assertEqual([kind for kind, _ in outputs], ["display_data"] + ["execute_result"] * 3)

    def test_a_tensor_is_a_table_beside_its_text(self):
        value = self.value_of("[[1.5, 2.0], [3.0, -4.0]]")
        self.assertEqual(value["text/plain"], "[[ 1.5,  2.0],\n [ 3.0, -4.0]]\n: Tensor[(2, 2), float32]")
        cells = re.findall(r"<td[^>]*>([^<]*)</td>", value["text/html"])
        self.assertEqual(cells, ["1.5", "2.0", "3.0", "-4.0"])

    def test_types_of_definitions_in_a_row_stand_together(self):
        outputs = self.run_cell("let n1 = 1\nlet n2 = 2\nprint(n1)\nlet n3 = 3\nn3")
        self.assertEqual([kind for kind, _ in outputs], ["display_data", "stream", "display_data", "execute_result"])
        self.assertEqual(data(outputs, "display_data")[0]["text/plain"], "n1 : int32\nn2 : int32")

    def test_a_large_tensor_is_an_excerpt(self):
        value = self.value_of("for i < 1000, j < 1000 { i + j }")
        self.assertLess(len(value["text/html"]), 15000)
        self.assertIn(">…<", value["text/html"])
        self.assertIn(">1998<", value["text/html"])
        self.assertLess(len(value["text/plain"].splitlines()), 30)

    def test_a_number_is_only_text(self):
        self.assertEqual(self.value_of("sum([1.0, 2.0])"), {"text/plain": "3.0 : float32"})

    def test_records_are_tables_of_fields(self):
        value = self.value_of("type Point { Point { place: Tensor[(2), float32], name: int32 } }\nPoint(place=[1.0, 2.0], name=7)")
        self.assertIn(">place<", value["text/html"])
        self.assertIn("Point(place = [1.0, 2.0], name = 7) : Point", value["text/plain"])

    def test_not_finite_numbers_are_counted(self):
        value = self.value_of("[1.0, 0.0] / [0.0, 0.0]")
        self.assertIn("// 1 NaN, 1 Inf", value["text/plain"])

    def test_a_value_can_be_hidden(self):
        self.assertEqual(self.run_cell("()"), [])

    def test_the_last_value_has_its_name(self):
        self.run_cell("40 + 2")
        self.assertEqual(self.value_of("_ * 2")["text/plain"], "84 : int32")

    def test_a_silent_cell_shows_nothing(self):
        self.assertEqual(self.run_cell('1 + 1\nprint(3)\nplot([1.0, 2.0])', silent=True), [])

    def test_expressions_beside_a_cell(self):
        reply, _ = self.kernel.run("let q = 5", user_expressions={"twice": "q * 2", "wrong": "q + nothing"})
        self.assertEqual(reply["user_expressions"]["twice"]["data"]["text/plain"], "10")
        self.assertEqual(reply["user_expressions"]["wrong"]["ename"], "UnknownName")

    # Pictures and derivatives

    def test_plots_are_svg_beside_text(self):
        [shown] = data(self.run_cell('plot([1.0, 4.0, 9.0], title="squares")'), "display_data")
        self.assertTrue(shown["image/svg+xml"].startswith("<svg"))
        self.assertIn("squares", shown["image/svg+xml"])
        self.assertIn("┤", shown["text/plain"])

    def test_an_image_is_a_picture_in_points(self):
        [shown] = data(self.run_cell('plot(for i < 8, j < 8 { cast(i * j, dtype="float32") }, kind="image")'), "display_data")
        self.assertIn("data:image/png;base64,", shown["image/svg+xml"])

    def test_a_command_plots_too(self):
        [shown] = data(self.run_cell(":plot [1.0, 2.0]"), "display_data")
        self.assertIn("image/svg+xml", shown)

    def test_a_plot_stands_between_the_lines_that_are_printed(self):
        outputs = self.run_cell("print(1)\nplot([1.0, 2.0])\nprint(2)")
        self.assertEqual([kind for kind, _ in outputs], ["stream", "display_data", "stream"])

    def test_graphs(self):
        [shown] = data(self.run_cell("def g(x: float32) { x * sin(x) }\n:graph g"), "display_data")[1:]
        self.assertIn("multiply", shown["text/plain"])

    def test_derivatives_are_coloured(self):
        shown = data(self.run_cell("def cube(x) { x * x * x }\n:grad cube"), "display_data")[-1]
        self.assertEqual(shown["text/plain"], "fn (x: float32) -> float32 { 3.0 * (x * x) }")
        self.assertRegex(shown["text/html"], r"<span style=.color:[^>]*>3\.0</span>")

    def test_what_is_no_text_of_the_language_is_not_coloured(self):
        outputs = self.run_cell(":show loops for i < 3 { i * 2 }\n:show typed 1 + 2")
        self.assertEqual([kind for kind, _ in outputs], ["stream", "display_data"])

    def test_a_trace_is_a_table(self):
        [shown] = data(self.run_cell("def h(x: float32) { let y = x * x; y + 1.0 }\n:trace grad h(3.0)"), "display_data")[1:]
        rows = re.findall(r"<tr>(.*?)</tr>", shown["text/html"])
        cells = [[re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)] for row in rows]
        self.assertEqual(cells[0], ["source", "value", "adjoint"])
        self.assertIn(["y = x * x", "9.0", "1.0"], cells)

    # Errors

    def test_an_error_is_its_diagnostic(self):
        error = self.error_of("[1.0, 2.0] + [1.0, 2.0, 3.0]")
        self.assertEqual(error["ename"], "BroadcastMismatch")
        self.assertEqual(error["evalue"], "shapes `(2)` and `(3)` do not broadcast: axis 0 is 2 and 3")
        self.assertIn("\x1b[", error["traceback"][0])
        self.assertIn("^^^^^^^^^^   ^^^^^^^^^^^^^^^", re.sub(r"\x1b\[[0-9;]*m", "", error["traceback"][0]))

    def test_several_errors_are_counted(self):
        error = self.error_of("def wrong(x: float32) { (x + unknown_a) * unknown_b }")
        self.assertEqual(error["ename"], "UnknownName")
        self.assertGreater(len(error["traceback"]), 1)
        self.assertEqual(error["traceback"][-1], f"{len(error['traceback']) - 1} errors")

    def test_what_stands_behind_a_mistake_does_not_run(self):
        reply, outputs = self.kernel.run("let kept = 1\nkept + nothing\nlet lost = 2")
        self.assertEqual([kind for kind, _ in outputs], ["display_data", "error"])
        self.assertEqual(self.value_of("kept")["text/plain"], "1 : int32")
        self.assertEqual(self.error_of("lost")["ename"], "UnknownName")

    def test_a_mistake_inside_open_brackets_leaves_nothing_behind(self):
        self.error_of("def broken(x) {\n  let 3 = x;\n")
        self.assertEqual(self.value_of("1 + 1")["text/plain"], "2 : int32")

    def test_cells_that_wait_behind_a_mistake_are_given_up(self):
        first, second = begin_endless(self.kernel), self.kernel.begin("1 + 1")
        time.sleep(0.3)  # so that the second waits
        self.kernel.manager.interrupt_kernel()
        self.assertEqual(self.kernel.reply(first)["status"], "error")
        self.assertEqual(self.kernel.reply(second)["status"], "aborted")
        self.assertEqual(self.kernel.outputs(second), [])  # and it has an end, for which editors wait
        self.kernel.outputs(first)

    def test_questions_that_wait_behind_a_mistake_are_answered(self):
        first, question = begin_endless(self.kernel), self.kernel.client.complete("nn.softm", len("nn.softm"))
        time.sleep(0.3)  # so that the question waits
        self.kernel.manager.interrupt_kernel()
        self.assertEqual(self.kernel.reply(first)["status"], "error")
        self.assertEqual(self.kernel.reply(question)["matches"], ["nn.softmax"])
        self.assertEqual(self.kernel.outputs(first)[-1][0], "error")

    def test_run_time_errors(self):
        self.assertEqual(self.error_of("let v = [1, 2, 3]\nlet at = 7\nv[at]")["ename"], "IndexOutOfRange")

    def test_warnings_go_to_standard_error(self):
        self.assertIn("HiddenBuiltin", texts(self.run_cell("def mean(x) { x }"), "stderr"))
        self.run_cell(":forget mean")

    # Streams

    def test_text_comes_while_a_cell_runs(self):
        request = self.kernel.begin(f'print(1, label="before")\n{ENDLESS}')
        kind, content = self.kernel.next_output(request)
        self.assertEqual((kind, content["text"]), ("stream", "before 1\n"))
        self.kernel.manager.interrupt_kernel()
        self.assertEqual(self.kernel.reply(request)["ename"], "Interrupted")
        self.kernel.outputs(request)  # until then the next cell could count as one that waited

    def test_much_text_comes_whole_in_few_messages(self):
        outputs = self.run_cell("def count(i) { if i == 20000 { () } else { print(i); count(i + 1) } }\ncount(0)")
        self.assertEqual(texts(outputs), "".join(f"{i}\n" for i in range(20000)))
        self.assertLess(len(outputs), 1000)

    # Interrupts

    def check_interrupt(self, interrupt):
        request = begin_endless(self.kernel)
        began = time.monotonic()
        interrupt()
        reply = self.kernel.reply(request)
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual((reply["status"], reply["ename"]), ("error", "Interrupted"))
        self.kernel.outputs(request)  # until then the next cell could count as one that waited
        self.assertEqual(self.value_of("1 + 1")["text/plain"], "2 : int32")

    def test_a_request_interrupts_an_endless_loop(self):
        self.run_cell("let before_interrupt = 5")
        self.check_interrupt(self.kernel.manager.interrupt_kernel)
        self.assertEqual(self.value_of("before_interrupt")["text/plain"], "5 : int32")

    def test_a_signal_interrupts_too(self):
        process = self.kernel.manager.provisioner.process
        self.check_interrupt(lambda: process.send_signal(signal.SIGINT))

    def test_an_interrupt_of_nothing_meets_no_later_cell(self):
        process = self.kernel.manager.provisioner.process
        for _ in range(4):
            self.kernel.manager.interrupt_kernel()
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        self.assertEqual(self.value_of("2 + 2")["text/plain"], "4 : int32")

    # Questions

    def complete(self, code, at=None):
        content = self.kernel.reply(self.kernel.client.complete(code, len(code) if at is None else at))
        self.assertEqual(content["status"], "ok")
        return content

    def test_completions_replace_code_points(self):
        code = "let width = 3.0; // ∇ 🎲 größe\nwidt + 1"
        content = self.complete(code, len(code) - len(" + 1"))
        self.assertEqual(content["matches"], ["width"])
        self.assertEqual(code[content["cursor_start"]:content["cursor_end"]], "widt")

    def test_completion_of_a_word_in_the_middle(self):
        content = self.complete("let y = nn.softm(3.0)\ny", len("let y = nn.softm"))
        self.assertEqual(content["matches"], ["nn.softmax"])
        self.assertEqual((content["cursor_start"], content["cursor_end"]), (len("let y = "), len("let y = nn.softm")))

    def test_completions_say_what_they_are(self):
        content = self.complete("let width = 3.0;\nwidt")
        self.assertEqual(content["metadata"]["_jupyter_types_experimental"], [{"start": 17, "end": 21, "text": "width", "type": "", "signature": "float32"}])

    def test_completion_of_attributes_and_fields_of_the_same_cell(self):
        self.assertEqual(self.complete("nn.softmax(x, ax")["matches"], ["axis="])
        self.assertEqual(self.complete("type Pair { Pair { left: float32, right: float32 } }\nlet p = Pair(left=1.0, right=2.0)\np.")["matches"], ["left", "right"])

    def test_completion_of_a_command_below_entries(self):
        content = self.complete("let a = 1\n:forg")
        self.assertEqual(content["matches"], [":forget"])
        self.assertEqual(content["cursor_start"], len("let a = 1\n"))

    def inspect(self, code, at=None, detail=0):
        content = self.kernel.reply(self.kernel.client.inspect(code, len(code) if at is None else at, detail))
        return content["data"].get("text/plain", "") if content["found"] else None

    def test_inspection(self):
        self.run_cell("/// Twice as much.\ndef twice(x) { x + x }")
        self.assertIn("Twice as much.", self.inspect("twice"))
        self.assertIn("Twice as much.", self.inspect("// ∇∇∇\ntwice(3.0)", 8))
        self.assertIn("Twice as much.", self.inspect("twice(3.0", None))
        self.assertNotIn("gradient", self.inspect("twice"))
        self.assertIn("gradient", self.inspect("twice", detail=1))
        self.assertIn(":grad", self.inspect(":grad"))
        self.assertIsNone(self.inspect("no_such_name_anywhere"))

    def test_is_complete_with_an_indent(self):
        content = self.kernel.reply(self.kernel.client.is_complete("def f(x) {\n  let y = {"))
        self.assertEqual((content["status"], content["indent"]), ("incomplete", "    "))

    # Commands

    def test_commands_of_the_prompt(self):
        outputs = self.run_cell(":type fn (x: float32) { x }\n:ops softmax\n?nn.softmax\n:env")
        self.assertEqual(data(outputs, "display_data")[0]["text/plain"], "fn (float32) -> float32")
        self.assertIn("nn.log_softmax", texts(outputs))
        self.assertIn("nn.softmax(", texts(outputs))

    def test_what_needs_a_terminal_says_so(self):
        error = self.error_of(":edit f")
        self.assertEqual(error["ename"], "Unsupported")
        self.assertTrue(error["evalue"].startswith("not supported in a notebook: `:edit`"))
        self.assertEqual(self.value_of("3 + 4")["text/plain"], "7 : int32")

    def test_a_breakpoint_tells_and_goes_on(self):
        outputs = self.run_cell("def stops(x: float32) { let y = x + 1.0; y * 2.0 }\n:break stops\nstops(3.0)\n:break off")
        self.assertRegex(texts(outputs), r"stops(.|\n)*\(goes on: not supported in a notebook: to wait here\)\n")
        self.assertEqual(data(outputs, "execute_result")[0]["text/plain"], "8.0 : float32")

    def test_quit_asks_a_console_to_end(self):
        reply, _ = self.kernel.run(":quit")
        self.assertEqual(reply["payload"], [{"source": "ask_exit", "keepkernel": False}])
        self.assertEqual(self.value_of("1")["text/plain"], "1 : int32")

    def test_files_are_beside_the_notebook(self):
        self.run_cell('save([1.0, 2.0], path="v.npy")\n:save inputs.relay')
        self.assertTrue(os.path.exists(os.path.join(self.folder.name, "v.npy")))
        self.assertEqual(self.value_of('load(path="v.npy", shape=[2], dtype="float32")')["text/plain"], "[1.0, 2.0] : Tensor[(2), float32]")


class EndTest(unittest.TestCase):
    def test_shutdown_while_a_cell_runs(self):
        kernel = Kernel()
        pid = kernel.manager.provisioner.process.pid
        begin_endless(kernel)
        began = time.monotonic()
        kernel.client.stop_channels()
        kernel.manager.shutdown_kernel()
        self.assertFalse(is_running(pid))
        self.assertLess(time.monotonic() - began, 4)

    def test_a_kernel_ends_when_its_server_is_killed(self):
        code = "import kernel, time; print(kernel.Kernel().manager.provisioner.process.pid, flush=True); time.sleep(60)"
        server = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], cwd=os.path.dirname(__file__), stdout=subprocess.PIPE, text=True)
        with server.stdout:
            pid = int(server.stdout.readline())
        os.kill(pid, 0)
        server.kill()
        server.wait()
        for _ in range(100):
            if not is_running(pid):
                return
            time.sleep(0.1)
        self.fail("it still runs")


def is_running(pid):
    """And is no zombie that nobody has waited for."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    unittest.main()
