/* The C interface: values in and out, functions, derivatives, errors, wrong calls. */
#include "check.h"

static const char* const kProgram =
    "/// A line.\n"
    "type Line { Line { slope: float32, offset: float32 } }\n"
    "type Shape { Circle(float32), Square(float32), Point }\n"
    "/// The distance from a line.\n"
    "def loss[n](line: Line, x: Tensor[(n), float32], y: Tensor[(n), float32]) {\n"
    "  let e = line.slope * x + line.offset - y;\n"
    "  sum(e * e)\n"
    "}\n"
    "def twice(f, x) { f(f(x)) }\n"
    "def square(x) { x * x }\n"
    "def scaled(x, factor=2.0) { x * factor }\n"
    "def adder(a) { fn (b) { a + b } }\n"
    "def add_to(a: float32) { fn (b: float32) { a + b } }\n"
    "def cubed(x: float32) { x * x * x }\n"
    "def pick(x: Tensor[(3), float32], i: int32) { x[i] }\n"
    "def area(s: Shape) { match s { Circle(r) => 3.0 * r * r, Square(a) => a * a, Point => 0.0 } "
    "}\n"
    "let weights = [1.0, 2.0, 3.0];\n";

static void test_texts(relay_engine* engine) {
  relay_value* value = NULL;
  GIVES(evaluated(engine, "1 + 1"), "2", "int32");
  GIVES(evaluated(engine, "(1.5, [True, False])"), "(1.5, [True, False])",
        "(float32, Tensor[(2), bool])");
  GIVES(evaluated(engine, "()"), "()", "()");
  GIVES(named(engine, "weights"), "[1.0, 2.0, 3.0]", "Tensor[(3), float32]");
  OK(relay_run(engine, "more", "let k = 3; k * 2; k * 5", &value));
  GIVES(value, "15", "int32");
  OK(relay_run(engine, NULL, "def later(x) { x }", &value));
  CHECK(value == NULL);
  const char* const names[] = {"Line",   "Circle",  "Square", "Point",  "loss",  "twice",
                               "square", "scaled",  "adder",  "add_to", "cubed", "pick",
                               "area",   "weights", "k",      "later",  NULL};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (names[i])
      CHECK_TEXT(relay_name(engine, i), names[i]);
    else
      CHECK(relay_name(engine, i) == NULL);
  }
  CHECK_TEXT(relay_doc(engine, "loss"), "The distance from a line.");
  CHECK_TEXT(relay_doc(engine, "square"), "");
}

static void test_lent_tensors(relay_engine* engine) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  const int64_t shape[2] = {2, 3};
  Lent lent;
  relay_value *value, *sum, *result;
  /* Taken over as it is, and given back once. */
  OK(relay_tensor_from_dlpack(lend(&lent, data, kFloat32, 2, shape, NULL), &value));
  CHECK(relay_tensor_view(value)->data == data);
  relay_value* function = named(engine, "square");
  GIVES(called(function, &value, 1), "[[1.0, 4.0, 9.0], [16.0, 25.0, 36.0]]",
        "Tensor[(2, 3), float32]");
  /* What would be done in place is not done in memory of others. */
  relay_value* identity = evaluated(engine, "fn (x: Tensor[(2, 3), float32]) { x }");
  result = called(identity, &value, 1);
  CHECK(relay_tensor_view(result)->data == data);
  relay_value_release(value);
  CHECK(lent.freed == 0);
  value = called(function, &result, 1);
  relay_value_release(result);
  CHECK(lent.freed == 1);
  relay_value_release(value);
  for (int i = 0; i < 6; ++i) CHECK(data[i] == (float)(i + 1));
  /* A program that holds it alone: in a reference, from which it is taken. */
  OK(relay_tensor_from_dlpack(lend(&lent, data, kFloat32, 2, shape, NULL), &value));
  relay_value* keep = evaluated(engine, "fn (x: Tensor[(2, 3), float32]) { ref(x) }");
  relay_value* reference = called(keep, &value, 1);
  relay_value_release(value);
  CHECK(relay_value_kind(reference) == RELAY_REFERENCE);
  relay_value* grow = evaluated(engine,
                                "fn (r: ref(Tensor[(2, 3), float32])) { let x = ref_read(r); "
                                "ref_write(r, zeros([2, 3])); x + 1.0 }");
  GIVES(called(grow, &reference, 1), "[[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]",
        "Tensor[(2, 3), float32]");
  relay_value_release(reference);
  CHECK(lent.freed == 1);
  for (int i = 0; i < 6; ++i) CHECK(data[i] == (float)(i + 1));
  relay_value_release(keep);
  relay_value_release(grow);
  /* Strides: a transposed matrix, every second element, a row that is repeated. */
  const int64_t turned[2] = {3, 2}, columns[2] = {1, 3};
  OK(relay_tensor_from_dlpack(lend(&lent, data, kFloat32, 2, turned, columns), &value));
  CHECK(relay_tensor_view(value)->data == data);
  CHECK(relay_tensor_view(value)->strides[1] == 3);
  GIVES(called(function, &value, 1), "[[1.0, 16.0], [4.0, 25.0], [9.0, 36.0]]",
        "Tensor[(3, 2), float32]");
  GIVES(value, "[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]", "Tensor[(3, 2), float32]");
  CHECK(lent.freed == 1);
  const int64_t repeated[2] = {0, 2};
  OK(relay_tensor_from_dlpack(lend(&lent, data, kFloat32, 2, shape, repeated), &value));
  GIVES(called(function, &value, 1), "[[1.0, 9.0, 25.0], [1.0, 9.0, 25.0]]",
        "Tensor[(2, 3), float32]");
  relay_value_release(value);
  CHECK(lent.freed == 1);
  /* Backwards: copied, and given back at once. */
  const int64_t backwards[2] = {3, -1};
  OK(relay_tensor_from_dlpack(lend(&lent, data + 2, kFloat32, 2, shape, backwards), &value));
  CHECK(lent.freed == 1);
  CHECK(relay_tensor_view(value)->data != data + 2);
  GIVES(value, "[[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]]", "Tensor[(2, 3), float32]");
  /* Not aligned; an offset. */
  char bytes[32];
  memcpy(bytes + 1, data, 24);
  OK(relay_tensor_from_dlpack(lend(&lent, bytes + 1, kFloat32, 2, shape, NULL), &value));
  CHECK(lent.freed == 1);
  GIVES(value, "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "Tensor[(2, 3), float32]");
  const int64_t two = 2, none = 0;
  lend(&lent, data, kFloat32, 1, &two, NULL)->dl_tensor.byte_offset = 8;
  OK(relay_tensor_from_dlpack(&lent.tensor, &value));
  GIVES(value, "[3.0, 4.0]", "Tensor[(2), float32]");
  /* Without a deleter, and without elements. */
  lend(&lent, data, kFloat32, 1, &two, NULL)->deleter = NULL;
  OK(relay_tensor_from_dlpack(&lent.tensor, &value));
  relay_value_release(value);
  OK(relay_tensor_from_dlpack(lend(&lent, NULL, kFloat32, 1, &none, NULL), &value));
  GIVES(value, "[]", "Tensor[(0), float32]");
  /* A value goes on as long as what was handed out of it. */
  DLManagedTensor* out;
  sum = evaluated(engine, "[1.0, 2.0] + 1.0");
  OK(relay_tensor_to_dlpack(sum, &out));
  CHECK(out->dl_tensor.data == relay_tensor_view(sum)->data);
  relay_value_release(sum);
  CHECK(((float*)out->dl_tensor.data)[1] == 3.0f);
  OK(relay_tensor_from_dlpack(out, &value));
  GIVES(value, "[2.0, 3.0]", "Tensor[(2), float32]");
  relay_value_release(function);
  relay_value_release(identity);
}

static void test_dtypes(relay_engine* engine) {
  static const struct {
    DLDataType dtype;
    const char* name;
    unsigned char bytes[16];
    const char* text;
  } kRows[] = {{{kDLBool, 8, 1}, "bool", {0, 2}, "[False, True]"},
               {{kDLInt, 8, 1}, "int8", {1, 255}, "[1, -1]"},
               {{kDLUInt, 8, 1}, "uint8", {1, 255}, "[1, 255]"},
               {{kDLInt, 16, 1}, "int16", {1, 0, 255, 255}, "[1, -1]"},
               {{kDLUInt, 16, 1}, "uint16", {1, 0, 255, 255}, "[1, 65535]"},
               {{kDLInt, 32, 1}, "int32", {1, 0, 0, 0, 2}, "[1, 2]"},
               {{kDLUInt, 32, 1}, "uint32", {1, 0, 0, 0, 2}, "[1, 2]"},
               {{kDLInt, 64, 1}, "int64", {1, 0, 0, 0, 0, 0, 0, 0, 2}, "[1, 2]"},
               {{kDLUInt, 64, 1}, "uint64", {1, 0, 0, 0, 0, 0, 0, 0, 2}, "[1, 2]"},
               {{kDLFloat, 16, 1}, "float16", {0, 0x3c, 0, 0xc0}, "[1.0, -2.0]"},
               {{kDLBfloat, 16, 1}, "bfloat16", {0x80, 0x3f, 0, 0xc0}, "[1.0, -2.0]"},
               {{kDLFloat, 32, 1}, "float32", {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}, "[1.0, -2.0]"},
               {{kDLFloat, 64, 1},
                "float64",
                {0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0},
                "[1.0, -2.0]"}};
  const int64_t two = 2;
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; ++i) {
    Lent lent;
    relay_value* value;
    char type[64];
    unsigned char bytes[16] __attribute__((aligned(8)));
    memcpy(bytes, kRows[i].bytes, 16);
    snprintf(type, sizeof type, "Tensor[(2), %s]", kRows[i].name);
    OK(relay_tensor_from_dlpack(lend(&lent, bytes, kRows[i].dtype, 1, &two, NULL), &value));
    const DLTensor* view = relay_tensor_view(value);
    CHECK(view->dtype.code == kRows[i].dtype.code && view->dtype.bits == kRows[i].dtype.bits);
    CHECK(memcmp((const char*)view->data + view->dtype.bits / 8, bytes + view->dtype.bits / 8,
                 view->dtype.bits / 8) == 0 ||
          kRows[i].dtype.code == kDLBool);
    GIVES(value, kRows[i].text, type);
  }
  float one = 1.5f;
  const DLTensor scalar = {&one, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
  relay_value* value;
  OK(relay_tensor_copy(&scalar, &value));
  CHECK(relay_tensor_view(value)->ndim == 0 && *(float*)relay_tensor_view(value)->data == 1.5f);
  GIVES(value, "1.5", "float32");
  OK(relay_float(0.1, &value));
  GIVES(value, "0.1", "float32");
  OK(relay_float(1e300, &value));
  GIVES(value, "1e+300f64", "float64");
  OK(relay_int(-3, &value));
  GIVES(value, "-3", "int32");
  OK(relay_int(3000000000, &value));
  GIVES(value, "3000000000i64", "int64");
  (void)engine;
}

static void test_functions(relay_engine* engine) {
  float xs[3] = {1, 2, 3}, ys[3] = {2, 4, 6};
  relay_value* args[3];
  relay_value *x = float_vector(xs, 3), *y = float_vector(ys, 3), *line, *result, *part;
  relay_value *slope = evaluated(engine, "1.0"), *offset = evaluated(engine, "0.5");
  relay_value* fields[2] = {slope, offset};
  OK(relay_construct(engine, "Line", fields, 2, &line));
  CHECK(relay_value_kind(line) == RELAY_DATA && relay_field_count(line) == 2);
  CHECK_TEXT(relay_constructor(line), "Line");
  CHECK_TEXT(relay_field_name(line, 1), "offset");
  CHECK(relay_field_name(line, 2) == NULL);
  OK(relay_field(line, 1, &part));
  GIVES(part, "0.5", "float32");
  args[0] = line, args[1] = x, args[2] = y;
  relay_value *loss = named(engine, "loss"), *grad, *both;
  CHECK_TEXT(relay_value_type(loss),
             "fn (Line, Tensor[(n), float32], Tensor[(n), float32]) -> float32");
  CHECK_TEXT(relay_value_text(loss), "<function>");
  /* e = x + 0.5 - 2x: -0.5, -1.5, -2.5 */
  GIVES(called(loss, args, 3), "8.75", "float32");
  OK(relay_grad(loss, &grad));
  GIVES(called(grad, args, 3),
        "(Line(slope = -22.0, offset = -9.0), [-1.0, -3.0, -5.0], [1.0, 3.0, 5.0])",
        "(Line, Tensor[(3), float32], Tensor[(3), float32])");
  OK(relay_value_and_grad(loss, &both));
  result = called(both, args, 3);
  CHECK(relay_value_kind(result) == RELAY_TUPLE && relay_field_count(result) == 2);
  OK(relay_field(result, 0, &part));
  GIVES(part, "8.75", "float32");
  relay_value_release(result);
  relay_value_release(both);
  relay_value_release(grad);
  relay_value_release(loss);
  /* Generic functions, each time at other types; default values. */
  relay_value *square = named(engine, "square"), *twice = named(engine, "twice");
  relay_value* three = evaluated(engine, "3");
  for (int i = 0; i < 2; ++i) {
    GIVES(called(square, &three, 1), "9", "int32");
    GIVES(called(square, &x, 1), "[1.0, 4.0, 9.0]", "Tensor[(3), float32]");
  }
  args[0] = square, args[1] = three;
  GIVES(called(twice, args, 2), "81", "int32");
  relay_value* scaled = named(engine, "scaled");
  GIVES(called(scaled, &x, 1), "[2.0, 4.0, 6.0]", "Tensor[(3), float32]");
  relay_value_release(scaled);
  /* Functions as values, whose types are settled or open. */
  relay_value *add_to = named(engine, "add_to"), *add_one = called(add_to, &slope, 1);
  CHECK(relay_value_kind(add_one) == RELAY_FUNCTION);
  GIVES(called(add_one, &offset, 1), "1.5", "float32");
  args[0] = add_one, args[1] = offset;
  GIVES(called(twice, args, 2), "2.5", "float32");
  OK(relay_grad(add_one, &grad));
  GIVES(called(grad, &offset, 1), "1.0", "float32");
  relay_value_release(grad);
  FAILS(relay_call(add_one, &three, 1, &result), "DTypeMismatch",
        "argument 1 of `__held1` must be `float32`, found `int32`");
  relay_value_release(add_one);
  relay_value_release(add_to);
  /* Derivatives of all kinds, and of derivatives. */
  relay_value *cubed = named(engine, "cubed"), *two = evaluated(engine, "2.0"), *more;
  args[0] = two, args[1] = slope;
  OK(relay_jvp(cubed, &grad));
  GIVES(called(grad, args, 2), "(8.0, 12.0)", "(float32, float32)");
  relay_value_release(grad);
  relay_error* (*maps[])(relay_value*, relay_value**) = {relay_vjp, relay_linearize};
  for (size_t i = 0; i < 2; ++i) { /* a value, and a linear map of one number */
    OK(maps[i](cubed, &grad));
    result = called(grad, args, 1);
    OK(relay_field(result, 1, &part));
    GIVES(called(part, &slope, 1), "12.0", "float32");
    relay_value_release(part);
    relay_value_release(result);
    relay_value_release(grad);
  }
  OK(relay_hvp(cubed, &grad));
  GIVES(called(grad, args, 2), "12.0", "float32");
  relay_value_release(grad);
  OK(relay_check_grad(cubed, &grad));
  GIVES(called(grad, args, 1), "True", "bool");
  relay_value_release(grad);
  OK(relay_hessian(cubed, &grad));
  GIVES(called(grad, args, 1), "12.0", "float32");
  relay_value_release(grad);
  OK(relay_grad(cubed, &grad));
  OK(relay_grad(grad, &more));
  GIVES(called(more, args, 1), "12.0", "float32");
  relay_value_release(more);
  relay_value_release(grad);
  OK(relay_jacobian(square, &grad));
  GIVES(called(grad, &x, 1), "[[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]",
        "Tensor[(3, 3), float32]");
  relay_value_release(grad);
  /* Data of several constructors; a list. */
  relay_value *area = named(engine, "area"), *shape;
  OK(relay_construct(engine, "Circle", &two, 1, &shape));
  GIVES(called(area, &shape, 1), "12.0", "float32");
  relay_value_release(shape);
  OK(relay_construct(engine, "Point", NULL, 0, &shape));
  CHECK_TEXT(relay_constructor(shape), "Point");
  GIVES(called(area, &shape, 1), "0.0", "float32");
  relay_value_release(shape);
  OK(relay_construct(engine, "Nil", NULL, 0, &shape));
  args[0] = two, args[1] = shape;
  OK(relay_construct(engine, "Cons", args, 2, &result));
  GIVES(result, "Cons(2.0, Nil)", "List[float32]");
  relay_value_release(shape);
  OK(relay_tuple(NULL, 0, &result));
  GIVES(result, "()", "()");
  args[0] = two, args[1] = x;
  OK(relay_tuple(args, 2, &result));
  GIVES(result, "(2.0, [1.0, 2.0, 3.0])", "(float32, Tensor[(3), float32])");
  relay_value* all[] = {x, y, line, slope, offset, square, twice, three, cubed, two, area};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) relay_value_release(all[i]);
}

static void test_errors(relay_engine* engine) {
  relay_value *value = (relay_value*)engine, *result;
  relay_error* error =
      relay_run(engine, "bad.relay", "let a = [1.0, 2.0]\na + [1.0, 2.0, 3.0]", &value);
  CHECK(value == NULL);
  CHECK_TEXT(relay_error_kind(error), "BroadcastMismatch");
  CHECK_TEXT(relay_error_message(error),
             "shapes `(2)` and `(3)` do not broadcast: axis 0 is 2 and 3");
  CHECK_TEXT(relay_error_file(error), "bad.relay");
  CHECK(relay_error_line(error) == 2 && relay_error_column(error) == 1);
  CHECK(strstr(relay_error_text(error), "2 | a + [1.0, 2.0, 3.0]") != NULL);
  CHECK(relay_error_next(error) == NULL);
  CHECK(relay_error_note(error, relay_error_note_count(error)) == NULL);
  relay_error_free(error);
  error = relay_run(engine, NULL, "def f(x: int32) { x + 1.5 }\ndef g(x) { y }\n", NULL);
  CHECK(relay_error_next(error) != NULL);
  CHECK(relay_error_next(relay_error_next(error)) == NULL);
  relay_error_free(error);
  error = relay_eval(engine, "1 +", &value);
  CHECK_TEXT(relay_error_kind(error), "SyntaxError");
  relay_error_free(error);
  error = relay_eval(engine, "nn.rellu(1.0)", &value);
  CHECK_TEXT(relay_error_note(error, 0), "help: did you mean `nn.relu`?");
  relay_error_free(error);
  error = relay_load(engine, "nowhere.relay", NULL);
  CHECK_TEXT(relay_error_kind(error), "FileError");
  relay_error_free(error);
  /* At run time, in a function; the engine goes on. */
  float xs[3] = {1, 2, 3};
  relay_value *pick = named(engine, "pick"),
              *args[2] = {float_vector(xs, 3), evaluated(engine, "5")};
  for (int i = 0; i < 2; ++i) {
    error = relay_call(pick, args, 2, &result);
    CHECK(error && result == NULL);
    CHECK_TEXT(relay_error_kind(error), "IndexOutOfRange");
    CHECK_TEXT(relay_error_file(error), "program.relay");
    relay_error_free(error);
  }
  FAILS(relay_call(pick, args, 1, &result), "WrongArity", "`pick` takes 2 arguments, found 1");
  relay_value_release(args[1]);
  args[1] = evaluated(engine, "2");
  GIVES(called(pick, args, 2), "3.0", "float32");
  relay_value_release(args[0]);
  relay_value_release(args[1]);
  relay_value_release(pick);
}

static void test_wrong_calls(relay_engine* engine) {
  relay_value *value, *two = evaluated(engine, "2"), *none = NULL;
  relay_engine* other;
  FAILS(relay_engine_new(NULL, NULL), "BadArgument", "relay_engine_new: `engine` is NULL");
  relay_options options;
  relay_options_init(&options);
  options.version = 99;
  FAILS(relay_engine_new(&options, &other), "BadArgument",
        "relay_engine_new: the options are not of this version; relay_options_init() sets them");
  CHECK(other == NULL);
  relay_options_init(&options);
  options.threads = -1;
  FAILS(relay_engine_new(&options, &other), "BadArgument",
        "relay_engine_new: an option is out of range");
  FAILS(relay_eval(NULL, "1", &value), "BadArgument", "relay_eval: `engine` is NULL");
  FAILS(relay_eval(engine, NULL, &value), "BadArgument", "relay_eval: `text` is NULL");
  FAILS(relay_eval(engine, "1", NULL), "BadArgument", "relay_eval: `value` is NULL");
  FAILS(relay_run(NULL, NULL, "1", NULL), "BadArgument", "relay_run: `engine` is NULL");
  FAILS(relay_load(engine, NULL, NULL), "BadArgument", "relay_load: `path` is NULL");
  FAILS(relay_get(engine, NULL, &value), "BadArgument", "relay_get: `name` is NULL");
  FAILS(relay_call(NULL, NULL, 0, &value), "BadArgument", "relay_call: `function` is NULL");
  FAILS(relay_call(two, NULL, 0, &value), "BadArgument", "relay_call: the value is no function");
  FAILS(relay_grad(two, &value), "BadArgument", "relay_grad: the value is no function");
  FAILS(relay_grad(NULL, &value), "BadArgument", "relay_grad: `function` is NULL");
  FAILS(relay_construct(engine, "square", &two, 1, &value), "BadArgument",
        "relay_construct: `square` is no constructor");
  FAILS(relay_construct(engine, "Circle", NULL, 1, &value), "BadArgument",
        "relay_construct: `fields` is NULL");
  FAILS(relay_field(two, 0, &value), "BadArgument",
        "relay_field: there are 0 fields, and no field 0");
  FAILS(relay_tuple(&none, 1, &value), "BadArgument", "relay_tuple: field 0 is NULL");
  relay_value* square = named(engine, "square");
  FAILS(relay_call(square, NULL, 1, &value), "BadArgument", "relay_call: `args` is NULL");
  FAILS(relay_call(square, &none, 1, &value), "BadArgument", "relay_call: argument 0 is NULL");
  FAILS(relay_call(square, &two, 1, NULL), "BadArgument", "relay_call: `result` is NULL");
  FAILS(relay_tuple(&square, 1, &value), "BadArgument",
        "relay_tuple: field 0 is a function whose types are open: only calls settle them");
  /* Tensors that are none. */
  Lent lent;
  float data[2] = {1, 2};
  const int64_t shape = 2, negative = -2, huge[2] = {INT64_MAX, 4};
  FAILS(relay_tensor_from_dlpack(NULL, &value), "BadArgument",
        "relay_tensor_from_dlpack: `tensor` is NULL");
  lend(&lent, data, kFloat32, 1, &shape, NULL)->dl_tensor.device.device_type = (DLDeviceType)2;
  FAILS(relay_tensor_from_dlpack(&lent.tensor, &value), "BadArgument",
        "relay_tensor_from_dlpack: the tensor is on a device of the type 2, and Relay computes on "
        "the processor (kDLCPU, 1)");
  FAILS(relay_tensor_from_dlpack(lend(&lent, data, (DLDataType){kDLFloat, 8, 1}, 1, &shape, NULL),
                                 &value),
        "BadArgument",
        "relay_tensor_from_dlpack: there is no dtype with code 2, 8 bits and 1 lanes");
  FAILS(relay_tensor_from_dlpack(lend(&lent, data, (DLDataType){kDLFloat, 32, 4}, 1, &shape, NULL),
                                 &value),
        "BadArgument",
        "relay_tensor_from_dlpack: there is no dtype with code 2, 32 bits and 4 lanes");
  FAILS(
      relay_tensor_from_dlpack(lend(&lent, data, (DLDataType){5, 64, 1}, 1, &shape, NULL), &value),
      "BadArgument",
      "relay_tensor_from_dlpack: there is no dtype with code 5, 64 bits and 1 lanes");
  FAILS(relay_tensor_from_dlpack(lend(&lent, data, kFloat32, 1, &negative, NULL), &value),
        "BadArgument", "relay_tensor_from_dlpack: an extent is -2");
  FAILS(relay_tensor_from_dlpack(lend(&lent, data, kFloat32, 2, huge, NULL), &value), "BadArgument",
        "relay_tensor_from_dlpack: the tensor is larger than any memory");
  FAILS(relay_tensor_from_dlpack(lend(&lent, NULL, kFloat32, 1, &shape, NULL), &value),
        "BadArgument", "relay_tensor_from_dlpack: `data` is NULL");
  CHECK(lent.freed == 0 && value == NULL);
  CHECK(relay_tensor_view(square) == NULL);
  DLManagedTensor* out;
  FAILS(relay_tensor_to_dlpack(square, &out), "BadArgument",
        "relay_tensor_to_dlpack: the value is no tensor");
  /* Engines do not share what has types of their own. */
  OK(relay_engine_new(NULL, &other));
  OK(relay_run(other, NULL,
               "type Line { Line { slope: float32, offset: float32 } }\ndef id(x) { x }", NULL));
  relay_value *foreign = evaluated(other, "Line(1.0, 2.0)"), *id = named(other, "id"), *shared;
  FAILS(relay_call(square, &foreign, 1, &value), "BadArgument",
        "relay_call: argument 0 belongs to another engine: only tensors and tuples of them may be "
        "shared");
  shared = evaluated(other, "([1.0], 2)");
  relay_value* first;
  OK(relay_field(shared, 0, &first));
  GIVES(called(square, &first, 1), "[1.0]", "Tensor[(1), float32]");
  relay_value_release(first);
  relay_value_release(shared);
  /* An engine that is gone. */
  relay_engine_free(other);
  FAILS(relay_call(id, &two, 1, &value), "BadArgument", "the engine has been freed");
  CHECK_TEXT(relay_value_text(foreign), "Line(slope = 1.0, offset = 2.0)");
  relay_value_release(foreign);
  relay_value_release(id);
  relay_value_release(two);
  relay_value_release(square);
  relay_engine_free(NULL);
  relay_value_release(NULL);
  relay_error_free(NULL);
  relay_interrupt(NULL);
  CHECK(relay_interrupt_any() == 0);
}

/* What is printed comes by the callback, which may not call back. */
typedef struct {
  relay_engine* engine;
  char text[64];
  relay_error* error;
} Printed;
static void see(void* context, const char* text, size_t size) {
  Printed* printed = context;
  relay_value* value;
  snprintf(printed->text, sizeof printed->text, "%.*s", (int)size, text);
  printed->error = relay_eval(printed->engine, "1", &value);
}

static void test_printing(void) {
  Printed printed = {0};
  relay_options options;
  relay_options_init(&options);
  options.write = see;
  options.context = &printed;
  OK(relay_engine_new(&options, &printed.engine));
  OK(relay_run(printed.engine, NULL, "print(1 + 2)", NULL));
  CHECK_TEXT(printed.text, "3\n");
  FAILS(printed.error, "Busy", "a function that the library calls has called the library");
  relay_engine_free(printed.engine);
}

static void test_limits(void) {
  relay_options options;
  relay_engine* engine;
  relay_options_init(&options);
  options.seconds = 0.05;
  OK(relay_engine_new(&options, &engine));
  relay_value* value;
  OK(relay_run(engine, NULL, "def forever(n: int32) -> int32 { forever(n + 1) }", NULL));
  FAILS(relay_eval(engine, "forever(0)", &value), "OutOfTime",
        "the time that a run may take is used up");
  GIVES(evaluated(engine, "1 + 1"), "2", "int32");
  relay_engine_free(engine);
  relay_options_init(&options);
  options.bytes = 64u << 20;
  OK(relay_engine_new(&options, &engine));
  relay_error* error = relay_eval(engine, "ones([1000, 1000, 100])", &value);
  CHECK_TEXT(relay_error_kind(error), "OutOfMemory");
  relay_error_free(error);
  GIVES(evaluated(engine, "sum(ones([10, 10]))"), "100.0", "float32");
  relay_engine_free(engine);
}

/* A function is what its name stands for when it is called. */
static void test_redefinition(relay_engine* engine) {
  OK(relay_run(engine, NULL, "def changing(x) { x + 1 }", NULL));
  relay_value *function = named(engine, "changing"), *one = evaluated(engine, "1");
  GIVES(called(function, &one, 1), "2", "int32");
  OK(relay_run(engine, NULL, "def changing(x) { x + 10 }", NULL));
  GIVES(called(function, &one, 1), "11", "int32");
  relay_value_release(function);
  relay_value_release(one);
  /* A value of a type that has been defined anew is none of the new one. */
  OK(relay_run(engine, NULL,
               "type Pair { Pair { a: float32 } }\ndef pair() { Pair(1.0) }\n"
               "def last(p: Pair) { p.a }",
               NULL));
  function = named(engine, "pair");
  relay_value *pair = called(function, NULL, 0), *both, *result;
  relay_value_release(function);
  function = named(engine, "last");
  GIVES(called(function, &pair, 1), "1.0", "float32");
  OK(relay_tuple(&pair, 1, &both));
  OK(relay_run(engine, NULL,
               "type Pair { Pair { a: float32, b: Tensor[(2), float32] } }\n"
               "def last(p: Pair) { p.b }\ndef inner(p: (Pair,)) { p.0.b }",
               NULL));
  FAILS(relay_call(function, &pair, 1, &result), "TypeMismatch",
        "argument 0 is a `Pair` from before that type was defined anew");
  relay_value_release(function);
  function = named(engine, "inner");
  FAILS(relay_call(function, &both, 1, &result), "TypeMismatch",
        "argument 0 is a `(Pair,)` from before that type was defined anew");
  GIVES(pair, "Pair(a = 1.0)", "Pair");
  relay_value_release(both);
  relay_value_release(function);
}

/* A text may end in a comment, also that of a function whose types its calls settle. */
static void test_comments(relay_engine* engine) {
  relay_value *function = evaluated(engine, "fn (x) { x + x } // twice"), *one;
  one = evaluated(engine, "1 // one");
  GIVES(called(function, &one, 1), "2", "int32");
  relay_value_release(function);
  relay_value_release(one);
}

/* Native code does not write to lent memory, either, where a program holds it alone. */
static void test_lent_and_stored_to(relay_engine* engine) {
  enum { kCount = 64 };
  OK(relay_run(engine, NULL,
               "def clear(x: Tensor[(64), float32], i: int64) -> Tensor[(64), float32] {\n"
               "  if (i == 64i64) { x }\n"
               "  else { clear(for k < 64 { if (k == i) { 0.0 } else { x[k] } }, i + 1i64) }\n}\n"
               "def take(r: ref(Tensor[(64), float32])) {\n"
               "  let x = ref_read(r); ref_write(r, zeros([64])); clear(x, 0i64)\n}\n"
               "def hold(x: Tensor[(64), float32]) { ref(x) }",
               NULL));
  float* const data = aligned_alloc(64, kCount * sizeof(float));
  for (int i = 0; i < kCount; ++i) data[i] = (float)(i + 1);
  const int64_t shape = kCount;
  Lent lent;
  relay_value *value, *hold = named(engine, "hold"), *take = named(engine, "take");
  OK(relay_tensor_from_dlpack(lend(&lent, data, kFloat32, 1, &shape, NULL), &value));
  relay_value* const reference = called(hold, &value, 1);
  relay_value_release(value);
  value = called(take, &reference, 1);
  for (int i = 0; i < kCount; ++i) {
    CHECK(((const float*)relay_tensor_view(value)->data)[i] == 0);
    CHECK(data[i] == (float)(i + 1));
  }
  CHECK(lent.freed == 1);
  relay_value_release(value);
  relay_value_release(reference);
  relay_value_release(hold);
  relay_value_release(take);
  free(data);
}

int main(void) {
  CHECK(relay_api_version() == RELAY_API_VERSION);
  relay_engine* engine;
  OK(relay_engine_new(NULL, &engine));
  OK(relay_run(engine, "program.relay", kProgram, NULL));
  test_texts(engine);
  test_lent_tensors(engine);
  test_dtypes(engine);
  test_functions(engine);
  test_errors(engine);
  test_wrong_calls(engine);
  test_printing();
  test_limits();
  test_redefinition(engine);
  test_comments(engine);
  relay_engine_free(engine);
  /* The same by native code from the first call on. */
  relay_options options;
  relay_options_init(&options);
  options.jit = RELAY_JIT_ALWAYS;
  OK(relay_engine_new(&options, &engine));
  OK(relay_run(engine, "program.relay", kProgram, NULL));
  test_lent_tensors(engine);
  test_lent_and_stored_to(engine);
  test_functions(engine);
  relay_engine_free(engine);
  if (failures == 0) printf("ok\n");
  return failures != 0;
}
