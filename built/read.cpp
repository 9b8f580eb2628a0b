#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "built/code_reader.h"
#include "built/format.h"
#include "built/snapshot.h"
#include "built/tensor_reader.h"
#include "built/type_reader.h"
#include "built/value_reader.h"

namespace relay::built {

namespace {

[[noreturn]] void fail_bytes(const std::string& message) {
  lang::fail(lang::DiagnosticKind::BadData, message);
}

// What lies between header and data, after the header has been found to be right.
std::pair<std::string_view, std::size_t> tables_and_data(std::string_view bytes) {
  if (bytes.size() < kHeaderSize) {
    fail_bytes(fmt::format("the bytes of a built program are cut short: {} of {} in its header",
                           bytes.size(), kHeaderSize));
  }
  if (!bytes.starts_with(kMagic)) fail_bytes("these are not the bytes of a built program");
  lang::ByteReader header(bytes.substr(kMagic.size(), kHeaderSize - kMagic.size()));
  if (header.word() != version_number())
    fail_bytes("the bytes of a built program were written by another version of Relay");
  const std::uint64_t size = header.word();
  const std::uint64_t data = header.word();
  if (size > bytes.size()) {
    fail_bytes(fmt::format("the bytes of a built program are cut short: there are {} of {}",
                           bytes.size(), size));
  }
  if (size < bytes.size() || data > size || data < kHeaderSize ||
      header.word() != checksum_of(bytes))
    fail_damaged();
  return {bytes.substr(kHeaderSize, data - kHeaderSize), data};
}

// What is left are the zeros that align the data.
void check_end(lang::ByteReader& from) {
  for (std::size_t count = 0; from.size() > 0; ++count) {
    if (count >= kAlignment || from.byte() != 0) fail_damaged();
  }
}

std::unique_ptr<Snapshot> read_all(std::string_view bytes) {
  const auto [tables, data] = tables_and_data(bytes);
  lang::ByteReader from(tables);
  auto snapshot = std::make_unique<Snapshot>();
  TypeReader types(from, *snapshot);
  CodeReader code(from, types, *snapshot);
  code.read_names();
  TensorReader tensors(from, bytes, data);
  code.read_expressions(tensors);
  const std::uint64_t entries = from.number();
  for (std::size_t left = from.count(); left > 0; --left) {
    Snapshot::Function function;
    function.name = types.name();
    function.type = types.type();
    function.code = code.expr();
    snapshot->functions.push_back(std::move(function));
  }
  if (entries > snapshot->functions.size()) fail_damaged();
  snapshot->entry_count = static_cast<std::uint32_t>(entries);
  ValueReader values(from, types, tensors, code);
  for (std::size_t left = from.count(); left > 0; --left) {
    std::string name = types.name();
    snapshot->bindings.push_back({std::move(name), values.value()});
  }
  for (std::size_t left = from.count(); left > 0; --left)
    snapshot->features.emplace_back(from.text());
  for (std::size_t left = from.count(); left > 0; --left) {
    std::string key(from.text());
    snapshot->images.emplace(std::move(key), lang::read_code_image(from));
  }
  check_end(from);
  return snapshot;
}

}  // namespace

lang::Result<std::unique_ptr<Snapshot>> read(std::string_view bytes) {
  return lang::capture([&]() -> std::unique_ptr<Snapshot> {
    try {
      return read_all(bytes);
    } catch (const lang::DamagedBytes&) {
      fail_damaged();
    } catch (const lang::InternalError&) {  // no such node can be made
      fail_damaged();
    }
  });
}

}  // namespace relay::built
