#include "lang/plain_type.h"

#include <algorithm>
#include <unordered_set>

#include "lang/module.h"

namespace relay::lang {

namespace {

using Seen = std::unordered_set<const TypeDef*>;

bool is_plain(const Type& type, Seen& seen);

bool is_plain(const TypeDef& def, Seen& seen) {
  if (!seen.insert(&def).second) return true;
  return !def.is_extern &&
         std::all_of(def.constructors.begin(), def.constructors.end(),
                     [&](const Constructor& constructor) {
                       return std::all_of(constructor.fields.begin(), constructor.fields.end(),
                                          [&](const Type& field) { return is_plain(field, seen); });
                     });
}

bool is_plain(const Type& type, Seen& seen) {
  if (as<FunctionType>(type) || as<ReferenceType>(type)) return false;
  const auto* adt = as<AdtType>(type);
  const auto* tuple = as<TupleType>(type);
  const auto plain = [&](const Type& part) { return is_plain(part, seen); };
  if (tuple) return std::all_of(tuple->fields.begin(), tuple->fields.end(), plain);
  return !adt ||
         (is_plain(*adt->def, seen) && std::all_of(adt->args.begin(), adt->args.end(), plain));
}

}  // namespace

bool is_plain(const Type& type) {
  Seen seen;
  return is_plain(type, seen);
}

}  // namespace relay::lang
