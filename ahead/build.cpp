#include "ahead/build.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "ahead/c_text.h"
#include "ahead/collect.h"
#include "ahead/entries.h"
#include "ahead/link.h"
#include "ahead/native_code.h"
#include "lang/op.h"
#include "repl/files.h"
#include "repl/native_makers.h"
#include "repl/temporary_folder.h"

namespace relay::ahead {

namespace fs = std::filesystem;

namespace {

// What somebody has written stays.
void check_header(const Request& request) {
  const std::string path = header_path(request);
  std::error_code unknown;
  if (!fs::exists(path, unknown)) return;
  const auto text = repl::read_file(path);
  if (text && text->starts_with(kHeaderBegins)) return;
  lang::fail(lang::DiagnosticKind::FileError,
             fmt::format("`{}`, where the header goes, is there, and not by `relay build`", path));
}

void check_sizes(const Request& request, const Entries& entries) {
  std::vector<std::string> names;
  for (const Exported& each : entries.exported) {
    for (const lang::TypeVarRef& dim : each.signature.dims) names.push_back(dim->name);
  }
  for (const auto& [name, extents] : request.sizes) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    lang::Diagnostic error(
        lang::DiagnosticKind::UnknownName,
        fmt::format("`--size {}`: no function has a dimension of that name", name));
    const std::vector<std::string> close = lang::closest_names(name, names);
    if (!close.empty()) error.note(fmt::format("help: did you mean `{}`?", close.front()));
    throw lang::Failure(std::move(error));
  }
}

void write_object(const Request& request, repl::Session& session,
                  const std::function<void(const std::string&)>& say) {
  check_header(request);
  const Entries entries = find_entries(request, session);
  check_sizes(request, entries);
  const std::string bytes = built::write(collect(session.host(), entries.functions));
  const auto snapshot = built::read(bytes).or_throw();  // as the object will have it
  add_native_code(*snapshot, repl::native_makers(""), request.sizes);
  const repl::TemporaryFolder folder;
  repl::write_file(folder.path() + "/snapshot", built::write(*snapshot)).or_throw();
  link_object(request, c_text(request, entries.exported), folder.path());
  for (const Exported& each : entries.exported) say(each.text);
  const std::size_t count = snapshot->functions.size();
  say(fmt::format("{} and {}: {} function{} of the program", request.output, header_path(request),
                  count, count == 1 ? "" : "s"));
  if (snapshot->images.empty() && !repl::native_makers("").kernels())
    say("without native code: `librelay_jit.so` cannot be loaded");
}

}  // namespace

bool build(const Request& request, repl::SessionOptions options, const Listener& listener) {
  repl::Session session(std::move(options));
  auto errors = session.run_file(request.path, [](const repl::ItemResult&) {});
  if (errors.empty()) {
    errors = session.within_limits([&] { write_object(request, session, listener.say); });
  }
  if (!errors.empty()) listener.complain(errors);
  return errors.empty();
}

}  // namespace relay::ahead
