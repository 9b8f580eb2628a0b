#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ad/pairs.h"
#include "formats/formats.h"
#include "interp/eval.h"
#include "lang/module.h"
#include "opt/purity.h"
#include "opt/step_products.h"
#include "repl/external_compilers.h"
#include "repl/instances.h"
#include "repl/kernel_library.h"
#include "repl/session.h"
#include "typecheck/infer.h"

namespace relay::repl {

class Watcher;

// The order of the stages, and what they need of each other: the program as passes see it (Program)
// and as the evaluator sees it (Host). Specialisations and what passes made are cached until
// `forget`.
class Pipeline final : public lang::Program, public interp::Host {
 public:
  Pipeline(lang::Module& module, typecheck::Checker& checker, const SessionOptions& options);
  ~Pipeline() override;

  // typed -> ANF -> derivatives expanded. Throws Failure.
  lang::Expr to_core(const lang::Expr& typed);
  // ... -> inlined, simplified, without dead or repeated code. Throws Failure.
  lang::Expr optimise(const lang::Expr& core);
  // ... -> grouped for kernels, with the borders that groups end at. Throws Failure.
  // `name`: by which it calls itself, where it is a function that does.
  lang::Expr fuse(const lang::Expr& optimised, const std::string& name = {});
  // The same without the borders; ready for the evaluator. Throws Failure.
  lang::Expr finish(const lang::Expr& optimised, const std::string& name = {});

  // lang::Program
  lang::Expr function(const std::string& name, const lang::Type& type) override;
  bool is_function(const std::string& name) override { return !is_binding(name); }
  std::size_t parameter_count(const std::string& name) override;
  bool is_pure(const std::string& name) override { return purity_.is_pure(name); }
  lang::Expr inlined(const lang::Expr& function) override;
  std::string reserve_name(const std::string& hint) override;
  void add_function(const std::string& name, lang::Expr function) override;
  const lang::TypeDef* add_type(lang::TypeDefRef type) override;

  // interp::Host. `function` of the evaluator is the finished body of `function` above.
  lang::Result<lang::Expr> prepared(const std::string& name, const lang::Type& type) override;
  lang::Result<lang::Expr> with_pullback(const lang::Expr& function,
                                         const lang::VariableRef& self) override;
  lang::Result<lang::Expr> with_tangent(const lang::Expr& function,
                                        const lang::VariableRef& self) override;
  bool is_binding(const std::string& name) override;
  lang::Result<lang::Value> global_value(const std::string& name) override;
  lang::Result<lang::TensorRef> load(const lang::AttrsRef& attrs) override;
  lang::Result<bool> save(const lang::Value& value, const lang::AttrsRef& attrs) override;
  lang::Result<bool> plot(const lang::Value& value, const lang::AttrsRef& attrs) override;
  std::string function_at(lang::Span place) override;
  void write(std::string_view text) override;
  void at_step(std::int64_t done, std::int64_t total) override;
  lang::Result<lang::Value> trace(const std::string& name, const lang::Attrs& attrs,
                                  const std::vector<lang::Value>& values) override;
  interp::Compiling& compiling() override { return compiling_; }
  loops::KernelLibrary* kernel_library() override {
    if (options_.kernels == LibraryKernels::Off) return nullptr;
    return options_.kernels == LibraryKernels::Auto ? &transforming_kernels_ : &direct_kernels_;
  }

  SessionCompilers* external_compilers() override { return &external_compilers_; }
  // How long the steps have taken so far, with what they asked others for, in the order in which
  // each has run first.
  struct StepTime {
    std::string name;
    double seconds = 0;
    std::int64_t runs = 0;
  };
  const std::vector<StepTime>& step_times() const { return step_times_; }

  // Who watches instrumented code; null: nobody.
  void set_watcher(Watcher* watcher) { watcher_ = watcher; }
  Watcher* watcher() const { return watcher_; }
  std::int64_t next_watch() { return ++watches_; }
  // Then nothing is printed, and no file is written.
  void set_muted(bool is_muted) { is_muted_ = is_muted; }
  void set_value(const std::string& name, lang::Value value) { values_[name] = std::move(value); }
  void remove_value(const std::string& name) { values_.erase(name); }
  const lang::Value* value(const std::string& name) const;
  const std::map<std::string, lang::Value>& values() const { return values_; }
  void set_values(std::map<std::string, lang::Value> values) { values_ = std::move(values); }
  // Where a file named in the program is: as given, beside the file that is being imported, or
  // beside the program's file.
  std::string find_file(const std::string& path) const;
  // Not while something is imported.
  void set_directory(std::string directory) { directories_ = {std::move(directory)}; }
  const std::vector<std::string>& directories() const { return directories_; }
  void set_directories(std::vector<std::string> directories) {
    directories_ = std::move(directories);
  }
  // Files are looked for in this folder, too, as long as it lives.
  class Beside {
   public:
    Beside(Pipeline& pipeline, std::string directory) : directories_(pipeline.directories_) {
      directories_.push_back(std::move(directory));
    }
    ~Beside() { directories_.pop_back(); }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;

   private:
    std::vector<std::string>& directories_;
  };
  void set_evaluator(interp::Evaluator* evaluator) { evaluator_ = evaluator; }
  // A definition changed: drops everything derived from definitions.
  void forget();

 private:
  formats::Progress progress(const lang::AttrsRef& attrs) const;
  // What serves a use of a function that no pass has made: its specialisation key, and the body.
  using Core = std::pair<const std::string, lang::Expr>;
  const Core& core(const std::string& name, const lang::Type& type);
  // A global function without the steps that make it ready for the evaluator. `core`: with them.
  lang::Expr as_written(const std::string& name, const lang::Type& type, const lang::Expr& core);
  lang::Expr with_known_functions(const lang::Expr& optimised);
  lang::Expr with_replaced_data(const lang::Expr& optimised);
  lang::Expr with_step_sums(const lang::Expr& optimised, const std::string& name);
  lang::Expr with_tables(const lang::Expr& optimised);
  lang::Expr tidied(const lang::Expr& core, bool is_to_be_differentiated);
  std::optional<lang::Expr> code_of(const std::string& name) const;  // opt/purity.h
  // What the pass called `name` has made, checked where that is asked for. `given`: what it was
  // made of; no variable may be free that is not free there.
  lang::Expr pass(const char* name, lang::Expr expr, const lang::Expr& given = {});
  // What the step makes; its time is noted.
  lang::Expr timed(const char* name, const std::function<lang::Expr()>& step);
  lang::Module& module_;
  typecheck::Checker& checker_;
  const SessionOptions& options_;
  interp::Evaluator* evaluator_ = nullptr;
  Watcher* watcher_ = nullptr;
  bool is_muted_ = false;
  std::int64_t watches_ = 0;
  std::vector<std::string> directories_;  // the last one first
  std::map<std::string, lang::Value> values_;
  Instances instances_;
  std::unordered_map<std::string, lang::Expr> core_;      // by specialisation key
  std::unordered_map<std::string, lang::Expr> finished_;  // likewise
  std::unordered_map<std::string, lang::Expr> derived_;   // functions made by passes
  std::unordered_set<std::string> in_progress_;
  opt::Purity purity_;
  opt::StepProducts step_products_;
  ad::Pairs derivatives_;
  std::vector<lang::TypeDefRef> types_;
  int made_names_ = 0;
  std::vector<StepTime> step_times_;
  // Of the loop whose steps are counted: when it began, and when somebody was told of it last.
  std::chrono::steady_clock::time_point steps_begun_;
  std::chrono::steady_clock::time_point steps_told_;
  interp::Compiling compiling_;
  LazyKernelLibrary direct_kernels_{false};
  LazyKernelLibrary transforming_kernels_{true};
  SessionCompilers external_compilers_;
};

}  // namespace relay::repl
