#include "ahead/c_functions.h"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ahead/c_names.h"
#include "lang/diagnostic.h"

namespace relay::ahead {

using built::Leaf;
using built::Part;

namespace {

class Writer {
 public:
  explicit Writer(std::string object) : object_(std::move(object)) {}

  CFunctions write(const std::vector<Exported>& functions) {
    for (const Exported& each : functions) add_function(each);
    return std::move(made_);
  }

 private:
  // One function, while its text is being made.
  struct Call {
    std::vector<std::string> params;   // "int64_t n"
    std::vector<std::string> args;     // an address for each leaf
    std::vector<std::string> results;  // the same
    std::vector<std::string> notes;    // what each pointer is to
  };

  static std::string extents_text(const Leaf& leaf) {
    std::vector<std::string> extents;
    for (const lang::Dim& dim : leaf.shape) extents.push_back(dim.to_string());
    return fmt::format("[{}]", fmt::join(extents, "]["));
  }

  std::string record_name(const Part& part) {
    const std::string type = lang::to_string(part.type);
    const auto known = records_.find(type);
    if (known != records_.end()) return known->second;
    const std::string plain = object_ + "_" + c_prefix(part.constructor->owner->name);
    std::string name = plain;
    for (int i = 2; record_names_.count(name) > 0; ++i) name = fmt::format("{}{}", plain, i);
    record_names_.insert(name);
    records_.emplace(type, name);
    return name;
  }

  // The fields of a record in C, of which tuples have none of their own.
  void add_fields(const Part& part, const std::string& name, const std::vector<Leaf>& leaves,
                  std::string& fields) {
    switch (part.kind) {
      case Part::Kind::Leaf: {
        const Leaf& leaf = leaves[part.leaf];
        fields += leaf.shape.empty() ? fmt::format("  {} {};\n", c_type(leaf.dtype), name)
                                     : fmt::format("  {} *{}; /* {} */\n", c_type(leaf.dtype), name,
                                                   extents_text(leaf));
        return;
      }
      case Part::Kind::Tuple:
        for (std::size_t i = 0; i < part.parts.size(); ++i)
          add_fields(part.parts[i], fmt::format("{}_{}", name, i), leaves, fields);
        return;
      case Part::Kind::Record:
        declare(part, leaves);
        fields += fmt::format("  {} {};\n", record_name(part), name);
    }
  }

  void declare(const Part& part, const std::vector<Leaf>& leaves) {
    if (!declared_.insert(record_name(part)).second) return;
    std::string fields;
    for (std::size_t i = 0; i < part.parts.size(); ++i)
      add_fields(part.parts[i], c_name(part.names[i]), leaves, fields);
    if (fields.empty()) fields = "  char empty;\n";
    made_.structs += fmt::format("/* {} */\ntypedef struct {{\n{}}} {};\n\n",
                                 lang::to_string(part.type), fields, record_name(part));
  }

  // The addresses of the leaves of a value that lies at `place`, a name or a field.
  void add_addresses(const Part& part, const std::string& place, const std::vector<Leaf>& leaves,
                     std::vector<std::string>& addresses) {
    switch (part.kind) {
      case Part::Kind::Leaf:
        addresses.push_back(leaves[part.leaf].shape.empty() ? "&" + place : place);
        return;
      case Part::Kind::Tuple:
        for (std::size_t i = 0; i < part.parts.size(); ++i)
          add_addresses(part.parts[i], fmt::format("{}_{}", place, i), leaves, addresses);
        return;
      case Part::Kind::Record:
        for (std::size_t i = 0; i < part.parts.size(); ++i)
          add_addresses(part.parts[i], place + "." + c_name(part.names[i]), leaves, addresses);
    }
  }

  void note(Call& call, const std::string& name, const Leaf& leaf) {
    if (!leaf.shape.empty()) call.notes.push_back(name + extents_text(leaf));
  }

  void add_argument(const Part& part, const std::string& name, const std::vector<Leaf>& leaves,
                    Call& call) {
    switch (part.kind) {
      case Part::Kind::Leaf: {
        const Leaf& leaf = leaves[part.leaf];
        call.params.push_back(leaf.shape.empty()
                                  ? fmt::format("{} {}", c_type(leaf.dtype), name)
                                  : fmt::format("const {} *{}", c_type(leaf.dtype), name));
        note(call, name, leaf);
        add_addresses(part, name, leaves, call.args);
        return;
      }
      case Part::Kind::Tuple:
        for (std::size_t i = 0; i < part.parts.size(); ++i)
          add_argument(part.parts[i], fmt::format("{}_{}", name, i), leaves, call);
        return;
      case Part::Kind::Record:
        declare(part, leaves);
        call.params.push_back(fmt::format("const {} *{}", record_name(part), name));
        add_addresses(part, fmt::format("(*{})", name), leaves, call.args);
    }
  }

  // Where a result is not wanted, NULL is given, and handed on.
  void add_result(const Part& part, const std::string& name, const std::vector<Leaf>& leaves,
                  Call& call) {
    switch (part.kind) {
      case Part::Kind::Leaf: {
        const Leaf& leaf = leaves[part.leaf];
        call.params.push_back(fmt::format("{} *{}", c_type(leaf.dtype), name));
        note(call, name, leaf);
        call.results.push_back(name);
        return;
      }
      case Part::Kind::Tuple:
        for (std::size_t i = 0; i < part.parts.size(); ++i)
          add_result(part.parts[i], fmt::format("{}_{}", name, i), leaves, call);
        return;
      case Part::Kind::Record: {
        declare(part, leaves);
        call.params.push_back(fmt::format("{} *{}", record_name(part), name));
        std::vector<std::string> addresses;
        add_addresses(part, fmt::format("(*{})", name), leaves, addresses);
        for (const std::string& each : addresses)
          call.results.push_back(fmt::format("{} ? {} : 0", name, each));
      }
    }
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

  void add_function(const Exported& function) {
    const built::Signature& signature = function.signature;
    Call call;
    std::vector<std::string> dims;
    for (const lang::TypeVarRef& dim : signature.dims) {
      dims.push_back(c_name(dim->name));
      call.params.push_back("int64_t " + dims.back());
    }
    for (std::size_t i = 0; i < signature.params.size(); ++i)
      add_argument(signature.params[i], function.params[i], signature.args, call);
    if (function.is_gradient) {
      add_gradient(function, call);
    } else {
      add_result(signature.result, "result", signature.results, call);
    }
    check_names(function, call);
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
        "  const int64_t dims_[] = {{{}}};\n"
        "  const void *const args_[] = {{{}}};\n"
        "  void *const results_[] = {{{}}};\n"
        "  return relay_built_call(&built_, {}, dims_, args_, results_);\n"
        "}}\n\n",
        head, list(dims), list(call.args), list(call.results), entries_++);
  }

  static void check_names(const Exported& function, const Call& call) {
    std::set<std::string> seen;
    for (const std::string& param : call.params) {
      const std::string name = param.substr(param.find_last_of(" *") + 1);
      if (!seen.insert(name).second) {
        lang::fail(lang::DiagnosticKind::Unsupported,
                   fmt::format("`{}` would have two parameters `{}` in C", function.name, name));
      }
    }
  }

  std::string object_;
  std::map<std::string, std::string> records_;  // names by type
  std::set<std::string> record_names_;
  std::set<std::string> declared_;
  CFunctions made_;
  int entries_ = 0;
};

}  // namespace

CFunctions c_functions(std::string object, const std::vector<Exported>& functions) {
  return Writer(std::move(object)).write(functions);
}

}  // namespace relay::ahead
