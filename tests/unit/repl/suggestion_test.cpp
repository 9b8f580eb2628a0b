// What is suggested for a name that nobody has defined: what is meant, or nothing.

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lang/diagnostic.h"
#include "lang/familiar_names.h"
#include "repl/session.h"

using namespace relay;

namespace {

// The note of the first error; empty if it has none, or if there is no error.
std::string note_for(repl::Session& session, const std::string& text) {
  const auto errors = session.run("names", text, {});
  if (errors.empty() || errors.front().notes.empty()) return "";
  return errors.front().notes.front();
}

struct Row {
  std::string typed;
  std::string meant;  // "": nothing; "`word`": the note speaks of it; else the name suggested
};

const std::vector<Row> kRows = {
    // Slips of the keyboard
    {"sotfmax", "nn.softmax"},
    {"sofmax", "nn.softmax"},
    {"softmx", "nn.softmax"},
    {"mutliply", "multiply"},
    {"trasnpose", "transpose"},
    {"reshap", "reshape"},
    {"revese", "reverse"},
    {"lenght", "length"},
    {"linspac", "linspace"},
    {"zeros_lik", "zeros_like"},
    {"expand_dim", "expand_dims"},
    {"tanhh", "tanh"},
    {"zipp", "zip"},
    {"sni", "sin"},
    {"lgo", "log"},
    {"cumsm", "cumsum"},
    {"gradd", "grad"},
    {"itrate", "iterate"},
    {"conv", "nn.conv2d"},
    {"stop_grad", "stop_gradient"},
    {"Sum", "sum"},
    {"Relu", "nn.relu"},
    {"isNaN", "isnan"},
    {"some", "Some"},
    {"Conz", "Cons"},
    {"Som", "Some"},
    // What only looks alike
    {"te", ""},
    {"to", ""},
    {"odd", ""},
    {"even", ""},
    {"foo", ""},
    {"x", ""},
    {"tnh", ""},
    {"data", ""},
    {"total", ""},
    {"value", ""},
    {"some_name", ""},
    {"erfinv", ""},
    {"Point", ""},
    // NumPy and JAX
    {"np.dot", "dot"},
    {"np.linalg.norm", "norm"},
    {"np.concatenate", "concatenate"},
    {"np.vstack", "concatenate"},
    {"np.array", "`[1.0, 2.0]`"},
    {"jnp.where", "where"},
    {"jnp.einsum", "einsum"},
    {"jnp.linalg.svd", "note: matrices are not decomposed or inverted here"},
    {"svd", "note: matrices are not decomposed or inverted here"},
    {"svd", "note: matrices are not decomposed or inverted here"},
    {"solve", "help: `import \"implicit.relay\"` has `linear_solve(a, b)`"},
    {"inv", "help: `import \"implicit.relay\"` has `linear_solve(a, b)`"},
    {"minimize", "help: `import \"implicit.relay\"` has `minimiser(f, x, p)`"},
    {"fsolve", "help: `import \"implicit.relay\"` has `root(g, x, p)`"},
    {"linearise", "linearize"},
    {"vmap", "`for i { f(xs[i]) }`"},
    {"jax.vmap", "`for i { f(xs[i]) }`"},
    {"jax.jit", "native code"},
    {"lax.scan", "`foldl(f, start, xs)`"},
    {"lax.cond", "`if c { a } else { b }`"},
    {"jax.nn.softmax", "nn.softmax"},
    {"jax.random.PRNGKey", "random.key"},
    {"amax", "max"},
    {"arctan", "atan"},
    {"range", "arange"},
    {"swapaxes", "transpose"},
    {"size", "ndarray_size"},
    // PyTorch and TensorFlow
    {"torch.relu", "nn.relu"},
    {"torch.cat", "concatenate"},
    {"torch.unsqueeze", "expand_dims"},
    {"torch.nn.functional.cross_entropy", "nn.cross_entropy"},
    {"F.gelu", "gelu"},
    {"reduce_sum", "sum"},
    {"tf.reduce_mean", "mean"},
    {"mm", "matmul"},
    {"bmm", "nn.batch_matmul"},
    {"clamp", "clip"},
    {"detach", "stop_gradient"},
    {"Linear", "nn.dense"},
    {"randn", "`random.normal(random.key(0), 0.0, 1.0, [3])`"},
    // Dex, Futhark and other functional languages
    {"f32.sqrt", "sqrt"},
    {"reduce", "foldl"},
    {"replicate", "full"},
    {"map2", "`map(fn (pair) { f(pair.0, pair.1) }, zip(xs, ys))`"},
    {"fromIntegral", "`cast(x, float32)`"},
    {"Just", "Some"},
    {"Nothing", "None"},
    {"head", "hd"},
    // Anywhere
    {"true", "True"},
    {"null", "None"},
    {"nil", "Nil"},
    {"int", "`cast(x, int32)`"},
    {"len", "`shape_of(x)`"},
    {"pow", "power"},
    {"avg", "mean"},
    {"println", "print"},
    {"raise", "`assert(False"},
    {"quit", "`:quit`"},
};

bool speaks_of(const std::string& note, const std::string& meant) {
  if (meant.empty()) return note.empty();
  return note == "help: did you mean `" + meant + "`?" ||
         (meant.find_first_of("` ") != std::string::npos && note.find(meant) != std::string::npos);
}

}  // namespace

TEST_CASE("a name is suggested only where it is meant") {
  repl::Session session{repl::SessionOptions{}};
  for (const Row& row : kRows) {
    const std::string note = note_for(session, row.typed + "(1)");
    INFO(row.typed << ": " << note);
    CHECK(speaks_of(note, row.meant));
  }
}

TEST_CASE("a familiar name that is none of ours has a help") {
  repl::Session session{repl::SessionOptions{}};
  for (const lang::FamiliarName& name : lang::familiar_names()) {
    INFO(name.theirs);
    CHECK((!name.ours.empty() || !name.help.empty()));
    CHECK(name.theirs != name.ours);
    const std::string theirs(name.theirs);
    const auto as_value = session.run("names", theirs, {});
    if (as_value.empty()) FAIL_CHECK("is a name of ours");
    const std::string notes =
        note_for(session, theirs) + note_for(session, "def f(x: " + theirs + ") { x }");
    CHECK(notes.find("help: variable") == std::string::npos);
    CHECK(notes.find(name.ours.empty() ? "" : std::string(name.ours)) != std::string::npos);
    CHECK(!notes.empty());
  }
}

TEST_CASE("a type is suggested only where it is meant") {
  repl::Session session{repl::SessionOptions{}};
  const std::vector<Row> rows = {
      {"int", "int32"},
      {"float", "float32"},
      {"double", "float64"},
      {"Bool", "bool"},
      {"i32", "int32"},
      {"boolean", "bool"},
      {"flaot32", "float32"},
      {"Lst[int32]", ""},
      {"Maybe[int32]", "Option"},
      {"Optionn[int32]", "Option"},
      {"Array", "`Tensor[(2, 3), float32]`"},
      {"Tensor", "`Tensor[(2, 3), float32]`"},
      {"float32[3]", "`Tensor[(3), float32]`"},
      {"ndarray", "`Tensor[(2, 3), float32]`"},
  };
  for (const Row& row : rows) {
    const std::string note = note_for(session, "def f(x: " + row.typed + ") { x }");
    INFO(row.typed << ": " << note);
    CHECK((row.meant.empty() ? note.find("did you mean") == std::string::npos
                             : speaks_of(note, row.meant)));
  }
}
