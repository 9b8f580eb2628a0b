#include "ad/way.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "ad/flow.h"
#include "lang/call_site.h"
#include "lang/letters.h"
#include "lang/visit.h"

namespace relay::ad {

namespace {

constexpr std::size_t kMostSteps = 4;  // between the parameter and the end

// "in `layer`, which is called here", where the call is written `layer(x)`.
std::string words_for(lang::Span call) {
  const std::string_view text = call.text();
  const std::string_view name = text.substr(0, std::min(text.find('('), text.size()));
  return lang::is_written_as_name(name) ? fmt::format("in `{}`, which is called here", name)
                                        : "in this call";
}

// A step that is worth a word.
struct Word {
  std::string name;
  lang::Span place;
  std::string label;
};

class Teller {
 public:
  Teller(const Flow& flow, const std::vector<Flow::Step>& way) : flow_(flow) {
    for (const Flow::Step& step : way) add(step);
  }

  void tell(lang::Diagnostic& diagnostic) {
    if (words_.empty()) return;
    const std::size_t first = kMostSteps / 2 + 1;
    const std::size_t last = kMostSteps - kMostSteps / 2;
    const bool is_long = words_.size() > first + last;
    std::string line;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (is_long && i == first) line += "... -> ";
      if (is_long && i >= first && i < words_.size() - last) continue;
      line += words_[i].name + " -> ";
      if (words_[i].place) diagnostic.label(words_[i].place, words_[i].label);
    }
    diagnostic.note("note: the way there is " + line + "here");
  }

 private:
  void add(const Flow::Step& step) {
    if (!step.to) return;
    const std::string name = is_named(*step.to) ? fmt::format("`{}`", step.to->name) : "";
    if (words_.empty()) {  // the parameter; one without a name is that of a function made for it
      if (name.empty()) return;
      const std::string owner = flow_.owner(*step.to);
      const std::string whose = owner.empty() ? "" : fmt::format(" of `{}`", owner);
      words_.push_back({name + whose, step.to->span, "differentiated by " + name});
    } else if (!step.name.empty()) {
      words_.push_back({step.name, step.place, step.label});
    } else if (!name.empty()) {
      words_.push_back({name, step.to->span, fmt::format("goes into {}", name)});
    }
  }

  const Flow& flow_;
  std::vector<Word> words_;
};

}  // namespace

std::vector<lang::VariableRef> variables_of(const lang::Expr& literal) {
  std::vector<lang::VariableRef> variables = lang::cast<lang::Function>(literal).params;
  for (lang::VariableRef& free : lang::free_variables(literal))
    variables.push_back(std::move(free));
  return variables;
}

void tell_way(lang::Failure& failure, const lang::Function& function, const std::string& name,
              const std::vector<lang::VariableRef>& from, lang::Program& program,
              Tangents& tangents) {
  for (lang::Diagnostic& diagnostic : failure.diagnostics) {
    if (!diagnostic.span) continue;
    Flow flow(program, tangents, lang::place_of(diagnostic.span).span);
    flow.enter(function, name);
    const std::vector<Flow::Step> way = flow.way(from);
    if (!way.empty()) {
      Teller(flow, way).tell(diagnostic);
      continue;
    }
    for (const lang::Span call : flow.calls()) diagnostic.label(call, words_for(call));
  }
}

}  // namespace relay::ad
