#include "repl/external_compilers.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "external/plugin.h"
#include "kernels/external.h"
#include "lang/diagnostic.h"
#include "lang/memory.h"
#include "lang/op.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

constexpr std::array<std::string_view, 2> kBuiltIn = {"blas", "dnnl"};

bool is_built_in(const std::string& name) {
  return std::find(kBuiltIn.begin(), kBuiltIn.end(), name) != kBuiltIn.end();
}

kernels::MakeExternalCompiler maker_of_built_in() {
  const lang::Unfailing loading;
  // Never unloaded: the libraries behind it keep threads and state.
  void* const object = dlopen("librelay_kernels.so", RTLD_NOW | RTLD_LOCAL);
  return object ? reinterpret_cast<kernels::MakeExternalCompiler>(
                      dlsym(object, kernels::kExternalEntryName))
                : nullptr;
}

}  // namespace

std::vector<std::string> SessionCompilers::names() const {
  std::vector<std::string> names(kBuiltIn.begin(), kBuiltIn.end());
  for (const auto& [name, compiler] : loaded_) {
    if (!is_built_in(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

lang::ExternalCompiler& SessionCompilers::get(const std::string& name, lang::Span place) {
  if (const auto found = loaded_.find(name); found != loaded_.end()) return *found->second;
  if (!is_built_in(name)) {
    Diagnostic diagnostic(DiagnosticKind::UnknownName,
                          fmt::format("there is no external compiler `{}`", name), place);
    diagnostic.note(fmt::format("note: there are `{}`", fmt::join(names(), "`, `")));
    const auto close = lang::closest_names(name, names());
    diagnostic.note(close.empty()
                        ? "help: `--plugin FILE` loads one, and `:plugin FILE` at the prompt"
                        : fmt::format("help: did you mean `{}`?", close.front()));
    throw lang::Failure(std::move(diagnostic));
  }
  const auto make = maker_of_built_in();
  std::unique_ptr<lang::ExternalCompiler> made(make ? make(name.c_str()) : nullptr);
  if (!made) {
    lang::fail(DiagnosticKind::Unsupported,
               fmt::format("not supported: the external compiler `{}`: this program was built "
                           "without library kernels",
                           name),
               place);
  }
  return *(loaded_[name] = std::move(made));
}

void SessionCompilers::add(std::unique_ptr<lang::ExternalCompiler> compiler) {
  const std::string name = compiler->name();
  loaded_[name] = std::move(compiler);
}

std::string SessionCompilers::add_plugin(const std::string& path) {
  auto made = external::load_plugin(path);
  std::string name = made->name();
  add(std::move(made));
  return name;
}

}  // namespace relay::repl
