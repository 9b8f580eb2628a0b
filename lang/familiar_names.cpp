#include "lang/familiar_names.h"

#include <array>

namespace relay::lang {
namespace {

constexpr std::string_view kBatching =
    "help: an index batches: `for i { f(xs[i]) }` applies `f` to each row";
constexpr std::string_view kNumbers =
    "help: `random.normal(random.key(0), 0.0, 1.0, [3])` gives a key and numbers";
constexpr std::string_view kUniform =
    "help: `random.uniform(random.key(0), 0.0, 1.0, [3])` gives a key and numbers";
constexpr std::string_view kOnePerCall =
    "help: nothing needs to be asked for: what runs often becomes native code by itself";
constexpr std::string_view kLoop =
    "help: a loop is a function that calls itself last, or `iterate(f, n)`";
constexpr std::string_view kScan =
    "help: `foldl(f, start, xs)` goes along a list; `cumsum` and `cumprod` are sums and products "
    "so far";
constexpr std::string_view kAlgebra = "note: matrices are not decomposed or inverted here";
constexpr std::string_view kSolve = "help: `import \"implicit.relay\"` has `linear_solve(a, b)`";
constexpr std::string_view kMinimise = "help: `import \"implicit.relay\"` has `minimiser(f, x, p)`";
constexpr std::string_view kRoot = "help: `import \"implicit.relay\"` has `root(g, x, p)`";
constexpr std::string_view kShape =
    "help: `shape_of(x)` has the extents of a tensor, `length(xs)` counts a list";

// Sorted by what it is about, not by name: it is short enough to be searched.
constexpr auto kFamiliar = std::to_array<FamiliarName>({
    // Types
    {"float", "float32", "help: `cast(x, float32)` makes floats"},
    {"double", "float64", "help: `cast(x, float64)` makes floats"},
    {"half", "float16", "help: `cast(x, float16)` makes floats"},
    {"int", "int32", "help: `cast(x, int32)` makes integers"},
    {"long", "int64", "help: `cast(x, int64)` makes integers"},
    {"uint", "uint32", "help: `cast(x, uint32)` makes integers"},
    {"boolean", "bool", ""},
    {"Bool", "bool", ""},
    {"Int", "int32", ""},
    {"Integer", "int64", ""},
    {"Float", "float32", ""},
    {"Double", "float64", ""},
    {"f16", "float16", "help: `cast(x, float16)` makes floats"},
    {"f32", "float32", "help: `cast(x, float32)` makes floats"},
    {"f64", "float64", "help: `cast(x, float64)` makes floats"},
    {"i8", "int8", "help: `cast(x, int8)` makes integers"},
    {"i32", "int32", "help: `cast(x, int32)` makes integers"},
    {"i64", "int64", "help: `cast(x, int64)` makes integers"},
    {"u8", "uint8", "help: `cast(x, uint8)` makes integers"},
    {"u32", "uint32", "help: `cast(x, uint32)` makes integers"},
    {"list", "List", "help: a list is `Cons(1, Cons(2, Nil))`, a tensor `[1, 2]`"},
    {"str", "", "help: a string is no value, it can only be an attribute of an operator"},
    {"string", "", "help: a string is no value, it can only be an attribute of an operator"},
    // Data and constants
    {"true", "True", ""},
    {"false", "False", ""},
    {"null", "None", ""},
    {"none", "None", ""},
    {"nullptr", "None", ""},
    {"Nothing", "None", ""},
    {"Just", "Some", ""},
    {"just", "Some", ""},
    {"nil", "Nil", ""},
    {"Inf", "inf", ""},
    {"infinity", "inf", ""},
    {"Infinity", "inf", ""},
    {"NaN", "nan", ""},
    {"e", "", "help: `exp(1.0)`"},
    // Making tensors
    {"array", "", "help: a tensor is `[1.0, 2.0]`"},
    {"asarray", "", "help: a tensor is `[1.0, 2.0]`"},
    {"tensor", "Tensor", "help: a tensor is `[1.0, 2.0]`, and its type `Tensor[(2), float32]`"},
    {"empty", "zeros", ""},
    {"fill", "full", ""},
    {"replicate", "full", ""},
    {"range", "arange", ""},
    {"identity", "eye", ""},
    {"logspace", "", "help: `power(10.0, linspace(0.0, 1.0, 5))`"},
    {"rand", "", kUniform},
    {"randn", "", kNumbers},
    {"random", "", kUniform},
    {"randint", "", kUniform},
    {"seed", "random.key", ""},
    {"PRNGKey", "random.key", ""},
    {"manual_seed", "random.key", ""},
    // Shapes
    {"shape", "shape_of", kShape},
    {"len", "length", kShape},
    {"size", "ndarray_size", ""},
    {"numel", "ndarray_size", ""},
    {"ndim", "", "help: the type tells the rank: `:type x`"},
    {"view", "reshape", ""},
    {"ravel", "flatten", ""},
    {"unflatten", "reshape", ""},
    {"permute", "transpose", ""},
    {"swapaxes", "transpose", ""},
    {"moveaxis", "transpose", ""},
    {"unsqueeze", "expand_dims", ""},
    {"newaxis", "expand_dims", "help: `expand_dims(x, axis=0)` puts in an axis"},
    {"expand", "broadcast_to", ""},
    {"cat", "concatenate", ""},
    {"hstack", "concatenate", ""},
    {"vstack", "concatenate", ""},
    {"append", "concat", ""},
    {"rot90", "", "help: `reverse(transpose(x), axis=0)`"},
    {"roll", "", "help: an index shifts: `for i { x[(i + 1) % n] }`"},
    {"pad", "nn.pad", ""},
    {"index_select", "take", ""},
    {"select", "where", ""},
    {"scatter", "scatter_elements", ""},
    {"index_put", "", "help: a copy with another element is `x with { [i] = v }`"},
    {"index_update", "", "help: a copy with another element is `x with { [i] = v }`"},
    {"setitem", "", "help: a copy with another element is `x with { [i] = v }`"},
    // Arithmetic
    {"pow", "power", ""},
    {"sqr", "square", ""},
    {"sub", "subtract", ""},
    {"mul", "multiply", ""},
    {"div", "divide", ""},
    {"truediv", "divide", ""},
    {"floordiv", "floor_divide", ""},
    {"remainder", "floor_mod", ""},
    {"fmod", "mod", ""},
    {"neg", "negative", ""},
    {"negate", "negative", ""},
    {"absolute", "abs", ""},
    {"fabs", "abs", ""},
    {"ln", "log", ""},
    {"loge", "log", ""},
    {"arcsin", "asin", ""},
    {"arccos", "acos", ""},
    {"arctan", "atan", ""},
    {"arctan2", "atan2", ""},
    {"arcsinh", "asinh", ""},
    {"arccosh", "acosh", ""},
    {"arctanh", "atanh", ""},
    {"reciprocal", "", "help: `1.0 / x`"},
    {"clamp", "clip", ""},
    {"fix", "trunc", ""},
    {"not", "logical_not", ""},
    {"not_", "logical_not", ""},
    {"eq", "equal", ""},
    {"ne", "not_equal", ""},
    {"lt", "less", ""},
    {"gt", "greater", ""},
    {"le", "less_equal", ""},
    {"ge", "greater_equal", ""},
    {"lgam", "lgamma", ""},
    {"gammaln", "lgamma", ""},
    // Reductions
    {"reduce_sum", "sum", ""},
    {"reduce_mean", "mean", ""},
    {"reduce_max", "max", ""},
    {"reduce_min", "min", ""},
    {"reduce_prod", "prod", ""},
    {"reduce_all", "all", ""},
    {"reduce_any", "any", ""},
    {"reduce_logsumexp", "logsumexp", ""},
    {"product", "prod", ""},
    {"amax", "max", ""},
    {"amin", "min", ""},
    {"average", "mean", ""},
    {"avg", "mean", ""},
    {"stddev", "std", ""},
    {"reduce", "foldl", ""},
    {"fold", "foldl", ""},
    {"scan", "", kScan},
    {"fori_loop", "", kLoop},
    {"while_loop", "", kLoop},
    {"cond", "", "help: a choice is `if c { a } else { b }`"},
    {"count_nonzero", "", "help: `sum(cast(x != 0.0, int32))`"},
    {"median", "", "help: `sort(x)` and an index"},
    {"bincount", "", "help: a scatter counts: `scatter sum (zeros([n], int32)) i { [x[i]] => 1 }`"},
    // Linear algebra
    {"mm", "matmul", ""},
    {"mv", "matmul", ""},
    {"inner", "dot", ""},
    {"vdot", "dot", ""},
    {"bmm", "nn.batch_matmul", ""},
    {"tensordot", "einsum", ""},
    {"cross", "", "help: index notation writes it out; `outer` and `dot` are other products"},
    {"det", "", kAlgebra},
    {"inv", "", kSolve},
    {"pinv", "", kAlgebra},
    {"solve", "", kSolve},
    {"minimize", "", kMinimise},
    {"root_scalar", "", kRoot},
    {"fsolve", "", kRoot},
    {"svd", "", kAlgebra},
    {"qr", "", kAlgebra},
    {"lu", "", kAlgebra},
    {"eig", "", kAlgebra},
    {"eigh", "", kAlgebra},
    {"cholesky", "", kAlgebra},
    {"lstsq", "", kAlgebra},
    {"fft", "dft", ""},
    // Learning
    {"linear", "nn.dense", ""},
    {"Linear", "nn.dense", ""},
    {"dense", "nn.dense", ""},
    {"swish", "silu", ""},
    {"layernorm", "nn.layer_norm", ""},
    {"LayerNorm", "nn.layer_norm", ""},
    {"batchnorm", "nn.batch_norm", ""},
    {"Conv2d", "nn.conv2d", ""},
    {"conv", "nn.conv2d", ""},
    {"Dropout", "nn.dropout", ""},
    {"cross_entropy", "nn.cross_entropy", ""},
    {"embedding", "take", ""},
    {"vmap", "", kBatching},
    {"pmap", "", kBatching},
    {"vectorize", "", kBatching},
    {"jit", "", kOnePerCall},
    {"compile", "", kOnePerCall},
    {"backward", "grad", ""},
    {"autograd", "grad", ""},
    {"gradient", "grad", ""},
    {"derivative", "grad", ""},
    {"deriv", "grad", ""},
    {"diff", "grad", ""},
    {"differentiate", "grad", ""},
    {"jacrev", "jacobian", ""},
    {"jacfwd", "jacobian", ""},
    {"linearise", "linearize", ""},
    {"detach", "stop_gradient", ""},
    {"remat", "annotation.checkpoint", ""},
    {"checkpoint", "annotation.checkpoint", ""},
    {"no_grad", "stop_gradient", ""},
    // Lists and functions
    {"head", "hd", ""},
    {"car", "hd", ""},
    {"tail", "tl", ""},
    {"cdr", "tl", ""},
    {"map2", "", "help: `map(fn (pair) { f(pair.0, pair.1) }, zip(xs, ys))`"},
    {"zipWith", "", "help: `map(fn (pair) { f(pair.0, pair.1) }, zip(xs, ys))`"},
    {"enumerate", "", "help: `for i { … xs[i] … }` knows the place"},
    {"lambda", "", "help: a function is `fn (x) { x }`"},
    {"fromIntegral", "", "help: `cast(x, float32)` makes floats"},
    {"to_f", "", "help: `cast(x, float32)` makes floats"},
    {"println", "print", ""},
    {"imshow", "plot", ""},
    {"hist", "plot", ""},
    {"printf", "print", ""},
    {"echo", "print", ""},
    {"display", "print", ""},
    {"error", "", "help: `assert(False, \"what is wrong\")` ends with an error"},
    {"panic", "", "help: `assert(False, \"what is wrong\")` ends with an error"},
    {"raise", "", "help: `assert(False, \"what is wrong\")` ends with an error"},
    {"throw", "", "help: `assert(False, \"what is wrong\")` ends with an error"},
    {"Array", "Tensor", ""},
    {"ndarray", "Tensor", ""},
    {"NDArray", "Tensor", ""},
    {"Matrix", "Tensor", ""},
    {"Vector", "Tensor", ""},
    {"Maybe", "Option", ""},
    {"Optional", "Option", ""},
    {"help", "", "help: `:help` lists the commands, `:doc NAME` tells of a name"},
    {"exit", "", "help: `:quit` leaves"},
    {"quit", "", "help: `:quit` leaves"},
});

constexpr auto kFamiliarAttributes = std::to_array<FamiliarAttribute>({
    {"dim", "axis"},
    {"dim", "axes"},
    {"dims", "axis"},
    {"dims", "axes"},
    {"dimension", "axis"},
    {"perm", "axes"},
    {"size", "shape"},
    {"size", "newshape"},
    {"shape", "newshape"},
});

constexpr std::string_view kLibraries[] = {
    "np",     "numpy", "jnp",      "jax",        "lax",     "torch",   "tf",
    "F",      "math",  "linalg",   "functional", "scipy",   "special", "keras",
    "tensor", "nn",    "autograd", "func",       "numpyro", "prelude", "f32",
};

}  // namespace

std::span<const FamiliarName> familiar_names() { return kFamiliar; }

std::span<const FamiliarAttribute> familiar_attributes() { return kFamiliarAttributes; }

const FamiliarName* find_familiar(std::string_view name) {
  for (const FamiliarName& each : kFamiliar) {
    if (each.theirs == name) return &each;
  }
  return nullptr;
}

std::string_view without_library(std::string_view name) {
  bool is_inside = false;  // `random` is a module of theirs, and a family of ours
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    bool is_library = is_inside && name.substr(0, dot) == "random";
    for (const std::string_view library : kLibraries) is_library |= name.substr(0, dot) == library;
    if (!is_library) break;
    name.remove_prefix(dot + 1);
    is_inside = true;
  }
  return name;
}

}  // namespace relay::lang
