#include <fmt/format.h>

#include "stdlib/ops/families.h"

// Tensors in files. The session reads and writes them (repl/tensor_files).
namespace relay::stdlib {

namespace {

std::vector<AttrSpec> csv_attrs() {
  return {optional_attr("delimiter", AttrKind::String, ",", "what separates the fields of a CSV")};
}

void add_load() {
  OpDef def;
  def.name = "load";
  def.level = 0;
  def.doc =
      "The tensor in a file: `.npy`, `.npz`, `.safetensors`, `.csv` or `.png`.\n"
      "Its dtype and shape are read from the file's header before the program runs, unless both "
      "are written; a CSV has unknown extents and the dtype float32. An image is a uint8 tensor "
      "(height, width, channels). Where the file's dtype is another than the one written, the "
      "elements are converted.";
  def.example =
      "dim_of(load(\"examples/data/iris.csv\", dtype=\"float32\", shape=[-1, 5]))\n// expect: "
      "150i64";
  def.attrs = {required_attr("path", AttrKind::String, "the file"),
               nullable_attr("key", AttrKind::String,
                             "which tensor of a `.npz` or `.safetensors` file; None: the only one"),
               nullable_attr("dtype", AttrKind::DType, "dtype of the result; None: the file's"),
               nullable_attr("shape", AttrKind::IntList,
                             "extents, -1 for one that is not known; None: the file's"),
               csv_attrs()[0]};
  def.type_rule = [](TypeCall& call) {
    if (call.attrs->is_null("dtype") || call.attrs->is_null("shape")) {
      lang::fail(DiagnosticKind::FileError,
                 "`load` needs a `dtype` and a `shape` here, where no file is looked at",
                 call.span);
    }
    std::vector<Dim> dims;
    for (const std::int64_t extent : call.attrs->get_ints("shape")) {
      if (extent < -1) {
        call.fail(DiagnosticKind::BadAttribute,
                  fmt::format("`shape` holds the extent {}: -1 is one that is not known", extent));
      }
      dims.push_back(extent < 0 ? Dim::any() : Dim(extent));
    }
    call.returns(lang::tensor_type(Shape(std::move(dims)), call.attrs->get_dtype("dtype")));
    return RuleOutcome::Solved;
  };
  def.differentiable = false;
  def.effect = lang::Effect::Load;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_load_csv() {
  OpDef def;
  def.name = "load_csv";
  def.level = 0;
  def.doc =
      "The numbers of a file of comma-separated values, one row per line, whatever the file is "
      "called.\n"
      "A first line without numbers is a header and is skipped. All rows are equally long. A field "
      "that is no element of the dtype is an error with its line.";
  def.example = "dim_of(load_csv(path=\"examples/data/iris.csv\"), axis=0)\n// expect: 150i64";
  def.attrs = {required_attr("path", AttrKind::String, "the file"),
               optional_attr("dtype", AttrKind::DType, DType::Float32, "dtype of the result"),
               csv_attrs()[0]};
  def.type_rule = [](TypeCall& call) {
    call.returns(lang::tensor_type({Dim::any(), Dim::any()}, call.attrs->get_dtype("dtype")));
    return RuleOutcome::Solved;
  };
  def.differentiable = false;
  def.effect = lang::Effect::Load;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_save() {
  OpDef def;
  def.name = "save";
  def.level = 0;
  def.doc =
      "Writes a tensor to a file, in the format that its extension says: `.npy`, `.npz`, "
      "`.safetensors`, `.csv` or `.png`.\n"
      "A `.npz` or `.safetensors` file also holds a tuple of tensors, called by `names`, or a "
      "record, whose fields say the names. The file is replaced only once all is written.";
  def.example =
      "save([1.0, 2.0], path=\"/tmp/relay_example.npy\")\nload(\"/tmp/relay_example.npy\", "
      "dtype=\"float32\", shape=[2])\n// expect: [1.0, 2.0]";
  def.inputs = {{"value", "a tensor, or a tuple or record of tensors"}};
  def.attrs = {
      required_attr("path", AttrKind::String, "the file"),
      nullable_attr("names", AttrKind::Any,
                    "a list of strings; None: those of a record, or `arr_0`, `arr_1`, ..."),
      csv_attrs()[0]};
  def.type_rule = [](TypeCall& call) {
    call.returns(lang::unit_type());
    return RuleOutcome::Solved;
  };
  def.differentiable = false;
  def.effect = lang::Effect::Save;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_file_operators() {
  add_load();
  add_load_csv();
  add_save();
}

}  // namespace relay::stdlib
