#include "ad/way.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace relay::ad {

namespace {

// "in `layer`, which is called here", where the call is written `layer(x)`.
std::string words_for(lang::Span call) {
  const std::string_view text = call.text();
  const std::string_view name = text.substr(0, std::min(text.find('('), text.size()));
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '@' || c == '%';
  });
  if (!is_name) return "in this call";
  return fmt::format("in `{}`{}", name, name == text ? "" : ", which is called here");
}

}  // namespace

void add_call(lang::Failure& failure, lang::Span call) {
  if (!call) return;
  for (lang::Diagnostic& diagnostic : failure.diagnostics) {
    const bool is_known = diagnostic.span == call ||
                          std::any_of(diagnostic.labels.begin(), diagnostic.labels.end(),
                                      [&](const lang::Label& label) { return label.span == call; });
    if (!is_known) diagnostic.label(call, words_for(call));
  }
}

}  // namespace relay::ad
