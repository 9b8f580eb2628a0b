#include "lang/type_var.h"

namespace relay::lang {
namespace {

std::uint64_t next_id() {
  static std::uint64_t id = 0;
  return ++id;
}

}  // namespace

TypeVarRef TypeVar::rigid(VarKind kind, std::string name) {
  return make_ref<const TypeVar>(kind, std::move(name), false, next_id());
}

TypeVarRef TypeVar::unknown(VarKind kind) {
  return make_ref<const TypeVar>(kind, std::string(), true, next_id());
}

}  // namespace relay::lang
