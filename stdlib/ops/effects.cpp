#include "stdlib/ops/families.h"

namespace relay::stdlib {

namespace {

void add_print() {
  OpDef def;
  def.name = "print";
  def.level = 0;
  def.doc = "Writes a value on a line of its own, after `label` if there is one.";
  def.example = "print(1.5, label=\"loss\")\n// expect: loss 1.5";
  def.inputs = {{"value", "anything"}};
  def.attrs = {optional_attr("label", AttrKind::String, "", "what to write in front"),
               nullable_attr("digits", AttrKind::Int,
                             "decimals of a float scalar; None: as many as it takes")};
  def.type_rule = [](TypeCall& call) {
    call.returns(lang::unit_type());
    return RuleOutcome::Solved;
  };
  def.differentiable = false;
  def.effect = lang::Effect::Print;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_assert() {
  OpDef def;
  def.name = "assert";
  def.level = 0;
  def.doc = "Ends the evaluation with an error unless the condition is True.";
  def.example = "assert(1.0 < 2.0, message=\"numbers are broken\")";
  def.inputs = {{"condition", "a bool scalar"}};
  def.attrs = {optional_attr("message", AttrKind::String, "", "what the error says")};
  def.type_rule = [](TypeCall& call) {
    call.solver.unify(call.args[0], lang::scalar_type(DType::Bool));
    call.returns(lang::unit_type());
    return RuleOutcome::Solved;
  };
  def.differentiable = false;
  def.effect = lang::Effect::Assert;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_load_csv() {
  OpDef def;
  def.name = "load_csv";
  def.level = 0;
  def.doc =
      "The numbers of a file of comma-separated values, one row per line.\n"
      "A first line that holds anything but numbers is a header and is skipped. All rows are "
      "equally long.";
  def.example = "dim_of(load_csv(path=\"examples/data/iris.csv\"), axis=0)\n// expect: 150i64";
  def.attrs = {required_attr("path", AttrKind::String, "the file"),
               optional_attr("dtype", AttrKind::DType, DType::Float32, "dtype of the result")};
  def.type_rule = [](TypeCall& call) {
    call.returns(lang::tensor_type({Dim::any(), Dim::any()}, call.attrs->get_dtype("dtype")));
    return RuleOutcome::Solved;
  };
  def.differentiable = false;
  def.effect = lang::Effect::LoadCsv;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_effect_operators() {
  add_print();
  add_assert();
  add_load_csv();
}

}  // namespace relay::stdlib
