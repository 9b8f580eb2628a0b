#include "ahead/c_functions.h"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ahead/c_names.h"

namespace relay::ahead {

using built::Leaf;
using built::Part;

namespace {

// Names of one scope, each once: `x`, `x_2`.
class Names {
 public:
  std::string take(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

// What a field of a structure is: tuples have none of their own.
struct Field {
  const Part* part;  // a leaf or a record
  std::string name;
};

void append_fields(const Part& part, const std::string& name, Names& names,
                   std::vector<Field>& fields) {
  if (part.kind != Part::Kind::Tuple) {
    fields.push_back({&part, names.take(name)});
    return;
  }
  for (std::size_t i = 0; i < part.parts.size(); ++i)
    append_fields(part.parts[i], fmt::format("{}_{}", name, i), names, fields);
}

std::vector<Field> fields_of(const Part& record) {
  Names names;
  std::vector<Field> fields;
  for (std::size_t i = 0; i < record.parts.size(); ++i)
    append_fields(record.parts[i], c_name(record.names[i]), names, fields);
  return fields;
}

std::string extents_text(const Leaf& leaf) {
  std::vector<std::string> extents;
  for (const lang::Dim& dim : leaf.shape) extents.push_back(dim.to_string());
  return fmt::format("[{}]", fmt::join(extents, "]["));
}

class Writer {
 public:
  Writer(std::string object, const std::vector<Exported>& functions) : object_(std::move(object)) {
    for (const Exported& each : functions) types_.take(each.name);
    for (const std::string& each : own_functions(object_)) types_.take(each);
    for (const Exported& each : functions) add_function(each);
  }

  CFunctions take() { return std::move(made_); }

 private:
  // One function, while its text is being made.
  struct Call {
    Names names;
    std::vector<std::string> params;   // "int64_t n"
    std::vector<std::string> args;     // an address for each leaf
    std::vector<std::string> results;  // the same
    std::vector<std::string> notes;    // what each pointer is to

    void note(const std::string& name, const Leaf& leaf) {
      if (!leaf.shape.empty()) notes.push_back(name + extents_text(leaf));
    }
  };

  // --- Structures ---

  // Records of one data type whose fields are the same in C are one structure.
  std::string structure_of(const Part& record, const std::vector<Leaf>& leaves) {
    const auto& owner = *record.constructor->owner;
    const std::vector<Field> all = fields_of(record);
    std::string fields, notes;
    for (const auto& [part, name] : all) {
      if (part->kind == Part::Kind::Record) {
        fields += fmt::format("  {} {};\n", structure_of(*part, leaves), name);
        continue;
      }
      const Leaf& leaf = leaves[part->leaf];
      const bool is_scalar = leaf.shape.empty();
      fields += fmt::format("  {} {}{};\n", c_type(leaf.dtype), is_scalar ? "" : "*", name);
      if (!is_scalar) notes += (notes.empty() ? "" : ", ") + name + extents_text(leaf);
    }
    if (fields.empty()) fields = "  char empty;\n";
    std::string& known = structures_[owner.name + "\n" + fields];
    if (!known.empty()) return known;
    known = types_.take(object_ + "_" + c_prefix(owner.name));
    // Extents that the type's parameters tell differ from use to use.
    const std::string text =
        owner.params.empty() ? lang::to_string(record.type) + (notes.empty() ? "" : ": " + notes)
                             : owner.name;
    made_.structs += fmt::format("/* {} */\ntypedef struct {{\n{}}} {};\n\n", text, fields, known);
    return known;
  }

  // The addresses of the leaves of a record that lies at `place`.
  void add_addresses(const Part& record, const std::string& place, const std::vector<Leaf>& leaves,
                     std::vector<std::string>& addresses) {
    for (const auto& [part, name] : fields_of(record)) {
      const std::string field = place + "." + name;
      if (part->kind == Part::Kind::Record) {
        add_addresses(*part, field, leaves, addresses);
      } else {
        addresses.push_back(leaves[part->leaf].shape.empty() ? "&" + field : field);
      }
    }
  }

  // --- Parameters ---

  std::string parameter_name(const std::string& wanted, Call& call) const {
    // Names of structures begin so.
    return call.names.take(wanted.starts_with(object_ + "_") ? wanted + "_" : wanted);
  }

  void add_argument(const Part& part, const std::string& wanted, const std::vector<Leaf>& leaves,
                    Call& call) {
    if (part.kind == Part::Kind::Tuple) {
      for (std::size_t i = 0; i < part.parts.size(); ++i)
        add_argument(part.parts[i], fmt::format("{}_{}", wanted, i), leaves, call);
      return;
    }
    const std::string name = parameter_name(wanted, call);
    if (part.kind == Part::Kind::Record) {
      call.params.push_back(fmt::format("const {} *{}", structure_of(part, leaves), name));
      add_addresses(part, fmt::format("(*{})", name), leaves, call.args);
      return;
    }
    const Leaf& leaf = leaves[part.leaf];
    const bool is_scalar = leaf.shape.empty();
    call.params.push_back(is_scalar ? fmt::format("{} {}", c_type(leaf.dtype), name)
                                    : fmt::format("const {} *{}", c_type(leaf.dtype), name));
    call.note(name, leaf);
    call.args.push_back(is_scalar ? "&" + name : name);
  }

  // Where a result is not wanted, NULL is given, and handed on.
  void add_result(const Part& part, const std::string& wanted, const std::vector<Leaf>& leaves,
                  Call& call) {
    if (part.kind == Part::Kind::Tuple) {
      for (std::size_t i = 0; i < part.parts.size(); ++i)
        add_result(part.parts[i], fmt::format("{}_{}", wanted, i), leaves, call);
      return;
    }
    const std::string name = parameter_name(wanted, call);
    if (part.kind == Part::Kind::Record) {
      call.params.push_back(fmt::format("{} *{}", structure_of(part, leaves), name));
      std::vector<std::string> addresses;
      add_addresses(part, fmt::format("(*{})", name), leaves, addresses);
      for (const std::string& each : addresses)
        call.results.push_back(fmt::format("{} ? {} : 0", name, each));
      return;
    }
    const Leaf& leaf = leaves[part.leaf];
    call.params.push_back(fmt::format("{} *{}", c_type(leaf.dtype), name));
    call.note(name, leaf);
    call.results.push_back(name);
  }

  // `value`, and `d_x` of each parameter `x`.
  void add_gradient(const Exported& function, Call& call) {
    const auto& leaves = function.signature.results;
    add_result(function.signature.result.parts[0], "value", leaves, call);
    const Part& gradient = function.signature.result.parts[1];
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      const Part& one = function.params.size() == 1 ? gradient : gradient.parts[i];
      add_result(one, "d_" + function.params[i], leaves, call);
    }
  }

  // --- Functions ---

  void add_function(const Exported& function) {
    const built::Signature& signature = function.signature;
    Call call;
    std::vector<std::string> dims;
    for (const lang::TypeVarRef& dim : signature.dims) {
      dims.push_back(parameter_name(c_name(dim->name), call));
      call.params.push_back("int64_t " + dims.back());
    }
    for (std::size_t i = 0; i < signature.params.size(); ++i)
      add_argument(signature.params[i], function.params[i], signature.args, call);
    if (function.is_gradient) {
      add_gradient(function, call);
    } else {
      add_result(signature.result, "result", signature.results, call);
    }
    const std::string head =
        fmt::format("int {}({})", function.name,
                    call.params.empty() ? "void" : fmt::format("{}", fmt::join(call.params, ", ")));
    std::string text = "/* " + function.text;
    if (!call.notes.empty()) text += fmt::format("\n   {}", fmt::join(call.notes, ", "));
    made_.declarations += fmt::format("{} */\n{};\n\n", text, head);
    const auto list = [](const std::vector<std::string>& all) {
      return all.empty() ? std::string("0") : fmt::format("{}", fmt::join(all, ", "));
    };
    made_.bodies += fmt::format(
        "{} {{\n"
        "  const int64_t relay_dims[] = {{{}}};\n"
        "  const void *const relay_args[] = {{{}}};\n"
        "  void *const relay_results[] = {{{}}};\n"
        "  return relay_built_call(&relay_object, {}, relay_dims, relay_args, relay_results);\n"
        "}}\n\n",
        head, list(dims), list(call.args), list(call.results), entries_++);
  }

  std::string object_;
  Names types_;                                    // and functions
  std::map<std::string, std::string> structures_;  // names by data type and fields
  CFunctions made_;
  int entries_ = 0;
};

}  // namespace

CFunctions c_functions(std::string object, const std::vector<Exported>& functions) {
  return Writer(std::move(object), functions).take();
}

}  // namespace relay::ahead
