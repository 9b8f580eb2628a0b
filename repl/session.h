#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/file_access.h"
#include "interp/eval.h"
#include "lang/diagnostic.h"
#include "lang/expr.h"
#include "lang/module.h"
#include "lang/value.h"
#include "parser/parse.h"
#include "plot/dataflow.h"
#include "plot/text.h"
#include "repl/bound_parameters.h"
#include "repl/completion/completions.h"
#include "repl/table.h"
#include "typecheck/infer.h"

namespace relay::lang {
class ExternalCompiler;  // lang/external_compiler.h
}

namespace relay::repl {

struct ReadText;      // repl/read_text.h
struct ShownPicture;  // repl/shown_picture.h

// How much of a value is shown, as `:set` says; what it does not say is as the terminal has it.
struct ShownSize {
  std::optional<std::size_t> columns = std::nullopt;
  std::optional<std::size_t> lines = std::nullopt;
  // What plots are made of: characters, those of ASCII, or points.
  enum class Plots { Auto, Text, Ascii, Sixel };
  Plots plots = Plots::Auto;
};

// Whether a library's kernels take products and windows. Direct: without transforms of windows,
// which take fewer products and are less exact.
enum class LibraryKernels { Off, Direct, Auto };

struct SessionOptions {
  interp::JitMode jit = interp::JitMode::Auto;
  LibraryKernels kernels = LibraryKernels::Auto;
  int threads = 0;       // 0: as many as there are cores
  bool evaluate = true;  // false: items are typed and not run
  // Of the instances of definitions: Known where that is worth it (repl/instances.h), or never.
  typecheck::Extents extents = typecheck::Extents::Known;
  bool perf = false;                     // native code is known to `perf` by name
  std::string code_cache;                // folder for code of kernels; empty: none
  bool verify = false;                   // run typecheck::verify after every pass (tests)
  double seconds = 0;                    // that one call of the session may take; 0: any
  std::vector<std::string> search_path;  // folders where imports are looked for
  std::vector<std::string> plugins;      // external compilers (external/plugin.h)
  formats::FileAccess files = {};        // what the text may open; its imports: Imports
  // The text of a file that is being edited and not saved, which is imported instead of what the
  // disk has; default: there are none.
  std::function<std::optional<std::string>(const std::string& path)> edited = nullptr;
  bool reads_headers = true;  // false: no data files are opened, and what they hold has no type
  std::size_t columns = 100;  // how wide text for people may be
  ShownSize shown = {};
  // For a person who goes on with what there is: values of expressions are kept as `_1`, `_2`, ...,
  // and what takes the name of a builtin is told once.
  bool interactive = false;
  std::function<void(std::string_view)> write;  // where `print` goes; default: standard output
  // How a plot is shown now; default: as in a text, without colours. What `:set` says of columns
  // and lines stands above it.
  std::function<plot::TextStyle()> plot_style = nullptr;
  // Does the terminal draw points (sixel)? Asked where a plot is shown; default: it does not.
  std::function<bool()> draws_points = nullptr;
  // Where a plot goes, and a graph, that no file is written of; default: its text to `write`, or
  // what a command says.
  std::function<void(const ShownPicture&)> show_picture = nullptr;
  // Told now and then how far reading or writing a file is, in bytes; default: nobody is.
  std::function<void(const std::string& path, std::int64_t done, std::int64_t whole)> progress =
      nullptr;
  // Told about how many seconds what comes now takes, where that is known; default: nobody is.
  std::function<void(double seconds)> expect = nullptr;
  // What is suspicious in a text that has been run, and no error; default: nothing is said.
  std::function<void(const std::vector<lang::Diagnostic>&)> warn = nullptr;
};

// What came of one item.
struct ItemResult {
  parser::ItemKind kind;
  std::string name;   // Def, Type, Let
  std::string type;   // printed type (scheme of a Def)
  lang::Value value;  // Let, Expression
  bool hide_value = false;
  lang::Span span;
  int number = 0;  // of an expression's value that is kept as `_NUMBER`
};

// The state of a prompt or of a running file, and the only place that knows the order of the
// stages: text -> parser -> module -> typecheck -> ANF -> ad, opt -> interp <-> jit -> value. No
// terminal code here. A failed item changes nothing. Whatever takes long ends with the diagnostic
// of a request to stop (lang/stop.h) once there is one.
class Session {
 public:
  explicit Session(SessionOptions options);
  ~Session();

  // Runs the items of a text in order. `on_item` sees each result as it comes. At the first item
  // that fails evaluation stops; what follows is only checked. Returns all diagnostics in order of
  // their places, one for each cause.
  std::vector<lang::Diagnostic> run(std::string name, std::string text,
                                    const std::function<void(const ItemResult&)>& on_item,
                                    parser::Notation notation = parser::Notation::Auto);
  // Runs a file; its directory is where relative imports and data files are looked for after the
  // working directory. `on_read` sees the text before anything runs, be it an import; if it returns
  // errors, these are returned and nothing runs.
  using OnRead = std::function<std::vector<lang::Diagnostic>(const lang::Source&)>;
  std::vector<lang::Diagnostic> run_file(const std::string& path,
                                         const std::function<void(const ItemResult&)>& on_item,
                                         const OnRead& on_read = nullptr);
  // Reads a text whose folder is `directory`, for who shows it while it is being typed: checks
  // and runs nothing, and defines nothing but what it imports. `source` must live as long as the
  // result. What cannot be read is left out, as parser::parse_all says.
  ReadText read(const lang::Source& source, const std::string& directory);
  // Runs what recurses over programs as the session does: on the evaluation stack, and within the
  // limits of a call. Returns what has ended it before its time.
  std::vector<lang::Diagnostic> within_limits(const std::function<void()>& body);
  // Calls @main if it exists.
  bool has_main() const;

  // For commands; each takes light notation and fails with diagnostics.
  lang::Result<std::string> type_of(const std::string& text);
  // stage: ast, typed, anf, opt, fused, loops, flow, llvm, asm, grad; plan: runs it (repl/plan.h)
  lang::Result<std::string> show(const std::string& stage, const std::string& text);
  static const std::vector<std::string>& stages();
  // The derivative of a function, simplified, as a text (repl/derivative.h).
  // `points_to_file`: errors about a definition that is only named stand where it is made.
  lang::Result<std::string> derivative(const std::string& text, lang::DiffMode mode,
                                       bool is_strict = false, bool points_to_file = false);
  // The dataflow of an expression, or of a function by its body; of `grad f`, of that gradient
  // (repl/graph.h).
  lang::Result<plot::Dataflow> dataflow(const std::string& text);
  // Runs an expression and tells what it computes, line by line, a call of a function of the text
  // by its parameters and its body; or `grad f(x)` with the adjoints, `jvp f(x, dx)` with the
  // tangents. Of a run that fails: the lines up to there, and the errors.
  struct Trace {
    Table table;
    std::vector<lang::Diagnostic> errors;
  };
  lang::Result<Trace> trace(const std::string& text);
  // Runs an expression and tells which lines took the time (repl/profile.h); of a run that fails,
  // up to there. Where nobody sees it, it has run once before, so that what is hot is compiled.
  struct Profiled {
    std::string table;
    std::vector<lang::Diagnostic> errors;
  };
  lang::Result<Profiled> profile(const std::string& text);
  // The same of all that runs from here on.
  void begin_profile();
  std::string end_profile();
  // What was defined here, or an expression, after passes (opt/pass.h).
  struct PassRequest {
    std::string passes;           // a list of them, which an expression may follow
    std::string expression = {};  // the same, where there is no list
    bool is_strict = false;
    bool shows_each = false;         // the program after each pass, too
    bool shows_differences = false;  // the program, and which lines of it each pass changes
    std::optional<int> level = {};   // passes of a higher one are passed over
    Bindings bindings = {};          // made before the passes
    std::string analysis = {};       // what is said of it instead (opt/analysis.h)
  };
  struct Passed {
    std::string text;
    std::vector<std::string> defined;  // the functions that the text defines
    bool reads_back = true;            // false: it calls operators that only derivatives have
    std::vector<std::string> generic;  // functions without ground types: they stay as they are
    // What functions' names mean to those who call them is not what it was (Gradient).
    bool has_changed_meaning = false;
    std::vector<std::pair<std::string, double>> times;  // of each pass, in seconds
  };
  lang::Result<Passed> optimised(const PassRequest& request);
  // External compilers (session_external.cpp). Opens a plug-in, and says which compiler it is;
  // which there are; what a program, or an expression, is when parts of it have been handed to some
  // of them, `dnnl` or `dnnl,blas`, the first that runs a step taking it; and who runs each
  // operator of an expression, and why the others do not.
  lang::Result<std::string> add_plugin(const std::string& path);
  void add_compiler(std::unique_ptr<lang::ExternalCompiler> compiler);  // one that is at hand
  lang::Result<std::string> external_compilers();
  lang::Result<Passed> partitioned(const std::string& compilers, const std::string& text,
                                   bool is_strict = false);
  lang::Result<std::string> who_runs(const std::string& text);
  // What is compiled of all that has run, or of the function of that name.
  lang::Result<std::string> compiled(const std::string& name);
  // The definition of an operator, at the types of its example, or the text of a function.
  lang::Result<std::string> source(const std::string& name);
  // What is known of a name (repl/info.h), and all that was defined here (repl/environment.h).
  lang::Result<std::string> info(const std::string& name);
  lang::Result<std::string> environment();
  // Makes as if a name had never been defined here: an operator, a function or a type of the
  // prelude that had it has it again. Says what came of it; what used the definition is warned of.
  lang::Result<std::string> forget(const std::string& name);
  // The own values that were computed with one of these definitions, by way of others too, in order
  // of definition; and not those names themselves.
  std::vector<std::string> values_made_with(const std::set<std::string>& names) const;
  lang::Result<lang::Value> evaluate(const std::string& text);
  // The value of an expression that was made and not read, such as a call with values at hand.
  lang::Result<lang::Value> evaluate(const lang::Expr& expr);

  // For whoever holds values on behalf of another program (session_values.cpp). The one expression
  // of a text; `name` is what the text is called in errors.
  lang::Result<lang::Expr> read(const std::string& name, const std::string& text);
  // The value of an expression that was read or made, with its type. A function whose types are
  // open is no value yet, unless it `is_settled`: then the parameters that it has settle them all.
  struct Typed {
    lang::Value value;
    lang::Type type;
    std::string scheme;  // the type, printed; of a function that is no value yet, its most general
  };
  lang::Result<Typed> evaluate_typed(const lang::Expr& expr, bool is_settled = false);
  // Calls a function value, whose parameters must have the types of the arguments. Cost: nothing is
  // checked or derived again.
  lang::Result<lang::Value> call(const lang::Value& function, std::vector<lang::Value> args);
  // Gives a value a name, as `let` does.
  void bind(const std::string& name, const lang::Value& value, const lang::Type& type);
  // The value of a top-level `let`; null if there is none of that name.
  const lang::Value* bound_value(const std::string& name) const;

  struct Timing {
    lang::Value value;
    double first_seconds;      // includes checking and compiling
    double compiling_seconds;  // of that, for native code
    double median_seconds;     // of the following runs
    double least_seconds, lower_quartile, upper_quartile;
    int runs;
    bool has_effects;   // then it runs once
    std::string loops;  // what is no kernel in it (repl/compiled.h)
  };
  lang::Result<Timing> time(const std::string& text, interp::JitMode mode);
  // The seconds of each of `runs` evaluations, after one that is not counted, in the session's own
  // mode.
  lang::Result<std::vector<double>> run_times(const std::string& text, int runs);

  // For when it goes wrong (repl/debugger.h). An evaluation that comes to a breakpoint asks whoever
  // has set `at_stop` whether it goes on; meanwhile a text is one expression, which sees the locals
  // of the frame that is chosen. Without one nothing stops.
  enum class Resume {
    Continue,
    Finish,  // and stops no more until it ends
    GiveUp
  };
  using AtStop = std::function<Resume(const std::string& where)>;
  void set_at_stop(AtStop at_stop);
  bool has_at_stop() const;
  bool is_stopped() const;
  // Has the last evaluation been given up where it had stopped? Its error is that of an interrupt.
  bool is_given_up() const;
  // `f`, `f:3`, `FILE:3`; says what was set. `clear`: of a function, or all (empty).
  lang::Result<std::string> set_breakpoint(const std::string& what);
  lang::Result<std::string> clear_breakpoints(const std::string& what);
  std::string breakpoints() const;
  // While it is on, an evaluation fails at the first operator that makes a NaN or an infinity.
  void set_nanbreak(bool is_on);
  bool has_nanbreak() const;
  // The same for one expression; what there is to say where none does.
  lang::Result<std::string> nanbreak(const std::string& text);
  // The frames of what has stopped, else of what has failed last; or `N`, or `N EXPR`: frame N,
  // which is chosen, and an expression with its locals.
  lang::Result<std::string> frame(const std::string& argument);

  // What may be written at the byte `cursor` of a text that is being typed, be it an entry or a
  // command (repl/completion/complete.h). Runs nothing and defines nothing.
  Completions complete(std::string_view text, std::size_t cursor) const;

  lang::Module& module();
  interp::Evaluator& evaluator();
  // What the evaluator asks for code and values.
  interp::Host& host();
  // How long the passes of the program's own pipeline have taken: a line for each.
  std::string pass_times() const;
  const SessionOptions& options() const;
  // From the next call on.
  void set_seconds(double seconds);
  // SessionOptions::interactive, from the next call on.
  void set_interactive(bool is_interactive);
  // How wide text for people may be.
  std::size_t columns() const;
  void set_shown(const ShownSize& shown);
  // Code that has been made is made again where it is needed.
  void set_jit(interp::JitMode mode);
  void set_kernels(LibraryKernels kernels);
  void set_columns(std::size_t columns);

 private:
  struct Impl;
  class Run;
  class Undo;
  class Debugger;
  class FrameLocals;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relay::repl
