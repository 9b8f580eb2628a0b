#include <array>
#include <cstring>

#include "built/code_writer.h"
#include "built/format.h"
#include "built/snapshot.h"
#include "built/tensor_writer.h"
#include "built/type_writer.h"
#include "built/value_writer.h"

namespace relay::built {

namespace {

void put_word(std::uint64_t word, std::size_t at, std::string& bytes) {
  std::memcpy(bytes.data() + at, &word, sizeof(word));
}

}  // namespace

std::string write(const Snapshot& snapshot) {
  TypeWriter types;
  TensorWriter tensors;
  CodeWriter code(types, tensors);
  ValueWriter values(types, tensors, code);

  lang::ByteWriter functions;
  functions.number(snapshot.entry_count);
  functions.number(snapshot.functions.size());
  for (const Snapshot::Function& each : snapshot.functions) {
    types.name(each.name, functions);
    types.type(each.type, functions);
    code.expr(each.code, functions);
  }
  lang::ByteWriter bindings;
  bindings.number(snapshot.bindings.size());
  for (const Snapshot::Binding& each : snapshot.bindings) {
    types.name(each.name, bindings);
    values.value(each.value, each.name, bindings);
  }
  values.finish();
  types.finish();

  lang::ByteWriter to;
  to.bytes(kMagic);
  to.bytes(std::string(kHeaderSize - kMagic.size(), '\0'));
  types.append_to(to);
  code.append_names_to(to);
  tensors.append_to(to);
  code.append_to(to);
  to.bytes(functions.all());
  values.append_to(to);
  to.bytes(bindings.all());
  to.number(snapshot.features.size());
  for (const std::string& feature : snapshot.features) to.text(feature);
  to.number(snapshot.images.size());
  for (const auto& [key, image] : snapshot.images) {
    to.text(key);
    lang::write(image, to);
  }

  std::string bytes = to.take();
  const std::size_t data = aligned(bytes.size());
  bytes.reserve(data + tensors.data_size());
  bytes.resize(data);
  tensors.append_data(bytes);
  std::size_t at = kMagic.size();
  for (const std::uint64_t word :
       {version_number(), std::uint64_t{bytes.size()}, std::uint64_t{data}}) {
    put_word(word, at, bytes);
    at += sizeof(word);
  }
  put_word(checksum_of(bytes), kChecksumAt, bytes);
  return bytes;
}

}  // namespace relay::built
