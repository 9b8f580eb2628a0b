#include "opt/pass_list.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "lang/op.h"

namespace relay::opt {

using lang::Attr;
using lang::AttrValue;
using lang::Diagnostic;
using lang::DiagnosticKind;

const std::vector<PassInfo>& passes() {
  static const std::vector<PassInfo> table = {
      {"DeadCodeElimination", "drops bindings without effect that nobody uses"},
      {"DefuseOps", "undoes FuseOps"},
      {"EliminateCommonSubexpr", "computes equal pure values once"},
      {"ExpandDerivatives",
       "puts the functions that `grad(f)` and its kin stand for in their place"},
      {"FirstOrderGradient",
       "each function `(A...) -> R` becomes `(A...) -> (R, (A...))`: its result, and the gradient "
       "of the sum of the result's elements"},
      {"FoldConstant", "evaluates calls of operators on constants"},
      {"FuseOps",
       "groups connected tensor operators into functions with `Primitive=1`",
       {{"max_depth", AttrValue(0), "the most operators of a group; 0: any number"}}},
      {"Gradient", "the same as FirstOrderGradient: both work on the whole language"},
      {"InferType", "types every function"},
      {"Inline",
       "puts the bodies of small functions, and of those with `Inline=1`, in place of their calls",
       {{"max_bindings", AttrValue(24), "the most steps of a small function"}}},
      {"JoinStepProducts",
       "multiplies all rows at once where a counting loop multiplies one in each step"},
      {"RemoveUnusedFunctions",
       "drops functions that the entry does not reach",
       {{"entry", AttrValue("main"), "the function that is kept"}}},
      {"ResolveBranches",
       "takes matches on known constructions, joins branches that belong together"},
      {"SimplifyExpr",
       "algebra that a person would do, and that keeps every bit",
       {{"fast_math", AttrValue(0),
         "1: also what holds of real numbers only, as `0 - x` to `-x` or sums regrouped"}}},
      {"ToANormalForm", "names every step"},
  };
  return table;
}

namespace {

std::string usage_of(const PassInfo& pass) {
  std::string text = pass.name;
  for (const PassOption& option : pass.options)
    text += (text == pass.name ? "(" : ", ") + option.name + "=" + option.default_value.to_string();
  return text + (pass.options.empty() ? "" : ")");
}

class Reader {
 public:
  explicit Reader(const lang::Source& source) : source_(source), text_(source.text()) {}

  std::vector<PassCall> read() {
    std::vector<PassCall> calls;
    do {
      calls.push_back(call());
    } while (take(','));
    skip();
    if (at_ < text_.size()) fail_at("`,` or the end of the list");
    return calls;
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(char wanted) {
    skip();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  lang::Span span(std::size_t begin) const {
    return {&source_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)};
  }
  [[noreturn]] void fail_at(const std::string& wanted) {
    const std::size_t begin = at_;
    if (at_ < text_.size()) ++at_;
    const std::string found = begin < text_.size() ? fmt::format("`{}`", text_[begin]) : "the end";
    throw lang::Failure(Diagnostic(DiagnosticKind::SyntaxError,
                                   fmt::format("expected {}, found {}", wanted, found),
                                   span(begin)));
  }

  std::string name(const char* wanted) {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    if (at_ == begin) fail_at(wanted);
    return std::string(text_.substr(begin, at_ - begin));
  }

  PassCall call() {
    const std::string wanted = name("the name of a pass");
    const PassInfo& pass = find(wanted);
    std::vector<Attr> options;
    for (const PassOption& option : pass.options)
      options.push_back({option.name, option.default_value, {}});
    if (take('(') && !take(')')) {
      do {
        set_option(pass, options);
      } while (take(','));
      if (!take(')')) fail_at("`,` or `)`");
    }
    return {&pass, lang::make_attrs(std::move(options))};
  }

  const PassInfo& find(const std::string& wanted) const {
    std::vector<std::string> names;
    for (const PassInfo& pass : passes()) {
      if (pass.name == wanted) return pass;
      names.push_back(pass.name);
    }
    Diagnostic diagnostic(DiagnosticKind::UnknownName, fmt::format("there is no pass `{}`", wanted),
                          span(at_ - wanted.size()));
    const auto close = lang::closest_names(wanted, names);
    diagnostic.note(close.empty() ? "help: `relay opt --list` lists the passes"
                                  : fmt::format("help: did you mean `{}`?", close.front()));
    throw lang::Failure(std::move(diagnostic));
  }

  void set_option(const PassInfo& pass, std::vector<Attr>& options) {
    const std::string key = name("the name of an option");
    const lang::Span place = span(at_ - key.size());
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const Attr& each) { return each.key == key; });
    if (option == options.end()) {
      Diagnostic diagnostic(DiagnosticKind::UnknownAttribute,
                            fmt::format("pass `{}` has no option `{}`", pass.name, key), place);
      std::vector<std::string> names;
      for (const Attr& each : options) names.push_back(each.key);
      const auto close = lang::closest_names(key, names);
      if (!close.empty()) {
        diagnostic.note(fmt::format("help: did you mean `{}`?", close.front()));
      } else {
        diagnostic.note(pass.options.empty() ? "note: it has none" : "note: " + usage_of(pass));
      }
      throw lang::Failure(std::move(diagnostic));
    }
    if (!take('=')) fail_at("`=`");
    skip();
    const std::size_t begin = at_;
    AttrValue value = this->value();
    const bool fits = (value.as_int() && option->value.as_int()) ||
                      (value.as_string() && option->value.as_string());
    if (!fits) {
      throw lang::Failure(
          Diagnostic(DiagnosticKind::BadAttribute,
                     fmt::format("option `{}` of `{}` is {}", key, pass.name,
                                 option->value.as_int() ? "a whole number" : "a string"),
                     span(begin)));
    }
    option->value = std::move(value);
  }

  AttrValue value() {
    if (take('"')) {
      const std::size_t end = text_.find('"', at_);
      if (end == std::string_view::npos) {
        at_ = text_.size();
        fail_at("`\"`");
      }
      const std::string text(text_.substr(at_, end - at_));
      at_ = end + 1;
      return text;
    }
    std::int64_t number = 0;
    const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (read.ec == std::errc()) {
      at_ = static_cast<std::size_t>(read.ptr - text_.data());
      return number;
    }
    return name("a value");  // a string without quotes
  }

  const lang::Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string describe_passes() {
  std::string text;
  for (const PassInfo& pass : passes()) {
    text += fmt::format("{:<36} {}\n", usage_of(pass), pass.doc);
    for (const PassOption& option : pass.options)
      text += fmt::format("  {:<34} {}\n", option.name, option.doc);
  }
  return text;
}

lang::Result<std::vector<PassCall>> parse_passes(const lang::Source& source) {
  return lang::capture([&] { return Reader(source).read(); });
}

}  // namespace relay::opt
