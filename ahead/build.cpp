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
  say(fmt::format("{}: {} of the program, {} pieces of native code, {:.1f} MiB; {}", request.output,
                  snapshot->functions.size() == 1
                      ? std::string("a function")
                      : fmt::format("{} functions", snapshot->functions.size()),
                  snapshot->images.size(),
                  static_cast<double>(fs::file_size(request.output)) / (1 << 20),
                  header_path(request)));
}

}  // namespace

std::vector<lang::Diagnostic> build(const Request& request,
                                    const std::function<void(const std::string&)>& say) {
  repl::SessionOptions options;
  options.search_path = request.search_path;
  repl::Session session(std::move(options));
  auto errors = session.run_file(request.path, [](const repl::ItemResult&) {});
  if (!errors.empty()) return errors;
  auto limited = lang::capture([&] {
    auto stopped = session.within_limits([&] { write_object(request, session, say); });
    if (!stopped.empty()) throw lang::Failure(stopped);
    return true;
  });
  return limited ? std::vector<lang::Diagnostic>() : limited.errors();
}

}  // namespace relay::ahead
