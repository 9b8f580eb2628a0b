#include "formats/formats.h"

#include <algorithm>
#include <cctype>
#include <new>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "formats/bytes.h"
#include "formats/csv.h"
#include "formats/npy.h"
#include "formats/npz.h"
#include "formats/png.h"
#include "formats/safetensors.h"

namespace relay::formats {

namespace {

// What a format does. `write` of several tensors only where the format has names.
struct Format {
  std::string_view extension;
  bool has_names;
  Header (*header)(const Location&, const Progress&);
  lang::TensorRef (*read)(const Location&, lang::DType, const Progress&);
  void (*write)(const Location&, const std::vector<NamedTensor>&, const Progress&);
};

constexpr Format kFormats[] = {
    {".npy", false,
     [](const Location& location, const Progress&) {
       FileReader file(location);
       return read_npy_header(file, location.path).header;
     },
     [](const Location& location, lang::DType, const Progress& progress) {
       FileReader file(location, progress);
       return read_npy(file, location.path, progress);
     },
     [](const Location& location, const std::vector<NamedTensor>& tensors,
        const Progress& progress) {
       FileWriter file(location);
       write_npy(file, location.path, *tensors.front().tensor, progress);
       file.finish();
     }},
    {".npz", true, read_npz_header,
     [](const Location& location, lang::DType, const Progress& progress) {
       return read_npz(location, progress);
     },
     write_npz},
    {".safetensors", true, read_safetensors_header,
     [](const Location& location, lang::DType, const Progress& progress) {
       return read_safetensors(location, progress);
     },
     write_safetensors},
    {".csv", false,
     [](const Location&, const Progress&) {
       return Header{lang::DType::Float32, {-1, -1}};
     },
     read_csv,
     [](const Location& location, const std::vector<NamedTensor>& tensors,
        const Progress& progress) { write_csv(location, *tensors.front().tensor, progress); }},
    {".png", false, read_png_header,
     [](const Location& location, lang::DType, const Progress& progress) {
       return read_png(location, progress);
     },
     [](const Location& location, const std::vector<NamedTensor>& tensors, const Progress&) {
       write_png(location, *tensors.front().tensor);
     }},
};

const Format* find_format(const std::string& path) {
  std::string extension = path.substr(std::min(path.rfind('.'), path.size()));
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* found =
      std::find_if(std::begin(kFormats), std::end(kFormats),
                   [&](const Format& format) { return format.extension == extension; });
  return found == std::end(kFormats) ? nullptr : found;
}

const Format& format_of(const Location& location) {
  const std::string& path = location.path;
  if (const Format* format = find_format(location.is_csv ? ".csv" : path)) return *format;
  std::string known;
  for (const Format& format : kFormats)
    known += fmt::format("{}`{}`", known.empty() ? "" : ", ", format.extension);
  lang::fail(lang::DiagnosticKind::BadData,
             fmt::format("`{}` has none of the extensions {}", path, known));
}

// Whatever a library or the memory throws ends in a diagnostic that names the file.
template <class F>
auto guarded(const std::string& path, F&& body) -> lang::Result<decltype(body())> {
  try {
    return lang::capture(std::forward<F>(body));
  } catch (const lang::InternalError&) {
    throw;
  } catch (const std::bad_alloc&) {
    return lang::Diagnostic(lang::DiagnosticKind::OutOfMemory,
                            fmt::format("out of memory with the file `{}`", path));
  } catch (const std::exception& error) {
    return lang::Diagnostic(lang::DiagnosticKind::BadData,
                            fmt::format("{}: {}", path, error.what()));
  }
}

// The program reads the header when it is checked, and all of the file when it runs.
void require_two_readings(const Location& location) {
  FileReader file(location);
  if (file.is_regular()) return;
  lang::fail(lang::DiagnosticKind::Unsupported,
             fmt::format("not supported: the header of `{}`, a pipe or device, which can be read "
                         "only once",
                         location.path));
}

}  // namespace

lang::Result<Header> read_header(const Location& location, const Progress& progress) {
  return guarded(location.path, [&] {
    const Format& format = format_of(location);
    require_two_readings(location);
    return format.header(location, progress);
  });
}

lang::Result<lang::TensorRef> read_tensor(const Location& location, lang::DType dtype,
                                          const Progress& progress) {
  return guarded(location.path,
                 [&] { return format_of(location).read(location, dtype, progress); });
}

lang::Result<bool> write_tensors(const Location& location, const std::vector<NamedTensor>& tensors,
                                 const Progress& progress) {
  return guarded(location.path, [&] {
    const Format& format = format_of(location);
    if (tensors.size() != 1 && !format.has_names) {
      lang::fail(
          lang::DiagnosticKind::BadData,
          fmt::format("{} tensors do not fit into a `{}` file; `.npz` and `.safetensors` hold "
                      "several",
                      tensors.size(), format.extension));
    }
    std::vector<NamedTensor> dense;
    std::unordered_set<std::string_view> names;
    for (const NamedTensor& named : tensors) {
      if (named.name.find('\0') != std::string::npos || named.name == "__metadata__")
        lang::fail(lang::DiagnosticKind::BadData,
                   fmt::format("no tensor may be called {}", in_backticks(named.name)));
      check_header(location.path, {named.tensor->dtype(), named.tensor->shape()});
      if (!names.insert(named.name).second) {
        lang::fail(lang::DiagnosticKind::BadData,
                   fmt::format("two tensors are called `{}`", named.name));
      }
      dense.push_back({named.name, lang::contiguous(named.tensor)});
    }
    format.write(location, dense, progress);
    return true;
  });
}

}  // namespace relay::formats
