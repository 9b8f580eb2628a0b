#include "repl/commands.h"

namespace relay::repl {

namespace {

using Group = Command::Group;

constexpr Command kCommands[] = {
    {":type", Group::See, "EXPR", "the type of an expression, without running it",
     "Of a function that is generic it shows the scheme: `s` is any shape, `d` any dtype, and what "
     "they must fulfil stands behind `where`.",
     "relay> :type [1, 2] + 1\n"
     "Tensor[(2), int32]\n"
     "relay> :type fn (x) { x + 1.0 }\n"
     "fn (Tensor[s, d]) -> Tensor[s, d] where d: float",
     run_type},
    {":print", Group::See, "EXPR", "the whole value, however long it is",
     "Otherwise a value is shown as an excerpt: at most 1,000 elements of a tensor, and on a "
     "terminal about 20 lines.",
     "relay> :print for i < 3 { i }\n"
     "[0, 1, 2]",
     run_print},
    {":show", Group::See, "STAGE EXPR", "the program after a stage, from `ast` to `asm`",
     "The stages are ast, typed, anf, opt, fused, loops, flow, llvm, asm, in the order in which "
     "the "
     "program goes through them; grad, and linear and transposed, which are the map of directions "
     "to tangents and that of adjoints back; and plan, which runs the expression, and says for "
     "each step how near it comes to what the machine can do. A function by its name shows its "
     "body, of a generic one at float32.",
     "relay> :show typed 1.0 + 2.0\n"
     "…\n"
     "relay> :show opt 1.0 + 2.0\n"
     "…",
     run_show},
    {":opt", Group::See, "[PASSES [EXPR]]", "what named passes make of a program",
     "Of an expression and the functions of yours that it calls, or of all that is defined. `relay "
     "opt` in the shell does the same with a "
     "file. "
     "Without passes it lists them; "
     "docs/passes.md shows each at work. Of a generic function it shows what becomes of it at "
     "float32. `:opt --diff PASSES` shows which lines each pass changes.",
     "relay> :opt FoldConstant, SimplifyExpr fn (x: float32) { x * (2.0 - 1.0) }\n"
     "…\n"
     "relay> :opt --diff FoldConstant fn (x: float32) { x * (2.0 - 1.0) }\n"
     "…",
     run_opt},
    {":partition", Group::See, "NAMES [EXPR]", "hands parts of a program to external compilers",
     "Of an expression and the functions of yours that it calls, or of all that is defined; NAMES "
     "are those of one or several compilers, as "
     "in `dnnl,blas`, of which the first that runs a step takes it. What comes out is a program: "
     "functions with `Compiler=\"dnnl\"` are run by oneDNN. docs/byoc.md tells the rest.",
     "relay> :partition blas fn (x: Tensor[(2, 2), float32]) { nn.dense(x, x) }\n"
     "…",
     run_partition},
    {":why", Group::See, "EXPR", "who runs each operator, and why no other does",
     "It tells of each operator of an expression, or of the functions that it calls, whether an "
     "external compiler runs it or Relay does; and what keeps each of the others from it.",
     "relay> :why fn (x: Tensor[(2), float64]) { tanh(x) }\n"
     "`tanh`, <why>, line 1: Relay\n"
     "  …\n"
     "  dnnl: it is asked for float32 only, and this is float64",
     run_why},
    {":analyze", Group::See, "[NAME [EXPR]]", "what an analysis finds in a program",
     "Of an expression and the functions of yours that it calls, or of all that is defined: which "
     "variables, operators and parts of the "
     "language it uses, who calls whom, what a match misses. `relay opt --analyze` in the shell "
     "does the same with a file. Without one it lists them; docs/analyses.md shows each at work.",
     "relay> :analyze list_op_freqs fn (x: float32) { exp(x) * exp(x + 1.0) }\n"
     "…",
     run_analyze},
    {":grad", Group::See, "EXPR", "the gradient of a function, or of one that is called",
     "It is simplified, as a person would write it. Where a derivative depends on the shapes, the "
     "call gives them.",
     "relay> def f(x) { x * x + 1.0 }\n"
     "f : fn (Tensor[s, d]) -> Tensor[s, d] where d: float\n"
     "relay> :grad f\n"
     "fn (x: float32) -> float32 { 2.0 * x }",
     run_grad},
    {":trace", Group::See, "CALL", "what it computes, line by line",
     "`:trace grad CALL` and `:trace jvp CALL` show it with its derivatives. Behind each "
     "expression of the function stands its value, then its adjoint or its tangent; of "
     "`grad(grad(f))(x)` both. Of a call that fails the table goes as far as the line that failed.",
     "relay> def f(x) { x * x + 1.0 }\n"
     "f : fn (Tensor[s, d]) -> Tensor[s, d] where d: float\n"
     "relay> :trace grad f(3.0)\n"
     "source      | value | adjoint\n"
     "x           | 3.0   | 6.0\n"
     "x * x + 1.0 | 10.0  | 1.0",
     run_trace},
    {":plot", Group::See, "EXPR [> FILE]", "draws a value, here or as an SVG or PNG file",
     "A vector is a line against its index, `(xs, ys)` one against `xs`; tuples and records hold "
     "several. A matrix is an image. `line`, `scatter`, `histogram`, `image` or `contour` in front "
     "draws it so; options stand there, too: `log=xy`, `bins=20`, `levels=5`. A FILE ends in "
     "`.svg`, `.png` or `.txt`.",
     "relay> :set columns 30\n"
     "…\n"
     "relay> :set lines 8\n"
     "…\n"
     "relay> :plot [0.0, 4.0, 1.0, 9.0]\n"
     "…",
     run_plot},
    {":plugin", Group::See, "[FILE]", "opens an external compiler; which ones there are",
     "A shared object with the functions of include/relay_codegen.h, which then runs in this "
     "program. docs/byoc.md makes one.",
     "relay> :plugin\n"
     "blas   the system's BLAS\n"
     "dnnl   oneDNN",
     run_plugin},
    {":graph", Group::See, "EXPR [> FILE]", "the dataflow of a program, or of `grad f`",
     "Each line is a step, with what it is made of and its type. A FILE that ends in `.dot` is "
     "Graphviz' text; for `.svg` and `.png` the program `dot` of Graphviz has to be installed.",
     "relay> def f(x) { let y = x * x; y + 1.0 }\n"
     "f : fn (Tensor[s, d]) -> Tensor[s, d] where d: float\n"
     "relay> :graph f\n"
     "f:\n"
     "  x                  float32\n"
     "  y   multiply x, x  float32\n"
     "  #3  add y, 1.0     float32\n"
     "      result #3",
     run_graph},
    {":break", Group::WentWrong, "[NAME|off]", "stops where a function is entered",
     "`:break f:3` stops at a line of it, `:break off` takes all breakpoints away, `:break off f` "
     "one, "
     "and `:break` lists them. Where an evaluation stops, expressions see the locals; `:frame` "
     "shows the calls, `:continue` goes on, and `:abort` gives up. What comes by a breakpoint runs "
     "in the interpreter. Where nobody can be asked it says where it stops, and goes on.",
     "relay> def f(x) { x * x + 1.0 }\n"
     "f : fn (Tensor[s, d]) -> Tensor[s, d] where d: float\n"
     "relay> :break f\n"
     "`f`, where it is entered: <entry 1>, line 1\n"
     "relay> f(3.0)\n"
     "stopped in `f`, <entry 1>, line 1\n"
     "   1 | def f(x) { x * x + 1.0 }\n"
     "     x = 3.0 : float32\n"
     "10.0 : float32",
     run_break},
    {":frame", Group::WentWrong, "[N EXPR]", "the calls of what has stopped or failed, with locals",
     "The innermost is #0. `:frame N` chooses one, and `:frame N EXPR` computes something with its "
     "locals. What has failed is run again for it, in the interpreter, and prints nothing.",
     "relay> def f(x) { let y = x - 1; 10 / y }\n"
     "f : fn (Tensor[s, d]) -> Tensor[s, d]\n"
     "relay> f(1)\n"
     "error[DivisionByZero]: division of an integer by zero\n"
     "…\n"
     "relay> :frame\n"
     "#0 `f`, <entry 1>, line 1: `10 / y`\n"
     "     x = 1 : int32\n"
     "     y = 0 : int32\n"
     "#1 the entry, <entry 2>, line 1: `f(1)`\n"
     "relay> :frame 0 x + y\n"
     "1 : int32",
     run_frame},
    {":nanbreak", Group::WentWrong, "[on|off|EXPR]", "finds where a NaN or an infinity begins",
     "While it is on, an evaluation fails at the first operator that makes one of what is finite, "
     "and says which, at which line, of which operands; in a derivative too, where the rule of an "
     "operator makes one in an adjoint or a tangent. `:nanbreak EXPR` does it once. It runs slower "
     "then, and as ever while it is off.",
     "relay> def f(x) { let y = x - 1.0; log(y) + x }\n"
     "f : fn (Tensor[s, d]) -> Tensor[s, d] where d: float\n"
     "relay> :nanbreak f(1.0)\n"
     "error[AssertionFailed]: not finite: `log` gives -inf\n"
     " --> <entry 1>:1:29\n"
     "…\n"
     "relay> :nanbreak f(2.0)\n"
     "no operator makes a NaN or an infinity",
     run_nanbreak},
    {":continue", Group::WentWrong, "", "goes on with what is stopped",
     "Ctrl-D at an empty line does so, too.", "", run_continue},
    {":abort", Group::WentWrong, "", "gives up what is stopped",
     "Ctrl-C at an empty line does so, too.", "", run_abort},
    {":bug", Group::WentWrong, "[FILE]", "writes all that was entered, for a report",
     "The file has each entry with what came of it, the version, the options and what the machine "
     "is; `relay < FILE` runs it again. Without a name it finds one.",
     "", run_bug},
    {":time", Group::Time, "EXPR", "how long it takes in each tier",
     "The expression runs for half a second in the interpreter, and as long as native code. What "
     "has an effect runs once.",
     "relay> :time sum(for i < 1000 { cast(i, dtype=\"float32\") })\n"
     "…",
     run_time},
    {":bench", Group::Time, "EXPR", "how long it takes, with the spread, in each tier",
     "The expression runs for half a second, at most 1,001 times, in the interpreter and as native "
     "code, after a first run that is not counted. What compiling took stands apart.",
     "relay> :bench sum(for i < 1000 { cast(i, dtype=\"float32\") })\n"
     "                median     least   half of them between     runs  compiling\n"
     "…",
     run_bench},
    {":profile", Group::Time, "EXPR", "where its time and its memory go, line by line",
     "Where nobody sees it the expression has run once before, so that what is hot is compiled. "
     "`relay --profile FILE` tells the same of a whole file.",
     "", run_profile},
    {":tune", Group::Time, "EXPR [SECONDS]", "a faster schedule of a function, by measuring",
     "Schedules are drawn and changed, and each is run in turn with the best one, for as long as "
     "is "
     "said (`10s` where nothing is). The function stays as it is: what is printed can be pasted. "
     "The expression is a call of the function; its arguments may be left out where the types of "
     "the "
     "parameters say the shapes.",
     "", run_tune},
    {":seconds", Group::Time, "RUNS EXPR", "the seconds of each run, for scripts",
     "The first run is not counted: it checks and compiles.",
     "relay> :seconds 3 1.0 + 2.0\n"
     "…",
     run_seconds},
    {":jit", Group::Time, "[NAME]", "which functions are native code, why others are not",
     "There is a line for each function that has run since a definition changed. `:jit NAME` tells "
     "all of one.",
     "", run_jit},
    {":stats", Group::Time, "[memory|passes]",
     "what was compiled and run; memory; the time of passes",
     "`relay --stats` tells the first two at the end of a run.",
     "relay> :stats memory\n"
     "memory in use          …\n"
     "…",
     run_stats},
    {":doc", Group::Ask, "NAME", "what an operator, function or type is, with an example",
     "It knows operators, also by the last part of their names, keywords and signs, types and "
     "constructors, and your own functions, by the comments (`///`) above them. `?NAME` is short "
     "for it.",
     "relay> :doc tanh\n"
     "tanh(data)\n"
     "The hyperbolic tangent.\n"
     "  data: the operand\n"
     "example:\n"
     "  tanh(0.0)\n"
     "  0.0",
     run_doc},
    {":info", Group::Ask, "NAME", "where a name is defined; its gradient, its native code",
     "It says whether there is a gradient and native code, and if not, why. For this the function "
     "is typed, differentiated and compiled as far as it takes. `NAME?` is short for it.",
     "relay> def f(x) { x * x + 1.0 }\n"
     "f : fn (Tensor[s, d]) -> Tensor[s, d] where d: float\n"
     "relay> :info f\n"
     "f : fn (Tensor[s, d]) -> Tensor[s, d] where d: float\n"
     "defined in   <entry 1>, line 1\n"
     "gradient     yes\n"
     "native code  …",
     run_info},
    {":source", Group::Ask, "NAME", "the definition of an operator or a function",
     "Operators are defined in index notation, which is shown at the types of their example. The "
     "last part of a name is enough where it means one: `softmax` for `nn.softmax`.",
     "relay> :source tanh\n"
     "def tanh(data: float32) -> float32 {\n"
     "  prim.tanh(data)\n"
     "}",
     run_source},
    {":explain", Group::Ask, "KIND", "what a kind of error means, with an example",
     "The kind stands in brackets behind `error`. Without a `KIND` that exists, the nearest one is "
     "named.",
     "relay> :explain WrongArity\n"
     "WrongArity\n"
     "…",
     run_explain},
    {":ops", Group::Ask, "[PART]", "the operators, or those with PART in their name",
     "Your own functions stand behind them. `:doc NAME` says more of one. `:ops --level N` lists "
     "those of one of Relay's support levels.",
     "relay> :ops log_\n"
     "…\n"
     "relay> :ops --level 10\n"
     "…",
     run_ops},
    {":apropos", Group::Ask, "WORD", "what has to do with a word",
     "It looks through the names and descriptions of operators, keywords, commands and "
     "definitions, and knows names of other libraries. Names come first.",
     "relay> :apropos logarithm\n"
     "…",
     run_apropos},
    {":env", Group::Ask, "", "what was defined and imported here, with types",
     "Results (`_`, `_3`) are not listed.",
     "relay> let rate = 0.1\n"
     "rate : float32\n"
     "relay> def step(w, g) { w - rate * g }\n"
     "…\n"
     "relay> :env\n"
     "functions\n"
     "  step  : …\n"
     "values\n"
     "  rate  : float32",
     run_env},
    {":load", Group::Files, "FILE", "runs a file here",
     "It shows what `relay FILE` shows, and says which names the file defines; they stay. Of a "
     "file "
     "that fails nothing stays.",
     "", run_load},
    {":reload", Group::Files, "[FILE]", "runs the files again that were loaded",
     "It says which definitions are not what they were, and which values of the prompt were "
     "computed with the old ones. Other definitions use the new ones from then on, and are named "
     "if these do not fit.",
     "", run_reload},
    {":save", Group::Files, "FILE", "writes what was entered, and worked, as a file",
     "The file runs. Of definitions that were made several times it has the last one, with a "
     "comment above what was entered while the name meant something else; a name that was bound "
     "several times is bound as often where something was made of each. What cannot stand in a "
     "file, such as an entry with `_`, stands there as a comment, with the reason. A file that "
     "exists is not written over.",
     "", run_save},
    {":edit", Group::Files, "[NAME]", "opens a definition, or the last entry, in an editor",
     "The editor is `$VISUAL`, or `$EDITOR`, or `vi`. What it has written is run when it ends, if "
     "it is another text than before.",
     "", run_edit},
    {":forget", Group::Session, "NAME", "takes a definition back",
     "It is as if it had never been made: the operator, function or type that had its name before "
     "has it again. What used it is named, if it does not fit any more.",
     "relay> def tanh(x) { x }\n"
     "tanh : fn (A) -> A\n"
     "warning[HiddenBuiltin]: …\n"
     "…\n"
     "relay> :forget tanh\n"
     "`tanh` is the operator again",
     run_forget},
    {":limit", Group::Session, "[WHAT AMOUNT]", "the memory and the time that an entry may take",
     "An entry that needs more ends with an error, and all that was there before is still there.",
     "relay> :limit time 10s\n"
     "memory …\n"
     "time 10 s for each entry",
     run_limit},
    {":set", Group::Session, "[NAME VALUE]", "how values are shown, and what is compiled",
     "`jit` is off, auto or always, `kernels` off, direct or auto, and `threads` a number, as the "
     "options of the program; `columns` and `lines` are how much of a value is shown, a number, or "
     "auto for what the terminal has. `plot` is what plots are drawn with: text, ascii, sixel, or "
     "auto, for which the terminal is asked.",
     "relay> :set lines 3\n"
     "…\n"
     "lines    3        about how many lines of it\n"
     "…\n"
     "relay> for i < 40, j < 2 { i + j }\n"
     "[[ 0,  1],\n"
     " ...,\n"
     " [39, 40]]\n"
     ": Tensor[(40, 2), int64]",
     run_set},
    {":help", Group::Session, "[COMMAND]", "the commands, or what one of them does",
     "Commands may be abbreviated as long as one alone begins so: `:ty` is `:type`. Of another "
     "word it says what `:doc` says.",
     "relay> :help :quit\n"
     ":quit\n"
     "leaves\n"
     "…",
     run_help},
    {":quit", Group::Session, "", "leaves", "Ctrl-D at an empty line does so, too.", "", run_quit},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace relay::repl
