#include <fmt/format.h>

#include "flow/function.h"
#include "lang/primitive.h"

namespace relay::flow {

namespace {

class Printer {
 public:
  explicit Printer(const Function& function) : function_(function) {}

  std::string run() {
    text_ = fmt::format("{}(", function_.name.empty() ? "fn" : function_.name);
    for (std::size_t i = 0; i < function_.param_count; ++i) {
      const bool is_borrowed = i < function_.is_borrowed.size() && function_.is_borrowed[i];
      text_ += fmt::format("{}s{}: {}{}", i == 0 ? "" : ", ", i, is_borrowed ? "lent " : "",
                           name_of(function_.slots[i]));
    }
    text_ += ") {\n";
    block(function_.body, 1);
    text_ += "}\n";
    for (const auto& local : function_.locals) text_ += "local " + to_string(*local);
    return std::move(text_);
  }

 private:
  static std::string name_of(const SlotType& type) {
    switch (type.kind) {
      case lang::ValueKind::Scalar:
        return std::string(lang::name_of(type.dtype));
      case lang::ValueKind::Tensor:
        return "tensor";
      case lang::ValueKind::Tuple:
        return "tuple";
      case lang::ValueKind::Adt:
        return "data";
      case lang::ValueKind::Closure:
        return "function";
      default:
        return "reference";
    }
  }

  std::string name_of(const Operand& operand) const {
    if (operand.is_slot()) return fmt::format("s{}", operand.index);
    return lang::to_string(function_.constants[operand.index], {.max_elements = 4});
  }

  std::string names_of(const std::vector<Operand>& operands) const {
    std::string text;
    for (const Operand& each : operands) text += (text.empty() ? "" : ", ") + name_of(each);
    return text;
  }

  void line(int level, const std::string& text) {
    text_ += std::string(static_cast<std::size_t>(2 * level), ' ') + text + "\n";
  }

  std::string what(const Step& step) const {
    switch (step.kind) {
      case StepKind::Primitive:
        return std::string(lang::info(step.prim).text);
      case StepKind::Element:
        return step.in_bounds ? "element!" : "element";
      case StepKind::View:
        return step.is_light ? "light view" : "view";
      case StepKind::Extent:
        return fmt::format("extent.{}", step.number);
      case StepKind::Call:
        return "call " + step.callee->name;
      case StepKind::CallValue:
        return "call_value";
      case StepKind::Interpret:
        return "interpret";
      case StepKind::Kernels:
        return fmt::format("kernels.{}", step.kernels->group.launches.size());
      case StepKind::Fits:
        return "fits";
      case StepKind::Construct:
        return "make " + (step.constructor ? step.constructor->name : std::string("tuple"));
      case StepKind::Tensor:
        return "tensor";
      case StepKind::CheckShape:
        return "check " + lang::to_string(step.type);
      case StepKind::CheckIndex:
        return "check index";
      case StepKind::Own:
        return "own";
      case StepKind::Store:
        return fmt::format("store {}", lang::name_of(step.reduce));
      case StepKind::Set:
        return "set";
      case StepKind::Field:
        return fmt::format("field.{}", step.number);
      case StepKind::If:
        return "if";
      case StepKind::Match:
        return "match";
      case StepKind::Loop:
        return step.is_parallel ? "parallel for" : "for";
      case StepKind::Fold:
        return std::string(lang::name_of(step.reduce));
      case StepKind::Retain:
        return "retain";
      case StepKind::Release:
        return "release";
      case StepKind::Take:
        return "take";
    }
    return {};
  }

  void block(const Block& block, int level) {
    for (const Step& each : block.steps) step(each, level);
    switch (block.exit) {
      case Exit::Yield:
        return line(level, "yield " + names_of(block.values));
      case Exit::Return:
        return line(level, "return " + names_of(block.values));
      case Exit::TailCall:
        return line(level,
                    fmt::format("tail call {}({})", block.callee->name, names_of(block.values)) +
                        cells_around(block) + combined_with(block));
      case Exit::None:
        return;
    }
  }

  std::string combined_with(const Block& block) const {
    if (!block.accumulated) return "";
    return fmt::format(" {} {}", lang::info(block.accumulated->prim).text,
                       name_of(block.accumulated->number));
  }

  std::string cells_around(const Block& block) const {
    std::string text;
    for (const Filled& cell : block.cells) {
      std::string fields;
      for (std::size_t i = 0; i < cell.fields.size(); ++i) {
        fields += i == 0 ? "" : ", ";
        fields += i == cell.place ? "_" : name_of(cell.fields[i]);
      }
      text = fmt::format(" in {}({})", cell.constructor->name, fields) + text;
    }
    return text;
  }

  void step(const Step& step, int level) {
    std::string text;
    for (Slot slot : step.results)
      text +=
          fmt::format("{}s{}: {}", text.empty() ? "" : ", ", slot, name_of(function_.slots[slot]));
    if (!text.empty()) text += " = ";
    text += fmt::format("{}({})", what(step), names_of(step.args));
    for (Slot slot : step.binders) text += fmt::format(" s{}", slot);
    if (step.blocks.empty() && step.arms.empty()) return line(level, text);
    line(level, text + " {");
    for (std::size_t i = 0; i < step.blocks.size(); ++i) {
      if (i > 0) line(level, "} else {");
      block(step.blocks[i], level + 1);
    }
    for (const Arm& arm : step.arms) {
      std::string tests;
      for (const Test& test : arm.tests) {
        tests += test.kind == Test::Kind::Tag
                     ? fmt::format("{}tag({}) is {}", tests.empty() ? "" : ", ", name_of(test.cell),
                                   test.number)
                     : fmt::format("{}s{} = field.{}({})", tests.empty() ? "" : ", ", test.result,
                                   test.number, name_of(test.cell));
      }
      line(level + 1, fmt::format("[{}] =>", tests));
      block(arm.body, level + 2);
    }
    line(level, "}");
  }

  const Function& function_;
  std::string text_;
};

}  // namespace

std::string to_string(const Function& function) { return Printer(function).run(); }

}  // namespace relay::flow
