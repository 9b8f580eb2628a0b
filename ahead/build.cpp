#include "ahead/build.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "ahead/c_text.h"
#include "ahead/collect.h"
#include "ahead/entries.h"
#include "ahead/link.h"
#include "ahead/native_code.h"
#include "repl/files.h"
#include "repl/native_makers.h"
#include "repl/session.h"

namespace relay::ahead {

namespace fs = std::filesystem;

namespace {

// A folder of this process, gone with this.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "relay-build-XXXXXX").string();
    if (!mkdtemp(name.data()))
      lang::fail(lang::DiagnosticKind::FileError, fmt::format("cannot make `{}`", name));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void write_object(const Request& request, repl::Session& session,
                  const std::function<void(const std::string&)>& say) {
  const Entries entries = find_entries(request, session);
  const std::string bytes = built::write(collect(session.host(), entries.functions));
  const auto snapshot = built::read(bytes).or_throw();  // as the object will have it
  add_native_code(*snapshot, repl::native_makers(""), request.sizes);
  const TemporaryFolder folder;
  const std::string bytes_path = folder.path() + "/snapshot";
  repl::write_file(bytes_path, built::write(*snapshot)).or_throw();
  link_object(request, c_text(request, entries.exported, bytes_path), folder.path());
  for (const Exported& each : entries.exported) say(each.text);
  const std::size_t count = snapshot->functions.size();
  say(fmt::format("{} and {}: {} function{} of the program", request.output, header_path(request),
                  count, count == 1 ? "" : "s"));
  if (snapshot->images.empty() && !repl::native_makers("").kernels())
    say("without native code: `librelay_jit.so` cannot be loaded");
}

}  // namespace

bool build(const Request& request, const Listener& listener) {
  repl::SessionOptions options;
  options.search_path = request.search_path;
  repl::Session session(std::move(options));
  auto errors = session.run_file(request.path, [](const repl::ItemResult&) {});
  if (errors.empty()) {
    errors = session.within_limits([&] { write_object(request, session, listener.say); });
  }
  if (!errors.empty()) listener.complain(errors);
  return errors.empty();
}

}  // namespace relay::ahead
