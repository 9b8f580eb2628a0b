#include <fmt/format.h>

#include "tests/support/random_generator.h"

// Tuples, lists, options, trees, records.
namespace relay::tests {

namespace {

Ty list_of(const Ty& element) { return {Ty::Kind::List, {}, {element}}; }

}  // namespace

std::string Generator::construct(const Ty& type, int fuel) {
  switch (type.kind) {
    case Ty::Kind::Tuple: {
      const auto parts = shares(fuel, type.parts.size());
      std::vector<std::string> fields;
      for (std::size_t i = 0; i < type.parts.size(); ++i)
        fields.push_back(expression(type.parts[i], parts[i]));
      return fmt::format("({})", fmt::join(fields, ", "));
    }
    case Ty::Kind::List: {
      const std::size_t count = fuel > 0 ? 1 + random_.below(2) : random_.below(4) != 0;
      const auto parts = shares(fuel, count + 1);
      std::vector<std::string> items;
      for (std::size_t i = 0; i < count; ++i) items.push_back(expression(type.element(), parts[i]));
      std::string text = fuel > 3 ? expression(type, parts[count]) : "Nil";
      for (std::size_t i = count; i-- > 0;) text = fmt::format("Cons({}, {})", items[i], text);
      return text;
    }
    case Ty::Kind::Option:
      if (random_.one_in(5)) return "None";
      return fmt::format("Some({})", expression(type.element(), fuel - 1));
    case Ty::Kind::Tree: {
      type_text(type);
      if (fuel <= 1 || random_.one_in(3)) {
        return fmt::format("Leaf({})", expression(type.element(), fuel - 1));
      }
      const auto parts = shares(fuel, 2);
      const std::string l = expression(type, parts[0]);
      return fmt::format("Node({}, {})", l, expression(type, parts[1]));
    }
    case Ty::Kind::Rose: {
      type_text(type);
      const auto parts = shares(fuel, 2);
      const std::string item = expression(type.element(), parts[0]);
      if (fuel <= 2) return fmt::format("Rose({}, Nil)", item);
      return fmt::format("Rose({}, {})", item, expression(list_of(type), parts[1]));
    }
    case Ty::Kind::Record: {
      use(Feature::Record);
      require("Params");
      const Ty vector{Ty::Kind::Tensor, {3}, {}};
      if (const Name* known = variable(type); known && random_.one_in(2)) {
        const std::string text = known->text;
        return random_.one_in(2)
                   ? fmt::format("({} with {{ w = {} }})", text, expression(vector, fuel - 1))
                   : fmt::format("({} with {{ b = {} }})", text, expression({}, fuel - 1));
      }
      const auto parts = shares(fuel, 2);
      const std::string w = expression(vector, parts[0]);
      const std::string b = expression({}, parts[1]);
      return random_.one_in(2)
                 ? fmt::format("Params(b = {}, w = {}, steps = {})", b, w, small_count())
                 : fmt::format("Params({}, {}, {})", w, b, small_count());
    }
    case Ty::Kind::Choice: {
      require("Choice");
      if (random_.one_in(6)) return "Neither";
      const auto parts = shares(fuel, 2);
      if (random_.one_in(2)) return fmt::format("One({})", expression({}, fuel - 1));
      const std::string many = expression({Ty::Kind::Tensor, {3}, {}}, parts[0]);
      return fmt::format("Many({}, {})", many, expression({}, parts[1]));
    }
    case Ty::Kind::Tensor:
    case Ty::Kind::Function:
      break;
  }
  return leaf(type);
}

// Made from other data of its kind.
std::string Generator::derived_data(const Ty& type, int fuel) {
  switch (type.kind) {
    case Ty::Kind::List:
      return derived_list(type, fuel);
    case Ty::Kind::Tuple:
      if (type.parts.size() == 2) {
        return fmt::format(
            "{}({})", require("swap"),
            expression({Ty::Kind::Tuple, {}, {type.parts[1], type.parts[0]}}, fuel - 1));
      }
      return construct(type, fuel);
    case Ty::Kind::Tree: {
      use(Feature::TreeRecursion);
      const auto parts = shares(fuel, 2);
      const Ty item = data_type(1);
      const std::string f = expression({Ty::Kind::Function, {}, {item, type.element()}}, parts[0]);
      const Ty from{Ty::Kind::Tree, {}, {item}};
      type_text(from);
      return fmt::format("{}({}, {})", require("map_tree"), f, scrutinee(from, parts[1]));
    }
    default:
      return construct(type, fuel);
  }
}

std::string Generator::derived_list(const Ty& type, int fuel) {
  const auto parts = shares(fuel, 2);
  const Ty& element = type.element();
  use(Feature::ListRecursion);
  switch (random_.below(8)) {
    case 0:
    case 1:
    case 2: {
      const Name* known = variable_of(Ty::Kind::List);
      const Ty from = known ? known->type : list_of(data_type(1));
      const std::string f =
          expression({Ty::Kind::Function, {}, {from.element(), element}}, parts[0]);
      return fmt::format("map({}, {})", f, scrutinee(from, parts[1]));
    }
    case 3:
      return fmt::format("rev({})", expression(type, fuel - 1));
    case 4: {
      const std::string front = construct(type, std::min(parts[0], 3));
      return fmt::format("concat({}, {})", front, scrutinee(type, parts[1]));
    }
    case 5:
      if (element.kind == Ty::Kind::Tuple && element.parts.size() == 2) {
        const std::string xs = expression(list_of(element.parts[0]), parts[0]);
        return fmt::format("zip({}, {})", xs, expression(list_of(element.parts[1]), parts[1]));
      }
      return fmt::format("tl(Cons({}, {}))", leaf(element), expression(type, fuel - 1));
    case 6:
      if (element.is_scalar()) {
        const std::string y = fresh("y");
        return fmt::format("filter(fn ({}) {{ {} < {} }}, {})", y, y, scalar(random_.number()),
                           expression(type, fuel - 1));
      }
      return fmt::format("tl(Cons({}, {}))", leaf(element), expression(type, fuel - 1));
    default: {
      const Ty state = data_type(1);
      const Ty step{
          Ty::Kind::Function, {}, {state, element, {Ty::Kind::Tuple, {}, {state, element}}}};
      const std::string f = lambda(step, parts[0]);
      const std::string start = leaf(state);
      return fmt::format("map_accum{}({}, {}, {}).1", random_.one_in(2) ? "l" : "r", f, start,
                         scrutinee(type, parts[1]));
    }
  }
}

}  // namespace relay::tests
