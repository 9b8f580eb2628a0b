// A text that is read for who shows it while it is being typed.

#include <utility>

#include "repl/session_state.h"
#include "repl/tensor_files.h"

namespace relay::repl {

ReadText Session::read(const lang::Source& source, const std::string& directory) {
  ReadText text;
  text.scope.import(impl_->prelude);
  text.scope.define(unread_file());
  text.prelude.import(impl_->prelude);
  const auto read = [&] {
    impl_->warnings.clear();
    const Imports::Reading reading_it(impl_->imports, source.name(), {});
    impl_->imports.set_tree(directory);
    impl_->imports.look_again();
    auto imported = lang::capture([&] {
      impl_->import_files(source, parser::Notation::Auto, directory, text.scope, nullptr, nullptr);
      return true;
    });
    if (!imported) text.import_errors = imported.errors();
    impl_->pipeline.set_directory(directory);
    auto reading = impl_->guarded([&] {
      parser::Reading found =
          parser::parse_all(source, text.scope, parser::Notation::Auto, "", &text.occurrences);
      for (parser::Item& item : found.parsed.items) {
        if (item.expr) item.expr = impl_->with_files(item.expr, item.annotation, found.errors);
      }
      return found;
    });
    impl_->changed.clear();
    text.warnings = std::exchange(impl_->warnings, {});
    return reading;
  };
  auto reading = impl_->entry(read);
  if (reading) {
    text.reading = std::move(*reading);
  } else {
    text.reading.errors = reading.errors();
  }
  return text;
}

std::vector<lang::Diagnostic> Session::within_limits(const std::function<void()>& body) {
  return impl_->entry([&]() -> std::vector<lang::Diagnostic> {
    const auto done = impl_->guarded([&] {
      body();
      return true;
    });
    return done ? std::vector<lang::Diagnostic>() : done.errors();
  });
}

}  // namespace relay::repl
