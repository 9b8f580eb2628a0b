#include "ahead/native_code.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <random>
#include <set>
#include <utility>

#include "built/host.h"
#include "built/processor.h"
#include "interp/ahead.h"
#include "interp/eval.h"
#include "lang/diagnostic.h"

namespace relay::ahead {

namespace {

// What is made is kept; nothing is found, so that all of it is made.
class Recorder final : public interp::CodeStore {
 public:
  explicit Recorder(std::map<std::string, lang::CodeImage>& images) : images_(images) {}
  std::optional<lang::CodeImage> find(const std::string& key) override {
    const std::lock_guard lock(adding_);
    const auto found = images_.find(key);
    if (found == images_.end()) return std::nullopt;
    return found->second;
  }
  void add(const std::string& key, const lang::CodeImage& image) override {
    const std::lock_guard lock(adding_);
    images_.emplace(key, image);
  }

 private:
  std::map<std::string, lang::CodeImage>& images_;
  std::mutex adding_;
};

using Extents = std::map<std::string, std::int64_t, std::less<>>;

// Extents by which structures differ. Short ones are part of the code, equal ones are one number
// there, and long ones have loops in parts.
constexpr auto kUsual = std::to_array<std::int64_t>(
    {0,   1,   2,    3,    4,    5,    6,    7,    8,      9,       10,       12,
     15,  16,  17,   24,   28,   31,   32,   33,   48,     50,      63,       64,
     65,  96,  100,  127,  128,  129,  200,  255,  256,    257,     300,      500,
     512, 784, 1000, 1023, 1024, 1025, 2048, 4096, 10'000, 100'000, 1'000'000});

// So many are drawn where there are more than two dimension variables.
constexpr int kDrawn = 2000;

void add_constants(const lang::Type& type, std::set<std::int64_t>& extents) {
  if (const auto* tensor = lang::as<lang::TensorType>(type)) {
    for (const lang::Dim& dim : tensor->shape.dims()) {
      if (dim.is_constant()) extents.insert(dim.constant());
    }
  } else if (const auto* tuple = lang::as<lang::TupleType>(type)) {
    for (const lang::Type& field : tuple->fields) add_constants(field, extents);
  } else if (const auto* function = lang::as<lang::FunctionType>(type)) {
    for (const lang::Type& param : function->params) add_constants(param, extents);
    add_constants(function->result, extents);
  }
}

// What the dimension variables are together: of two every pair, of more what is drawn.
std::vector<Extents> usual_extents(const std::vector<interp::GlobalFunction>& functions) {
  std::set<std::string> names;
  std::set<std::int64_t> single(kUsual.begin(), kUsual.end());
  for (const interp::GlobalFunction& function : functions) {
    for (const lang::TypeVarRef& variable : lang::variables_of(function.type))
      names.insert(variable->name);
    add_constants(function.type, single);
  }
  std::vector<Extents> all;
  for (const std::int64_t extent : single) {
    Extents alike{{"?", extent}};
    for (const std::string& name : names) alike[name] = extent;
    all.push_back(std::move(alike));
  }
  if (names.size() < 2) return all;
  if (names.size() == 2) {
    for (const std::int64_t first : single) {
      for (const std::int64_t second : single)
        all.push_back({{"?", second}, {*names.begin(), first}, {*names.rbegin(), second}});
    }
    return all;
  }
  const std::vector<std::int64_t> list(single.begin(), single.end());
  std::minstd_rand random;  // the same ones each time
  for (int i = 0; i < kDrawn; ++i) {
    Extents drawn{{"?", list[random() % list.size()]}};
    for (const std::string& name : names) drawn[name] = list[random() % list.size()];
    all.push_back(std::move(drawn));
  }
  return all;
}

}  // namespace

void add_native_code(built::Snapshot& snapshot, interp::Compiling::Makers makers,
                     const std::map<std::string, std::vector<std::int64_t>>& sizes) {
  std::map<std::string, lang::CodeImage> images;
  makers.store = [&images] { return std::make_unique<Recorder>(images); };
  {
    built::Host host(snapshot, std::move(makers));
    interp::Evaluator evaluator(host, interp::JitMode::Always, 1);
    const std::vector<interp::GlobalFunction> functions = built::functions_of(snapshot);
    interp::make_native(evaluator, functions);
    std::size_t most = 1;
    for (const auto& [name, values] : sizes) most = std::max(most, values.size());
    for (const Extents& usual : usual_extents(functions)) {
      for (std::size_t i = 0; i < most; ++i) {
        interp::make_kernels(evaluator, functions, [&](std::string_view variable) {
          const auto given = sizes.find(std::string(variable));
          if (given != sizes.end()) return given->second[std::min(i, given->second.size() - 1)];
          const auto known = usual.find(variable);
          return known != usual.end() ? known->second : usual.at("?");
        });
      }
    }
    evaluator.settle();
  }
  snapshot.images = std::move(images);
  // Who names a processor knows for which it is.
  if (!std::getenv("RELAY_JIT_CPU")) snapshot.features = built::processor_features();
}

}  // namespace relay::ahead
