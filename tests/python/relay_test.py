"""The Python package: values both ways, derivatives, errors, threads, the interrupt, PyTorch."""

import copy
import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import weakref

import numpy as np

import relay

PROGRAM = """
/// A line.
type Line { Line { slope: float32, offset: float32 } }
type Shape { Circle(float32), Square(float32), Point }
/// How far points are from a line.
def loss[n](line: Line, x: Tensor[(n), float32], y: Tensor[(n), float32]) {
  let e = line.slope * x + line.offset - y;
  sum(e * e)
}
def square(x) { x * x }
def cubed(x: float64) { x * x * x }
def total(xs: List[float32]) { match xs { Nil => 0.0, Cons(x, rest) => x + total(rest) } }
def up(xs: List[float32]) { match xs { Nil => Nil, Cons(x, rest) => Cons(x + 1.0, up(rest)) } }
def area(s: Shape) { match s { Circle(r) => 3.0 * r * r, Square(a) => a * a, Point => 0.0 } }
def bigger(s: Shape) { match s { Circle(r) => Circle(r + 1.0), Square(a) => Square(a + 1.0), Point => Point } }
def swap(p) { (p.1, p.0) }
def twice(f, x) { f(f(x)) }
def adder(a: float32) { fn (b: float32) { a + b } }
def identity(x) { x }
def pick(x: Tensor[(3), float32], i: int32) { x[i] }
def forever(n: int32) -> int32 { forever(n + 1) }
def dense[n, k](x: Tensor[(n, k), float64], w: Tensor[(3, k), float64]) { tanh(nn.dense(x, w)) }
def halves(x: Tensor[(4), float64]) { (x[0:2] * 2.0, sum(x * x)) }
let weights = [1.0, 2.0];
"""


class Values(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.m = relay.program(PROGRAM)

    def test_numbers(self):
        self.assertEqual(repr(self.m.square(3)), "9 : int32")
        self.assertEqual(repr(self.m.square(1.5)), "2.25 : float32")
        self.assertEqual(repr(self.m.square(np.float64(1.5))), "2.25f64 : float64")
        self.assertEqual(repr(self.m.identity(True)), "True : bool")
        self.assertEqual(float(self.m.cubed(np.float64(2))), 8.0)
        self.assertEqual([10, 20][relay.eval("1")], 20)
        self.assertTrue(relay.eval("1 < 2"))
        self.assertEqual(repr(self.m.identity(3000000000)), "3000000000i64 : int64")
        self.assertEqual(repr(self.m.identity(1e300)), "1e+300f64 : float64")
        with self.assertRaises(OverflowError):
            self.m.identity(2**70)
        with self.assertRaisesRegex(OverflowError, "3000000000 is no int32"):
            relay.tensor(3000000000)
        self.assertEqual([self.m.identity(x).item() for x in [np.inf, -2**31, 2**31 - 1]], [np.inf, -2**31, 2**31 - 1])
        with self.assertRaisesRegex(TypeError, "a `str` is no value of Relay"):
            self.m.square("3")
        for kind in [relay.Tensor, relay.Function]:
            with self.assertRaisesRegex(TypeError, "is not made by its class"):
                kind.__new__(kind)

    def test_arrays_come_back_as_they_were(self):
        for dtype in ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                      "float32", "float64"]:
            for shape in [(), (0,), (3,), (2, 3), (2, 0, 3), (1, 2, 3, 4)]:
                given = (np.arange(np.prod(shape)).reshape(shape) % 2).astype(dtype)
                found = self.m.identity(given)
                self.assertEqual((found.dtype, found.shape), (dtype, shape))
                np.testing.assert_array_equal(found.numpy(), given)
                self.assertEqual(found.numpy().dtype, given.dtype)

    def test_strides(self):
        base = np.arange(24, dtype="float32").reshape(4, 6)
        for view in [base.T, base[::2, 1:5:3], base[::-1], base[:, ::-1], np.broadcast_to(base[0], (3, 6)),
                     base.astype(">f4"), np.asfortranarray(base), base.reshape(2, 2, 6)[:, 1]]:
            np.testing.assert_array_equal(self.m.square(view).numpy(), view * view)
        fields = np.zeros(3, dtype=[("a", "i1"), ("b", "f4")])  # elements that are not aligned
        fields["b"] = [1, 2, 3]
        np.testing.assert_array_equal(self.m.square(fields["b"]).numpy(), [1, 4, 9])
        for wrong in [np.array(["a"]), np.array([1j]), np.array([object()]), np.longdouble(1)]:
            with self.assertRaisesRegex(TypeError, "is no tensor of Relay"):
                self.m.square(wrong)

    def test_nothing_is_copied(self):
        given = np.arange(6, dtype="float32").reshape(2, 3).T
        found = self.m.identity(given).numpy()
        self.assertEqual(found.ctypes.data, given.ctypes.data)
        self.assertEqual(found.strides, given.strides)
        self.assertFalse(found.flags.writeable)
        result = self.m.square(given)
        self.assertEqual(result.numpy().ctypes.data, np.asarray(result).ctypes.data)
        self.assertEqual(np.from_dlpack(result).ctypes.data, result.numpy().ctypes.data)

    def test_memory_is_given_back(self):
        class Watched(np.ndarray):
            pass

        gone = []
        given = np.arange(3, dtype="float32").view(Watched)
        weakref.finalize(given, gone.append, True)
        result = self.m.identity(given)
        del given
        gc.collect()
        self.assertEqual(gone, [])
        array = result.numpy()
        del result
        gc.collect()
        self.assertEqual((gone, array.tolist()), ([], [0, 1, 2]))
        del array
        gc.collect()
        self.assertEqual(gone, [True])

    def test_operands_are_never_written_to(self):
        given = np.ones(1000, dtype="float32")
        chain = self.m.eval("fn (x: Tensor[(1000), float32]) { exp(x + 1.0) * 2.0 }")
        for _ in range(50):
            chain(given)
        self.assertTrue((given == 1).all())

    def test_tuples_and_lists(self):
        self.assertEqual([type(v).__name__ for v in self.m.swap((1, 2.5))], ["Tensor", "Tensor"])
        self.assertEqual([v.item() for v in self.m.swap((1, 2.5))], [2.5, 1])
        self.assertEqual(float(self.m.total([1.0, 2.0, 3.5])), 6.5)
        self.assertEqual(float(self.m.total([])), 0.0)
        self.assertEqual([float(v) for v in self.m.up([1.0, 2.0])], [2.0, 3.0])
        self.assertEqual(self.m.up([]), [])
        self.assertEqual(len(self.m.eval("Cons([1.0], Cons([2.0], Nil))")), 2)
        nested = self.m.identity([(1, [2.0]), (3, [4.0, 5.0])])
        self.assertEqual([(int(n), [float(v) for v in vs]) for n, vs in nested], [(1, [2.0]), (3, [4.0, 5.0])])

    def test_numbers_in_lists(self):
        for thing, text in [([1.0, 2.5], "[1.0, 2.5] : Tensor[(2), float32]"), ([[1], [2]], "[[1], [2]] : Tensor[(2, 1), int32]"),
                            ((True, False), "[True, False] : Tensor[(2), bool]"), ([], "[] : Tensor[(0), float32]"),
                            ([np.inf], "[inf] : Tensor[(1), float32]")]:
            self.assertEqual(" ".join(repr(relay.tensor(thing)).split()), text)
        for thing in [[2**40], [1e300]]:
            with self.assertRaisesRegex(OverflowError, "`dtype` says what they are"):
                relay.tensor(thing)
        with self.assertRaisesRegex(TypeError, "is no tensor"):
            relay.tensor(["a"])

    def test_numbers_are_shown_as_numbers(self):
        half = relay.eval("1.25")
        self.assertEqual((f"{half:.1f}", f"{half}", round(half), round(half, 1)), ("1.2", "1.25 : float32", 1, 1.2))
        self.assertEqual(f"{relay.eval('[1, 2]')}", "[1, 2] : Tensor[(2), int32]")

    def test_numbers_are_of_the_dtype_that_is_wanted(self):
        m = relay.program("def scale(x: Tensor[(2), float64], k: float64) { x * k }\ndef plus(x, y) { x + y }\n"
                          "def small(x: int8) { x }\ndef natural(x: uint64) { x }\ndef third(x: Tensor[(3), float64]) { x }")
        self.assertEqual(m.scale(np.ones(2), 0.1).numpy().tolist(), [0.1, 0.1])
        self.assertEqual(m.scale(np.ones(2), 3).numpy().tolist(), [3.0, 3.0])
        cases = [((np.ones(1), 0.1), "float64", 1.1), ((np.arange(1), 1), "int64", 1), ((np.ones(1, "float32"), 2), "float32", 3),
                 ((1, 2), "int32", 3), ((1.5, 2), "float32", 3.5), ((2, 1.5), "float32", 3.5)]
        for args, dtype, value in cases:
            result = m.plus(*args).numpy()
            self.assertEqual((result.dtype.name, result.ravel()[0]), (dtype, value))
        self.assertEqual([m.small(x).item() for x in [3, -128, 127]], [3, -128, 127])
        for call in [lambda: m.small(300), lambda: m.third(1.0), lambda: m.plus(np.arange(3), 0.5), lambda: m.small(0.5), lambda: m.natural(-1)]:
            with self.assertRaisesRegex(relay.Error, "Mismatch"):
                call()
        self.assertEqual((m.small(4).item(), m.natural(4).item()), (4, 4))

    def test_records(self):
        line = self.m.Line(1.0, offset=0.5)
        self.assertEqual(repr(line), "Line(slope=1.0, offset=0.5)")
        self.assertEqual(self.m.Line.__doc__, "A line.")
        x = np.array([1, 2, 3], dtype="float32")
        self.assertEqual(float(self.m.loss(line, x, 2 * x)), 8.75)
        same = self.m.identity(line)
        self.assertEqual(same, line)
        self.assertNotEqual(same, line.replace(slope=2.0))
        self.assertIs(type(same), self.m.Line)
        match same:
            case self.m.Line(slope, offset):
                self.assertEqual((float(slope), float(offset)), (1.0, 0.5))
        with self.assertRaisesRegex(TypeError, "Line has no field 'height'"):
            self.m.Line(height=1.0)
        with self.assertRaisesRegex(TypeError, "Line has 2 fields, not 1"):
            self.m.Line(1.0)
        with self.assertRaisesRegex(AttributeError, "Line has no field 'height'"):
            line.height
        self.assertEqual(repr(self.m.identity(self.m.Line(1, 2))), "Line(slope=1.0 : float32, offset=2.0 : float32)")
        with self.assertRaisesRegex(relay.Error, "DTypeMismatch|TypeMismatch"):
            self.m.identity(self.m.Line(np.int32(1), 2))

    def test_data(self):
        self.assertEqual(float(self.m.area(self.m.Circle(2.0))), 12.0)
        self.assertEqual(float(self.m.area(self.m.Point())), 0.0)
        self.assertEqual(repr(self.m.bigger(self.m.Square(2.0))), "Square(3.0 : float32)")
        match self.m.bigger(self.m.Circle(1.0)):
            case self.m.Square(a):
                self.fail(a)
            case self.m.Circle(r):
                self.assertEqual(float(r), 2.0)
        self.assertEqual(self.m.bigger(self.m.Point()), self.m.Point())

    def test_names(self):
        self.assertEqual(self.m.loss.__doc__, "How far points are from a line.")
        self.assertEqual(self.m.loss.__name__, "loss")
        self.assertIn("loss", dir(self.m))
        self.assertEqual(self.m.weights.tolist(), [1.0, 2.0])
        with self.assertRaisesRegex(AttributeError, "defines no 'lost'"):
            self.m.lost
        self.assertEqual(int(self.m.run("def more(x) { x + 1 }\nmore(2)")), 3)
        self.assertEqual(int(self.m.more(3)), 4)

    def test_copies_of_data(self):
        line = self.m.Line(1.0, offset=0.5)
        self.assertEqual(copy.copy(line), line)

    def test_redefinition(self):
        m = relay.program("type P { P { a: int32 } }\ntype Q { None1 }\ndef f(p: P) { p.a }")
        first, f = m.P, m.f
        self.assertEqual(int(f(m.P(3))), 3)
        m.run("def g(x) { x }")
        self.assertIs(m.P, first)
        m.run("type P { P { b: int32, c: int32 } }\ndef f(p: P) { p.b + p.c }")
        self.assertEqual(int(f(m.P(3, c=4))), 7)
        with self.assertRaises(TypeError):
            m.P(a=1)
        with self.assertRaisesRegex(TypeError, "P has been defined anew, with other fields"):
            f(first(3))

    def test_a_value_outlives_its_type(self):
        text = "type P { P { a: float32 } }\ndef made() { P(2.0) }\ndef f(p: P) { p.a }"
        m = relay.program(text)
        p, result = m.P(3.0), m.made()
        self.assertEqual([float(m.f(p)), float(m.f(result))], [3, 2])
        m.run(text)
        self.assertEqual([float(m.f(p)), float(m.f(result))], [3, 2])
        m.run("type P { P { a: Tensor[(3), float32] } }\ndef f(p: P) { p.a[2] }")
        for old in [p, result]:
            with self.assertRaisesRegex(relay.Error, "argument 1 of `P` must be"):
                m.f(old)
        self.assertEqual(float(m.f(m.P(np.ones(3, dtype="float32")))), 1)

    def test_functions_as_values(self):
        self.assertEqual(int(self.m.twice(self.m.square, 3)), 81)
        add = self.m.adder(1.0)
        self.assertEqual(float(add(2.0)), 3.0)
        self.assertEqual(float(self.m.twice(add, 2.0)), 4.0)

    def test_constructors_as_values(self):
        apply = self.m.eval("fn (f, x: float32) { f(x) }")
        self.assertEqual(apply(self.m.Circle, 2.0), self.m.Circle(2.0))
        other = relay.program("type Shape { Circle(float32) }")
        for foreign in [other.Circle, other.Circle(2.0)]:
            with self.assertRaisesRegex(relay.Error, "belongs to another engine"):
                self.m.twice(foreign, 2.0)

    def test_attributes(self):
        with self.assertRaisesRegex(TypeError, r"`axis` cannot be given by its name: .* f\(x, axis=...\)"):
            self.m.square(1.0, axis=0)
        first = self.m.eval("fn (x) { sum(x, axis=1) }")
        self.assertEqual(first(np.ones((2, 3), dtype="float32")).tolist(), [3, 3])

    def test_arithmetic_is_that_of_arrays(self):
        t = self.m.square(np.array([1, 2, 3], dtype="float32"))
        np.testing.assert_array_equal(t - 0.5 * t, [0.5, 2, 4.5])
        np.testing.assert_array_equal(np.ones(3) + t, [2, 5, 10])
        self.assertEqual((len(t), t[1], list(t), t.ndim), (3, 4, [1, 4, 9], 1))


class Programs(unittest.TestCase):
    def test_they_go_with_what_they_have_given(self):
        gone = []
        m = relay.program(PROGRAM)
        weakref.finalize(m, gone.append, True)
        self.assertEqual(int(m.square(3)), 9)
        point, line = m.Point(), m.Line(1.0, 2.0)
        m.area(point), m.identity(line), m.weights
        add = m.adder(1.0)
        del m, point, line
        gc.collect()
        self.assertEqual((gone, float(add(1.0))), ([], 2))
        del add
        gc.collect()
        self.assertEqual(gone, [True])


class Derivatives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.m = relay.program(PROGRAM)

    def test_closed_forms(self):
        two, one = np.float64(2), np.float64(1)
        self.assertEqual(float(relay.grad(self.m.cubed)(two)), 12)
        self.assertEqual(float(relay.grad(relay.grad(self.m.cubed))(two)), 12)
        self.assertEqual(float(relay.hessian(self.m.cubed)(two)), 12)
        self.assertEqual(float(relay.hvp(self.m.cubed)(two, two)), 24)
        value, along = relay.linearize(self.m.cubed)(two)
        self.assertEqual((float(value), float(along(1.0)), float(along(two))), (8, 12, 24))
        self.assertTrue(relay.check_grad(self.m.cubed)(two))
        self.assertEqual([float(v) for v in relay.value_and_grad(self.m.cubed)(two)], [8, 12])
        self.assertEqual([float(v) for v in relay.jvp(self.m.cubed)(two, one)], [8, 12])
        value, pullback = relay.vjp(self.m.cubed)(two)
        self.assertEqual((float(value), float(pullback(one))), (8, 12))
        x = np.array([1.0, 2.0])
        np.testing.assert_array_equal(relay.jacobian(self.m.square)(x).numpy(), np.diag(2 * x))
        with self.assertRaisesRegex(TypeError, "a `int` is no function of Relay"):
            relay.grad(3)

    def test_gradient_of_a_record(self):
        x = np.array([1, 2, 3], dtype="float32")
        line, gx, gy = relay.grad(self.m.loss)(self.m.Line(1.0, 0.5), x, 2 * x)
        self.assertEqual(line, self.m.Line(-22.0, -9.0))
        np.testing.assert_array_equal(gx, [-1, -3, -5])
        np.testing.assert_array_equal(gy, [1, 3, 5])


class Errors(unittest.TestCase):
    def test_what_it_says(self):
        with self.assertRaises(relay.Error) as caught:
            relay.program("let a = [1.0, 2.0]\na + [1.0, 2.0, 3.0]", "bad.relay")
        e = caught.exception
        self.assertEqual((e.kind, e.file, e.line, e.column), ("BroadcastMismatch", "bad.relay", 2, 1))
        self.assertEqual(e.message, "shapes `(2)` and `(3)` do not broadcast: axis 0 is 2 and 3")
        self.assertIn("2 | a + [1.0, 2.0, 3.0]", str(e))
        with self.assertRaises(relay.Error) as caught:
            relay.eval("nn.rellu(1.0)")
        self.assertEqual(caught.exception.notes, ["help: did you mean `nn.relu`?"])
        for call in [relay.eval, relay.program, relay.load, relay.Module().run]:
            with self.assertRaisesRegex(ValueError, "null character"):
                call("1\0 + 1")
        with self.assertRaises(relay.Error) as caught:
            relay.program("def f(x: int32) { x + 1.5 }\ndef g(x) { y }")
        self.assertEqual(caught.exception.next.kind, "UnknownName")

    def test_a_file_that_is_no_text(self):
        with tempfile.NamedTemporaryFile(suffix=".relay") as file:
            file.write(b"let y = \xff;\n")
            file.flush()
            with self.assertRaisesRegex(relay.Error, "SyntaxError"):
                relay.load(file.name)

    def test_at_run_time(self):
        m = relay.program(PROGRAM)
        with self.assertRaisesRegex(relay.Error, "IndexOutOfRange"):
            m.pick(np.ones(3, dtype="float32"), 5)
        self.assertEqual(float(m.pick(np.ones(3, dtype="float32"), 2)), 1.0)

    def test_limits(self):
        with self.assertRaises(relay.Error) as caught:
            relay.program(PROGRAM, seconds=0.05).forever(0)
        self.assertEqual(caught.exception.kind, "OutOfTime")
        with self.assertRaises(relay.Error) as caught:
            relay.program(PROGRAM, bytes=2**26).eval("ones([1000, 1000, 100])")
        self.assertEqual(caught.exception.kind, "OutOfMemory")
        with self.assertRaisesRegex(ValueError, '"auto", "off" or "always"'):
            relay.program("", jit="maybe")


class Threads(unittest.TestCase):
    def test_the_gil_is_released(self):
        m = relay.program(PROGRAM)
        kinds = []

        def run():
            try:
                m.forever(0)
            except relay.Error as error:
                kinds.append(error.kind)

        thread = threading.Thread(target=run)
        thread.start()
        time.sleep(0.1)
        self.assertTrue(thread.is_alive())
        m.interrupt()
        thread.join()
        self.assertEqual(kinds, ["Interrupted"])

    def test_one_program_from_several(self):
        m = relay.program(PROGRAM)
        wrong = []

        def run(k):
            for _ in range(200):
                x = np.full(3, k, dtype="float32")
                if m.square(x).tolist() != [k * k] * 3:
                    wrong.append(k)

        threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_interrupt_from_the_keyboard(self):
        m = relay.program(PROGRAM)
        for _ in range(2):
            timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                m.forever(0)
            timer.join()
        self.assertEqual(int(m.square(3)), 9)

    def test_interrupt_while_it_prints(self):
        def interrupted(text):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            relay.program("def go(n: int32) -> int32 { print(n); go(n + 1) }\ngo(0)", output=interrupted)

    def test_members_follow_their_names(self):
        m = relay.program("def f(x: float32) { x + 1.0 }\nlet n = 1.0")
        self.assertIs(m.f, m.f)
        self.assertEqual(m.f(1.0).item(), 2)
        m.n = 7
        m.run("def f(x: float32) { x + 2.0 }")
        self.assertEqual(m.f(1.0).item(), 3)
        self.assertEqual(m.n, 7)
        del m.n
        self.assertEqual(m.n.item(), 1)

    def test_names_while_a_text_runs(self):
        m = relay.program("def first(x) { x }")
        going = True

        def read():
            while going:
                dir(m)

        thread = threading.Thread(target=read)
        thread.start()
        for i in range(100):
            m.run(f"def a_function_with_quite_a_name_{i}(x) {{ x }}")
        going = False
        thread.join()
        self.assertIn("a_function_with_quite_a_name_99", dir(m))

    def test_output(self):
        seen = []
        relay.program("print(1 + 2)\nprint([1.0])", output=seen.append)
        self.assertEqual("".join(seen), "3\n[1.0]\n")
        code = "import relay; relay.program('print(5)'); print(6)"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout, "5\n6\n")


class Agreement(unittest.TestCase):
    """The examples give what the program `relay` prints for them."""

    def test_examples(self):
        program = os.path.join(os.path.dirname(relay.__file__), "..", "..", "relay")
        for name in ["01_iris", "02_lists", "03_second_derivatives", "04_digits", "07_newton", "08_ode",
                     "11_own_operators"]:
            path = f"examples/{name}.relay"
            seen = []
            m = relay.Module(path, output=seen.append)
            last = m.load(path)
            if "main" in dir(m) and last is None:
                m.main()
            printed = subprocess.run([program, path], capture_output=True, text=True, check=True).stdout
            with self.subTest(name):
                if isinstance(last, relay.Tensor):
                    self.assertTrue(printed.endswith(f"{last!r}\n"), (printed, last))
                else:
                    self.assertEqual("".join(seen), printed)


class Names(unittest.TestCase):
    def test_what_methods_are_called(self):
        m = relay.program("def run(x) { x + 1 }  def load(x: float32) { x * x }  def other(x) { x }")
        self.assertEqual([m["run"](3).item(), m["load"](3.0).item(), m["other"](2).item()], [4, 9, 2])
        self.assertIs(m["other"], m.other)
        self.assertIn("load", m)
        self.assertNotIn("eval", m)
        self.assertEqual(relay.grad(m["load"])(3.0).item(), 6)
        with self.assertRaisesRegex(TypeError, r"`run` of a program takes a text, and no `int`; .* `\['run'\]` of it"):
            m.run(3)
        with self.assertRaisesRegex(TypeError, r"`load` of a program takes a file, and no `float`; "):
            m.load(3.0)
        with self.assertRaisesRegex(TypeError, r"`eval` of a program takes a text, and no `int`$"):
            m.eval(3)
        with self.assertRaisesRegex(TypeError, r"`load` of every program; .* `\['load'\]` of it"):
            relay.grad(m.load)
        with self.assertRaisesRegex(KeyError, "defines no 'nothing'"):
            m["nothing"]
        with self.assertRaises(TypeError):
            iter(m)

    def test_errors_of_calls_have_no_text_of_ours(self):
        m = relay.program("def loss(w: Tensor[(2), float32], x: Tensor[(2), float32]) { sum(w * x) }  def id(x) { x }  def twice(x) { x + x }")
        calls = (lambda: m.loss(np.ones(2), np.ones(2)), lambda: m.loss(np.ones(2, "float32")), lambda: m.id(m.twice),
                 lambda: relay.grad(m.twice)(3))
        for call, words in zip(calls, ("argument `w` of `loss` must be", "`loss` takes 2 arguments", "cannot tell", "is not a float")):
            with self.assertRaisesRegex(relay.Error, words) as seen:
                call()
            self.assertNotIn("arg0", str(seen.exception))
            self.assertNotIn("-->", str(seen.exception))


class Torch(unittest.TestCase):
    def setUp(self):
        try:
            import torch
        except ImportError:
            self.skipTest("PyTorch is not installed")
        self.torch = torch
        self.m = relay.program(PROGRAM)

    def test_without_a_copy(self):
        given = self.torch.arange(6, dtype=self.torch.float32).reshape(2, 3)
        found = self.torch.from_dlpack(self.m.identity(given))
        self.assertEqual(found.data_ptr(), given.data_ptr())
        half = self.torch.tensor([1.5, -2.0], dtype=self.torch.bfloat16)
        self.assertEqual(self.torch.from_dlpack(self.m.square(half)).tolist(), [2.25, 4.0])
        with self.assertRaisesRegex(TypeError, "NumPy has no bfloat16"):
            self.m.square(half).numpy()
        self.assertEqual(self.m.identity(self.torch.tensor([True, False])).tolist(), [True, False])

    def test_all_that_pytorch_has(self):
        torch = self.torch
        for name in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bfloat16"):
            for shape in ((), (0,), (3,), (2, 3)):
                given = (torch.arange(6)[: torch.Size(shape).numel()].reshape(shape) % 2).to(getattr(torch, name))
                found = self.m.identity(given)
                self.assertEqual((found.dtype, found.shape), (name, tuple(shape)))
                self.assertEqual(found.tolist() if name != "bfloat16" else torch.from_dlpack(found).tolist(), given.tolist())
        base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
        turned = torch.complex(base, base).conj().imag
        views = (base.T, base[1:, ::2], base[2], base[:, 3], base[:1].expand(4, 6), base.flip(0), turned, torch._neg_view(base),
                 base.as_subclass(type("Own", (torch.Tensor,), {})), torch.nn.Parameter(base, requires_grad=False))
        for given in views:
            for found in (self.m.identity(given), self.m.identity(relay.tensor(given))):
                self.assertEqual(found.tolist(), given.tolist())
            self.assertEqual(relay.as_torch(self.m.identity)(given).tolist(), given.tolist())

    def test_what_pytorch_does_not_hand_out(self):
        ones = self.torch.ones(3, requires_grad=True)
        weights = self.torch.nn.Parameter(self.torch.ones(3))
        for given in (ones, weights):
            with self.assertRaisesRegex((BufferError, RuntimeError), "requires? grad"):
                self.m.identity(given)
        self.assertEqual(self.m.identity(ones.detach()).tolist(), [1, 1, 1])
        self.assertEqual(self.m.identity(weights.detach()).tolist(), [1, 1, 1])
        for given in (self.torch.ones(2, dtype=self.torch.complex64), self.torch.eye(2).to_sparse(),
                      self.torch.ones(2, device="meta")):
            with self.assertRaises((relay.Error, RuntimeError, BufferError)):
                self.m.identity(given)

    def test_arguments_are_given_back(self):
        given = self.torch.ones(3)
        with self.assertRaises(TypeError):
            self.m.identity(given, object())
        again = weakref.ref(given)
        self.m.identity(given)
        del given
        self.assertIsNone(again())

    def test_other_libraries(self):
        outer = self

        class Lent:
            def __dlpack__(self, stream=None):
                return outer.torch.ones(2).__dlpack__()

        for given in (Lent(), self.torch.ones(2), Lent()):
            self.assertEqual(self.m.identity(given).tolist(), [1, 1])

    def test_gradient(self):
        dense = relay.as_torch(self.m.dense)
        generator = self.torch.Generator().manual_seed(1)
        x = self.torch.randn(2, 4, dtype=self.torch.float64, generator=generator, requires_grad=True)
        w = self.torch.randn(3, 4, dtype=self.torch.float64, generator=generator, requires_grad=True)
        self.assertTrue(self.torch.autograd.gradcheck(dense, (x, w)))
        ours = self.torch.autograd.grad(dense(x, w).sum(), (x, w))
        theirs = self.torch.autograd.grad(self.torch.tanh(x @ w.T).sum(), (x, w))
        for a, b in zip(ours, theirs):
            self.torch.testing.assert_close(a, b)
        self.assertEqual(dense.__name__, "dense")
        once, = self.torch.autograd.grad((dense(x, w) ** 2).sum(), (x,), create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "once_differentiable"):
            once.sum().backward()

    def test_tuples(self):
        halves = relay.as_torch(self.m.halves)
        x = self.torch.arange(4, dtype=self.torch.float64, requires_grad=True)
        self.assertTrue(self.torch.autograd.gradcheck(halves, (x,)))
        part, whole = halves(x)
        self.assertFalse(halves(x.detach())[0].requires_grad)
        (part.sum() + whole).backward()
        self.assertEqual(x.grad.tolist(), [2, 4, 4, 6])


if __name__ == "__main__":
    unittest.main()
