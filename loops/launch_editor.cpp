#include "loops/launch_editor.h"

#include <algorithm>
#include <utility>

#include "loops/launch_sizes.h"

namespace relay::loops {

LaunchEditor::LaunchEditor(NamedLaunch nest)
    : launch_(std::move(nest.launch)), names_(std::move(nest.axes)) {}

std::int32_t LaunchEditor::axis(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  return found == names_.end() ? -1 : static_cast<std::int32_t>(found - names_.begin());
}

std::int64_t LaunchEditor::extent(std::int32_t axis) const {
  return number_of(launch_.kernel.extents[static_cast<std::size_t>(axis)], launch_);
}

void LaunchEditor::rename(std::int32_t axis, std::string name) {
  names_[static_cast<std::size_t>(axis)] = std::move(name);
}

// Where the body defines the value of the axis, and that value; makes it if nothing has used it.
std::size_t LaunchEditor::define(std::int32_t axis, ValueId& id) {
  std::vector<Instruction>& code = kernel().regions[0].code;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].code != Code::Axis || code[i].axis != axis) continue;
    id = code[i].id;
    return i;
  }
  Instruction made{};
  made.code = Code::Axis;
  made.dtype = DType::Int64;
  made.axis = axis;
  made.id = id = kernel().value_count++;
  code.insert(code.begin(), made);
  return 0;
}

// Is it used other than in addresses?
bool LaunchEditor::is_operand(ValueId id) const {
  for (const Region& region : launch_.kernel.regions) {
    if (region.result == id) return true;
    for (const Instruction& each : region.code) {
      if (std::find(each.args.begin(), each.args.end(), id) != each.args.end()) return true;
    }
  }
  return std::any_of(launch_.kernel.further.begin(), launch_.kernel.further.end(),
                     [&](const FurtherStore& store) { return store.value == id; });
}

template <class F>
void LaunchEditor::for_all_addresses(F f) {
  for (Region& region : kernel().regions) {
    for (Instruction& each : region.code) {
      if (each.code == Code::Load) f(each.address);
    }
  }
  f(kernel().destination);
  for (FurtherStore& store : kernel().further) f(store.destination);
}

Instruction LaunchEditor::constant(std::int64_t number) {
  Instruction made{};
  made.code = Code::Constant;
  made.dtype = DType::Int64;
  made.bits = static_cast<std::uint64_t>(number);
  made.id = kernel().value_count++;
  return made;
}

Instruction LaunchEditor::primitive(Prim prim, ValueId a, ValueId b) {
  Instruction made{};
  made.code = Code::Primitive;
  made.dtype = DType::Int64;
  made.prim = prim;
  made.args = {a, b};
  made.id = kernel().value_count++;
  return made;
}

void LaunchEditor::cut(std::int32_t axis, std::int64_t begin, std::int64_t end) {
  // The outermost one is never a literal.
  kernel().extents[static_cast<std::size_t>(axis)] =
      axis == 0 ? slot_of(end - begin, launch_) : stride_of(end - begin, launch_);
  if (begin == 0) return;
  ValueId id = -1;
  const std::size_t place = define(axis, id);
  for_all_addresses([&](Address& address) {
    for (const AddressTerm& term : address.terms) {
      if (term.index == id)
        address.offset = stride_of(
            number_of(address.offset, launch_) + begin * number_of(term.stride, launch_), launch_);
    }
  });
  if (!is_operand(id)) return;
  // Who computes with the index gets another value; addresses have the axis' own.
  std::vector<Instruction>& code = kernel().regions[0].code;
  const ValueId own = code[place].id = kernel().value_count++;
  for_all_addresses([&](Address& address) {
    for (AddressTerm& term : address.terms) {
      if (term.index == id) term.index = own;
    }
  });
  const Instruction number = constant(begin);
  Instruction sum = primitive(Prim::Add, own, number.id);
  sum.id = id;
  code.insert(code.begin() + static_cast<std::ptrdiff_t>(place) + 1, {number, sum});
}

void LaunchEditor::split(std::int32_t axis, std::int64_t size, std::string outer,
                         std::string inner) {
  const std::int64_t whole = extent(axis);
  RELAY_CHECK(whole % size == 0, "a split divides the extent");
  ValueId id = -1;
  const std::size_t place = define(axis, id);
  const auto inner_axis = static_cast<std::int32_t>(kernel().extents.size());
  kernel().extents.push_back(Size::literal(size));
  Size& old = kernel().extents[static_cast<std::size_t>(axis)];
  old = old.is_literal && axis != 0 ? Size::literal(whole / size) : slot_of(whole / size, launch_);
  names_[static_cast<std::size_t>(axis)] = std::move(outer);
  names_.push_back(std::move(inner));

  Instruction high = kernel().regions[0].code[place];
  Instruction low = high;
  high.id = kernel().value_count++;
  low.id = kernel().value_count++;
  low.axis = inner_axis;
  for_all_addresses([&](Address& address) {
    std::vector<AddressTerm> terms;
    for (const AddressTerm& term : address.terms) {
      if (term.index != id) {
        terms.push_back(term);
        continue;
      }
      terms.push_back({high.id, stride_of(number_of(term.stride, launch_) * size, launch_)});
      terms.push_back({low.id, term.stride});
    }
    address.terms = std::move(terms);
  });
  std::vector<Instruction> made = {high, low};
  if (is_operand(id)) {
    made.push_back(constant(size));
    made.push_back(primitive(Prim::Mul, high.id, made.back().id));
    made.push_back(primitive(Prim::Add, made.back().id, low.id));
    made.back().id = id;
  }
  std::vector<Instruction>& code = kernel().regions[0].code;
  code.erase(code.begin() + static_cast<std::ptrdiff_t>(place));
  code.insert(code.begin() + static_cast<std::ptrdiff_t>(place), made.begin(), made.end());
}

bool LaunchEditor::fuse(std::int32_t outer, std::int32_t inner, std::string name) {
  const std::int64_t steps = extent(inner);
  ValueId high = -1;
  ValueId low = -1;
  define(outer, high);
  define(inner, low);
  const auto stride = [&](const Address& address, ValueId id) {
    std::int64_t sum = 0;
    for (const AddressTerm& term : address.terms)
      sum += term.index == id ? number_of(term.stride, launch_) : 0;
    return sum;
  };
  const auto walks_both = [&](const Address& address) {
    return stride(address, high) == stride(address, low) * steps;
  };
  if (!walks_both(kernel().destination)) return false;
  for (const FurtherStore& store : kernel().further) {
    if (!walks_both(store.destination)) return false;
  }
  // The fused axis takes the inner one's place; of its value the others are made.
  Instruction both{};
  both.code = Code::Axis;
  both.dtype = DType::Int64;
  both.axis = inner;
  both.id = kernel().value_count++;
  bool needs_parts = is_operand(high) || is_operand(low);
  for_all_addresses([&](Address& address) {
    if (!walks_both(address)) {
      needs_parts = true;
      return;
    }
    const std::int64_t step = stride(address, low);
    std::erase_if(address.terms,
                  [&](const AddressTerm& term) { return term.index == high || term.index == low; });
    if (step != 0) address.terms.push_back({both.id, stride_of(step, launch_)});
  });
  std::vector<Instruction>& code = kernel().regions[0].code;
  std::erase_if(code, [&](const Instruction& each) { return each.id == high || each.id == low; });
  std::vector<Instruction> made = {both};
  if (needs_parts) {
    made.push_back(constant(steps));
    const ValueId number = made.back().id;
    made.push_back(primitive(Prim::Div, both.id, number));
    made.back().id = high;
    made.push_back(primitive(Prim::Mul, high, number));
    made.push_back(primitive(Prim::Sub, both.id, made.back().id));
    made.back().id = low;
  }
  code.insert(code.begin(), made.begin(), made.end());
  kernel().extents[static_cast<std::size_t>(inner)] = slot_of(extent(outer) * steps, launch_);
  names_[static_cast<std::size_t>(inner)] = std::move(name);
  names_[static_cast<std::size_t>(outer)].clear();
  return true;
}

void LaunchEditor::put_in_order(const std::vector<std::int32_t>& domain, bool begins_anew) {
  std::vector<std::int32_t> numbers(kernel().extents.size(), -1);
  std::vector<Size> extents;
  std::vector<std::string> names;
  if (begins_anew) {
    extents.push_back(slot_of(1, launch_));
    names.emplace_back();
  }
  const auto add = [&](std::int32_t axis) {
    const auto at = static_cast<std::size_t>(axis);
    numbers[at] = static_cast<std::int32_t>(extents.size());
    extents.push_back(kernel().extents[at]);
    names.push_back(names_[at]);
  };
  for (const std::int32_t axis : domain) add(axis);
  kernel().domain_rank = static_cast<std::int32_t>(extents.size());
  // The outermost axis is the one that is walked in part, so its extent is no literal.
  if (kernel().domain_rank > 0 && extents[0].is_literal)
    extents[0] = slot_of(extents[0].value, launch_);
  for (const Region& region : kernel().regions) {
    for (const std::int32_t axis : region.axes) add(axis);
  }
  for (Region& region : kernel().regions) {
    for (std::int32_t& axis : region.axes) axis = numbers[static_cast<std::size_t>(axis)];
    for (Instruction& each : region.code) {
      if (each.code == Code::Axis) each.axis = numbers[static_cast<std::size_t>(each.axis)];
    }
  }
  kernel().extents = std::move(extents);
  names_ = std::move(names);
}

}  // namespace relay::loops
