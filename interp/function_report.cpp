#include "interp/function_report.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "interp/native.h"
#include "lang/function_fact.h"
#include "lang/lowerable.h"
#include "lang/obstacle.h"
#include "lang/print.h"
#include "lang/repeated_work.h"
#include "lang/utf8.h"
#include "lang/visit.h"

namespace relay::interp {

namespace {

using Form = FunctionReport::Form;
using Tier = FunctionReport::Tier;

constexpr std::size_t kMostOfEntries = 64;

bool is_native(const FunctionCode& code) { return code.native && code.native->entry; }

// On one line, cut.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kMost = 40;  // code points
  std::string line;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(lang::code_point_length(text.substr(at)), 1);
    const bool is_space =
        length == 1 && std::string_view(" \t\r\n").find(text[at]) != std::string_view::npos;
    if (!is_space || (!line.empty() && line.back() != ' ')) {
      if (++count > kMost) return line + "…";
      line += is_space ? " " : std::string(text.substr(at, length));
    }
    at += length;
  }
  return line;
}

bool before(lang::Span a, lang::Span b) {
  const auto key = [](lang::Span span) {
    const std::string name = span.source ? span.source->name() : std::string();
    return std::tuple(name.size(), name, span.begin, span.end);  // entry 9 stands before entry 10
  };
  return key(a) < key(b);
}

lang::Type type_of(const FunctionCode& code) {
  const auto& fn = lang::cast<lang::Function>(code.source);
  std::vector<lang::Type> params;
  for (const auto& param : fn.params) params.push_back(param->type);
  return lang::function_type(std::move(params), fn.body->type);
}

// What the interpreter does for native code.
void append_interpreted(const flow::Function& function, std::vector<FunctionReport::Part>& parts) {
  for (const auto& each : function.interpreted) {
    const auto& body = lang::cast<lang::Function>(each->function).body;
    const auto* call = lang::as<lang::Call>(body);
    const bool is_group = call && call->callee->kind == lang::ExprKind::Function;
    const bool is_kernel = is_group || lang::is_lowerable(body);
    if (body->span) parts.push_back({body->span, is_kernel ? each->why : std::string()});
  }
  for (const auto& local : function.locals) append_interpreted(*local, parts);
}

FunctionReport report_of(const FunctionCode& code, Form form, const std::string& owner) {
  FunctionReport report;
  report.form = form;
  if (form != Form::Nest) report.name = code.name;
  report.owner = owner;
  report.type = type_of(code);
  report.span =
      code.is_nest ? lang::cast<lang::Function>(code.source).body->span : code.source->span;
  report.calls = code.heat;
  if (const std::string* compiler = lang::compiler_of(code.source)) {
    report.tier = Tier::Refused;
    report.refusal = lang::Diagnostic(
        lang::DiagnosticKind::Unsupported,
        fmt::format("not supported: what the external compiler `{}` runs", *compiler), report.span);
    return report;
  }
  if (!code.native) return report;
  const NativeCode& native = *code.native;
  report.compile_seconds = native.seconds;
  report.compiled_with = native.compiled_with;
  report.code_size = native.size;
  report.refusal = native.refusal;
  if (native.entry) {
    report.tier = Tier::Native;
    append_interpreted(native.flow, report.interpreted);
  } else if (native.refusal) {
    report.tier = native.is_kernels ? Tier::Kernels : Tier::Refused;
  }
  return report;
}

// Visits code and what is inside it, each with the function that it is part of.
template <class Visit>
void walk(const FunctionCode& code, Form form, const std::string& owner, bool is_in_native,
          const Visit& visit) {
  if (!code.source) return;  // a constructor
  visit(code, form, owner, is_in_native);
  const bool is_inside = is_in_native || is_native(code);
  const std::string& name = form == Form::Function ? code.name : owner;
  const auto walk_inner = [&](const FunctionCode& from) {
    for (const FunctionCodeRef& inner : from.inner)
      walk(*inner, inner->is_nest ? Form::Nest : Form::Closure, name, is_inside, visit);
  };
  walk_inner(code);
  if (!is_native(code)) return;
  for (const auto& each : code.native->flow.interpreted) {
    if (each->code) walk_inner(static_cast<const FunctionCode&>(*each->code));
  }
}

void add_function(FunctionReport report, std::vector<FunctionReport>& reports) {
  const auto same = std::find_if(reports.begin(), reports.end(), [&](const FunctionReport& each) {
    return each.form == report.form && each.span == report.span && each.name == report.name &&
           lang::to_string(each.type) == lang::to_string(report.type);
  });
  if (same == reports.end()) {
    reports.push_back(std::move(report));
    return;
  }
  const std::int64_t calls = same->calls + report.calls;
  if (static_cast<int>(report.tier) > static_cast<int>(same->tier)) *same = std::move(report);
  same->calls = calls;
}

void add_loop(const FunctionCode& nest, bool is_native, std::vector<LoopReport>& reports) {
  const lang::Expr& body = lang::cast<lang::Function>(nest.source).body;
  const std::string text = excerpt(body->span ? std::string(body->span.text()) : lang::print(body));
  for (LoopReport& each : reports) {
    if (each.span != body->span || each.text != text) continue;
    each.is_native = each.is_native || is_native;
    return;
  }
  if (reports.size() >= kMostOfEntries) reports.erase(reports.begin());
  const lang::Obstacle obstacle = lang::kernel_obstacle(body);
  reports.push_back(
      {body->span, text, obstacle.reason, obstacle.place, is_native, lang::repeated_work(body)});
}

void add_loops(const FunctionCode& code, Form form, std::vector<LoopReport>& reports) {
  walk(code, form, "", false,
       [&](const FunctionCode& each, Form, const std::string&, bool is_in_native) {
         if (each.is_nest && (each.heat > 0 || is_in_native))
           add_loop(each, is_in_native || is_native(each), reports);
       });
}

// What is native in an entry: the others are part of its text.
void add_functions(const FunctionCode& entry, std::vector<FunctionReport>& reports) {
  walk(entry, Form::Entry, "", false,
       [&](const FunctionCode& code, Form form, const std::string& owner, bool) {
         if (!code.native || code.heat <= 0) return;
         if (reports.size() >= kMostOfEntries) reports.erase(reports.begin());
         add_function(report_of(code, form, owner), reports);
       });
}

void append(const std::vector<LoopReport>& from, std::vector<LoopReport>& reports) {
  for (const LoopReport& each : from) {
    const auto same = std::find_if(reports.begin(), reports.end(), [&](const LoopReport& other) {
      return other.span == each.span && other.text == each.text;
    });
    if (same == reports.end()) {
      reports.push_back(each);
    } else {
      same->is_native = same->is_native || each.is_native;
    }
  }
}

}  // namespace

void RunHistory::add_entry(const FunctionCode& entry) { entries_.push_back(&entry); }

void RunHistory::drop_entry(const FunctionCode& entry) {
  entries_.erase(std::find(entries_.begin(), entries_.end(), &entry));
  add_functions(entry, functions_);
  add_loops(entry, Form::Entry, recent_);
}

void RunHistory::forget(const Globals& globals) {
  append(recent_loops(globals), loops_);
  if (loops_.size() > kMostOfEntries)
    loops_.erase(loops_.begin(), loops_.end() - static_cast<std::ptrdiff_t>(kMostOfEntries));
  functions_.clear();
  recent_.clear();
}

std::vector<FunctionReport> RunHistory::functions(const Globals& globals) const {
  std::vector<FunctionReport> reports;
  for (const auto& [key, code] : globals) {
    walk(*code, Form::Function, "", false,
         [&](const FunctionCode& each, Form form, const std::string& owner, bool) {
           if (each.heat > 0 || is_native(each))
             add_function(report_of(each, form, owner), reports);
         });
  }
  std::sort(reports.begin(), reports.end(), [](const FunctionReport& a, const FunctionReport& b) {
    const auto key = [](const FunctionReport& report) {
      return std::tuple(report.owner.empty() ? report.name : report.owner, report.form);
    };
    if (key(a) != key(b)) return key(a) < key(b);
    if (a.span != b.span) return before(a.span, b.span);
    return lang::to_string(a.type) < lang::to_string(b.type);
  });
  std::vector<FunctionReport> of_entries = functions_;
  for (const FunctionCode* entry : entries_) add_functions(*entry, of_entries);
  reports.insert(reports.end(), of_entries.begin(), of_entries.end());
  return reports;
}

std::vector<LoopReport> RunHistory::recent_loops(const Globals& globals) const {
  std::vector<LoopReport> reports;
  for (const auto& [key, code] : globals) add_loops(*code, Form::Function, reports);
  append(recent_, reports);
  for (const FunctionCode* entry : entries_) {
    std::vector<LoopReport> of_entry;
    add_loops(*entry, Form::Entry, of_entry);
    append(of_entry, reports);
  }
  std::sort(reports.begin(), reports.end(), [](const LoopReport& a, const LoopReport& b) {
    return a.span == b.span ? a.text < b.text : before(a.span, b.span);
  });
  return reports;
}

std::vector<LoopReport> RunHistory::loops(const Globals& globals) const {
  std::vector<LoopReport> reports = loops_;
  append(recent_loops(globals), reports);
  std::sort(reports.begin(), reports.end(), [](const LoopReport& a, const LoopReport& b) {
    return a.span == b.span ? a.text < b.text : before(a.span, b.span);
  });
  return reports;
}

}  // namespace relay::interp
