#include "repl/tune.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "lang/dtype.h"
#include "lang/function_fact.h"
#include "lang/letters.h"
#include "lang/schedule.h"
#include "lang/stop.h"
#include "repl/columns.h"
#include "repl/command_parts.h"
#include "repl/output.h"
#include "repl/schedule_search.h"
#include "repl/tools.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

using Clock = std::chrono::steady_clock;

// A search for a schedule of a function, by measuring a call of it.
struct TuneRequest {
  std::string function;
  std::string call;  // what is run; with its arguments at hand
  double seconds = 10;
};
struct Tuned {
  lang::ScheduleSteps schedule;  // empty: none was faster than the generic one
  double generic_seconds = 0;    // medians of runs in turn
  double best_seconds = 0;
  int tried = 0;
};

constexpr int kRounds = 5;               // in turn with the best one
constexpr double kLessByAtLeast = 0.97;  // of the time: what is not the clock's noise

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

const lang::Function* function_called(Session& session, const std::string& name) {
  const lang::Definition* definition = session.module().find(name);
  return definition ? lang::as<lang::Function>(definition->function) : nullptr;
}

// Draws schedules, and changes the best one so far, until the time is over. Each is run in turn
// with the best one, and the medians are compared. Leaves the function as it was.
class Tuner {
 public:
  Tuner(Session& session, const TuneRequest& request) : session_(session), request_(request) {}

  Tuned run(const lang::Function& function, const std::vector<lang::ScheduledNest>& nests) {
    const std::string* const own = lang::find_text(function, lang::FunctionFact::Schedule);
    const std::string before = own ? *own : "";
    struct Restore {
      Tuner& tuner;
      const std::string& schedule;
      ~Restore() { (void)tuner.set(schedule); }
    } restore{*this, before};
    const auto end = Clock::now() + std::chrono::duration<double>(request_.seconds);
    Tuned tuned;
    std::map<std::string, double> known;
    const auto generic = times_of("", 2);
    if (!generic) throw lang::Failure(generic.errors());
    ScheduleSearch search(nests);
    lang::ScheduleSteps best;
    for (int i = 0; Clock::now() < end; ++i) {
      lang::poll();
      const bool is_fresh = best.empty() || i % 4 == 0;
      const lang::ScheduleSteps steps = is_fresh ? search.drawn() : search.changed(best);
      const std::string text = lang::to_string(steps);
      if (steps.empty() || !known.emplace(text, 0.0).second) {
        if (++repeated_ > kMostRepeated) break;  // there are no others
        continue;
      }
      repeated_ = 0;
      ++tuned.tried;
      if (is_faster(text, lang::to_string(best))) best = steps;
    }
    const auto [generic_seconds, best_seconds] = in_turn("", lang::to_string(best), 2 * kRounds);
    tuned.generic_seconds = generic_seconds;
    tuned.best_seconds = best_seconds;
    // Chosen from many, it must hold once more.
    if (best_seconds <= kLessByAtLeast * generic_seconds) tuned.schedule = std::move(best);
    return tuned;
  }

  static constexpr int kMostRepeated = 500;

 private:
  std::vector<Diagnostic> set(const std::string& schedule) {
    if (schedule == current_) return {};
    current_ = schedule;
    return session_.run("<schedule>",
                        fmt::format("schedule {} {{ {} }}\n", request_.function, schedule), nullptr,
                        parser::Notation::Light);
  }

  lang::Result<std::vector<double>> times_of(const std::string& schedule, int runs) {
    if (auto errors = set(schedule); !errors.empty()) return errors;
    return session_.run_times(request_.call, runs);
  }

  // Medians of both.
  std::pair<double, double> in_turn(const std::string& one, const std::string& other, int rounds) {
    std::vector<double> first;
    std::vector<double> second;
    for (int i = 0; i < rounds; ++i) {
      for (auto* times : {&first, &second}) {
        auto found = times_of(times == &first ? one : other, 1);
        if (!found) throw lang::Failure(found.errors());
        times->insert(times->end(), found->begin(), found->end());
      }
    }
    return {median(first), median(second)};
  }

  bool is_faster(const std::string& schedule, const std::string& best) {
    const auto once = times_of(schedule, 1);
    if (!once) {
      if (lang::is_stop(once.errors().front().kind)) throw lang::Failure(once.errors());
      return false;  // it cannot be done to this nest
    }
    const auto best_once = times_of(best, 1);
    if (!best_once) throw lang::Failure(best_once.errors());
    if ((*once)[0] > 1.5 * (*best_once)[0]) return false;
    const auto [of_best, of_this] = in_turn(best, schedule, kRounds);
    return of_this < kLessByAtLeast * of_best;
  }

  Session& session_;
  const TuneRequest& request_;
  std::string current_ = "?";
  int repeated_ = 0;
};

// Arguments of ones for a function, where the types of its parameters say all of the shapes. They
// are bindings of the session while it lives, so that the call is computed anew each time.
class PlainCall {
 public:
  PlainCall(Session& session, const std::string& name, const lang::Function& function)
      : session_(session) {
    std::string text;
    for (const lang::VariableRef& param : function.params) {
      const std::optional<std::string> ones = ones_of(param->type);
      if (!ones) return;
      names_.push_back(fmt::format("argument_{}_of_{}", names_.size(), name));
      text += fmt::format("let {} = {}\n", names_.back(), *ones);
    }
    if (!session_.run("<arguments>", std::move(text), nullptr, parser::Notation::Light).empty())
      return;
    call_ = fmt::format("{}({})", name, fmt::join(names_, ", "));
  }
  ~PlainCall() {
    for (const std::string& name : names_) (void)session_.forget(name);
  }
  PlainCall(const PlainCall&) = delete;
  PlainCall& operator=(const PlainCall&) = delete;

  const std::string& call() const { return call_; }  // empty: the types do not say

 private:
  static std::optional<std::string> ones_of(const lang::Type& type) {
    const auto* tensor = lang::as<lang::TensorType>(type);
    if (!tensor || !tensor->shape.has_rank() || !tensor->dtype.is_known()) return std::nullopt;
    std::vector<std::int64_t> shape;
    for (const lang::Dim& dim : tensor->shape.dims()) {
      if (!dim.is_constant()) return std::nullopt;
      shape.push_back(dim.constant());
    }
    return fmt::format("ones(shape=[{}], dtype=\"{}\")", fmt::join(shape, ", "),
                       lang::name_of(tensor->dtype.known()));
  }

  Session& session_;
  std::vector<std::string> names_;
  std::string call_;
};

Diagnostic bad(std::string message) { return {DiagnosticKind::BadCommand, std::move(message)}; }

// A name with its dots.
std::string leading_name(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t length = text[end] == '.' ? 1 : lang::word_length(text.substr(end));
    if (length == 0) break;
    end += length;
  }
  return std::string(text.substr(0, end));
}

// Is there a call of the function in the text? `g_f(x)` and `m.f(x)` are none of `f`.
bool calls(std::string_view text, const std::string& function) {
  const std::string call = function + "(";
  for (std::size_t at = text.find(call); at != std::string_view::npos;
       at = text.find(call, at + 1)) {
    const std::string_view before = text.substr(0, at);
    if (lang::word_length_at_end(before) == 0 && !before.ends_with('.')) return true;
  }
  return false;
}

// Takes `10s` from the end of the text.
double take_seconds(std::string_view& text, double seconds) {
  const std::size_t blank = text.find_last_of(" \t");
  if (blank == std::string_view::npos || text.back() != 's') return seconds;
  const std::string_view word = text.substr(blank + 1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size() - 1, value);
  if (error != std::errc() || end != word.data() + word.size() - 1 || value <= 0) return seconds;
  text = text.substr(0, text.find_last_not_of(" \t", blank) + 1);
  return value;
}

lang::Result<Tuned> tune(Session& session, const TuneRequest& request) {
  return lang::capture([&] {
    const lang::Function* function = function_called(session, request.function);
    if (!function)
      throw lang::Failure(bad(fmt::format("there is no function `{}` here", request.function)));
    const std::vector<lang::ScheduledNest> nests = lang::nests_of(*function);
    if (nests.empty())
      throw lang::Failure(bad(fmt::format(
          "`{}` has no `for i {{ .. }}` whose loops a schedule could be of", request.function)));
    return Tuner(session, request).run(*function, nests);
  });
}

// What came of it, as a text that can be pasted.
std::string describe(const Tuned& tuned, const TuneRequest& request) {
  if (tuned.schedule.empty()) {
    return fmt::format("// {}: of {} schedules none is faster than the generic one, {}\n",
                       request.function, tuned.tried, duration(tuned.generic_seconds));
  }
  std::string text = fmt::format("schedule {} {{\n", request.function);
  for (const lang::ScheduleStep& step : tuned.schedule)
    text += "  " + lang::to_string(lang::ScheduleSteps{step}) + ";\n";
  return text + fmt::format("}}\n// {} instead of {}; {} schedules tried\n",
                            duration(tuned.best_seconds), duration(tuned.generic_seconds),
                            tuned.tried);
}

bool has_nests(const lang::Function* function) {
  return function && !lang::nests_of(*function).empty();
}

}  // namespace

lang::Result<std::string> tune_command(Session& session, std::string_view argument) {
  TuneRequest request;
  request.seconds = take_seconds(argument, request.seconds);
  request.function = leading_name(argument);
  request.call = std::string(argument);
  const lang::Function* function = function_called(session, request.function);
  std::optional<PlainCall> plain;
  if (has_nests(function) && request.call == request.function) {
    plain.emplace(session, request.function, *function);
    request.call = plain->call();
    if (request.call.empty())
      return bad(fmt::format("which arguments shall `{}` have?", request.function))
          .note(fmt::format("help: `:tune {}(..) 10s`, or say the shapes in the types of its "
                            "parameters",
                            request.function));
  }
  const auto tuned = tune(session, request);
  if (!tuned) return tuned.errors();
  return describe(*tuned, request);
}

int tune_file(const TuneFile& request, const std::vector<std::string>& search_path,
              Reporter& reporter) {
  SessionOptions options;
  options.jit = interp::JitMode::Always;
  options.search_path = search_path;
  options.write = [](std::string_view) {};
  Session session(std::move(options));
  std::vector<std::string> expressions;
  std::vector<std::string> functions;
  auto errors = session.run_file(request.path, [&](const ItemResult& item) {
    if (item.kind == parser::ItemKind::Expression) expressions.emplace_back(item.span.text());
    if (item.kind == parser::ItemKind::Def) functions.push_back(item.name);
  });
  if (!errors.empty()) {
    reporter.report(errors);
    return kProgramError;
  }
  std::sort(functions.begin(), functions.end());
  functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
  if (!request.function.empty()) functions = {request.function};
  bool found = false;
  for (const std::string& name : functions) {
    const lang::Function* function = function_called(session, name);
    if (request.function.empty() && !has_nests(function)) continue;
    TuneRequest one{name, "", request.seconds};
    for (const std::string& expression : expressions) {
      if (calls(expression, name)) one.call = expression;
    }
    std::optional<PlainCall> plain;
    if (one.call.empty() && has_nests(function)) {
      plain.emplace(session, name, *function);
      one.call = plain->call();
      if (one.call.empty()) {
        put_output(fmt::format("// {}: no expression of the file calls it\n", name));
        continue;
      }
    }
    const auto tuned = tune(session, one);
    if (!tuned) {
      reporter.report(tuned.errors());
      return kProgramError;
    }
    put_output(describe(*tuned, one));
    found = true;
  }
  if (!found) put_output("// nothing to tune: no function with `for i { .. }` is called\n");
  return 0;
}

}  // namespace relay::repl
