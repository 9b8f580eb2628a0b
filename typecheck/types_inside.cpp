// The types of the code inside of a definition, for who shows them.

#include "lang/boxed.h"
#include "lang/stop.h"
#include "typecheck/checker.h"

namespace relay::typecheck {

using namespace lang;

namespace {

// What `root` is part of has been inferred, as far as that was possible.
void settle(Inference& inference, const Type& root, std::vector<TypeAt>& observed) {
  std::vector<Type> types{root};
  types.reserve(observed.size() + 1);
  for (const TypeAt& each : observed) types.push_back(each.type);
  const auto read = [&] {
    Generalised general = generalise(inference, types, 0);
    for (std::size_t i = 0; i < observed.size(); ++i)
      observed[i].type = std::move(general.members[i + 1]);
    return !general.scheme.relations.empty();
  };
  if (read() && inference.settle_usual()) read();
}

// `body` infers, and gives the type of the whole.
template <class Body>
std::vector<TypeAt> observed_in(const Globals& globals, const Body& body) {
  const auto attempt = [&](bool leaves_ranks_open, bool& has_failed) {
    std::vector<TypeAt> observed;
    const auto boxed =
        make_boxed<Inference>(globals, Purpose::kScheme, TypeSubstitution(), nullptr);
    Inference& inference = boxed->value;
    if (leaves_ranks_open) inference.leave_ranks_open();
    inference.observe(&observed);
    Type root;
    const auto whole = capture([&] {
      root = body(inference);
      inference.finish_generic({root});
      return true;
    });
    has_failed = !whole && inference.has_indexed_fully();
    if (!whole && is_stopping()) return std::vector<TypeAt>();
    inference.observe(nullptr);
    const auto settled = capture([&] {
      settle(inference, root ? root : tuple_type({}), observed);
      return true;
    });
    return settled ? observed : std::vector<TypeAt>();
  };
  bool has_failed = false;
  std::vector<TypeAt> observed = attempt(false, has_failed);
  if (!has_failed) return observed;
  std::vector<TypeAt> open = attempt(true, has_failed);
  return has_failed ? observed : open;
}

}  // namespace

std::vector<TypeAt> Checker::types_inside(const std::string& name) {
  const Definition* definition = impl_->module.find(name);
  if (!definition || !as<Function>(definition->function)) return {};
  const auto known = capture([&] { return impl_->inferred(name).member_names; });
  if (!known) return {};
  const std::vector<std::string> names = known->empty() ? std::vector{name} : *known;
  auto observed = observed_in(*impl_, [&](Inference& inference) {
    std::vector<Entry> made = impl_->unknown_entries(names);
    impl_->current.clear();
    std::vector<Type> types;
    std::size_t own = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      types.push_back(inference.declare(cast<Function>(made[i].function)));
      if (!made[i].is_stated) impl_->current[names[i]] = types.back();
      if (names[i] == name) own = i;
    }
    for (std::size_t i = 0; i < names.size(); ++i)
      inference.infer_function(made[i].function, types[i]);
    return types[own];
  });
  impl_->current.clear();
  return observed;
}

std::vector<TypeAt> Checker::types_inside(const Expr& expr, const Type& expected) {
  const auto known = capture([&] {
    impl_->ensure_globals(expr);
    return true;
  });
  if (!known) return {};
  return observed_in(*impl_, [&](Inference& inference) {
    if (!expected) return inference.infer(expr);
    const Type annotation = inference.open(expected, expr->span);
    inference.hint(expr, annotation);
    const Type type = inference.infer(expr);
    inference.expect({type, annotation, tail_of(expr)->span});
    return type;
  });
}

}  // namespace relay::typecheck
