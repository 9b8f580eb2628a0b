#include "ahead/native_code.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <iterator>
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

using Extents = std::map<std::string, std::int64_t, std::less<>>;
using Images = std::map<std::string, lang::CodeImage>;

// What is made is kept, and found again.
class Recorder final : public interp::CodeStore {
 public:
  explicit Recorder(Images& images) : images_(images) {}
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
  Images& images_;
  std::mutex adding_;
};

// Extents by which structures differ. Short ones are part of the code, equal ones are one number
// there, and long ones have loops in parts.
constexpr auto kUsual = std::to_array<std::int64_t>(
    {0,   1,   2,    3,    4,    5,    6,    7,    8,      9,       10,       12,
     15,  16,  17,   24,   28,   31,   32,   33,   48,     50,      63,       64,
     65,  96,  100,  127,  128,  129,  200,  255,  256,    257,     300,      500,
     512, 784, 1000, 1023, 1024, 1025, 2048, 4096, 10'000, 100'000, 1'000'000});

// Where there are several dimension variables, extents are drawn until so many in a row have made
// no new code.
constexpr int kQuietDraws = 300;

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

// The dimension variables of the functions, and extents that may make a difference.
struct Usual {
  std::set<std::string> names;
  std::vector<std::int64_t> extents;
};

Usual usual_of(const std::vector<interp::GlobalFunction>& functions) {
  Usual usual;
  std::set<std::int64_t> extents(kUsual.begin(), kUsual.end());
  for (const interp::GlobalFunction& function : functions) {
    for (const lang::TypeVarRef& variable : lang::variables_of(function.type))
      usual.names.insert(variable->name);
    add_constants(function.type, extents);
  }
  usual.extents.assign(extents.begin(), extents.end());
  return usual;
}

class KernelMaker {
 public:
  KernelMaker(interp::Evaluator& evaluator, const std::vector<interp::GlobalFunction>& functions,
              const Sizes& sizes, const Images& images)
      : evaluator_(evaluator), functions_(functions), sizes_(sizes), images_(images) {}

  void make_all() {
    const Usual usual = usual_of(functions_);
    std::vector<std::string> open;  // those whose extents are not given
    for (const std::string& name : usual.names) {
      if (sizes_.count(name) == 0) open.push_back(name);
    }
    for (const std::int64_t extent : usual.extents) {
      Extents alike{{"?", extent}};
      for (const std::string& name : open) alike[name] = extent;
      make_given(std::move(alike), sizes_.begin());
    }
    if (open.size() < 2) return;
    make_small_pairs(open);
    std::minstd_rand random;  // the same ones each time
    const auto drawn = [&] { return usual.extents[random() % usual.extents.size()]; };
    for (int quiet = 0; quiet < kQuietDraws; ++quiet) {
      Extents extents{{"?", drawn()}};
      for (const std::string& name : open) extents[name] = drawn();
      const std::size_t before = images_.size();
      make_given(std::move(extents), sizes_.begin());
      if (images_.size() > before) quiet = 0;
    }
  }

 private:
  // Short extents of two variables are part of one code together.
  void make_small_pairs(const std::vector<std::string>& open) {
    constexpr std::int64_t kShort = 8;
    constexpr std::int64_t kLong = 64;
    for (std::size_t i = 0; i < open.size(); ++i) {
      for (std::size_t k = i + 1; k < open.size(); ++k) {
        for (std::int64_t pair = 0; pair < kShort * kShort; ++pair) {
          Extents extents{{"?", kLong}};
          for (const std::string& name : open) extents[name] = kLong;
          extents[open[i]] = pair / kShort;
          extents[open[k]] = pair % kShort;
          make_given(std::move(extents), sizes_.begin());
        }
      }
    }
  }

  // With each of the extents that are given for `next` and the variables behind it.
  void make_given(Extents extents, Sizes::const_iterator next) {
    if (next == sizes_.end()) return make(extents);
    for (const std::int64_t each : next->second) {
      extents[next->first] = each;
      make_given(extents, std::next(next));
    }
  }

  void make(const Extents& extents) {
    interp::make_kernels(evaluator_, functions_, [&](std::string_view variable) {
      const auto known = extents.find(variable);
      return known != extents.end() ? known->second : extents.at("?");
    });
  }

  interp::Evaluator& evaluator_;
  const std::vector<interp::GlobalFunction>& functions_;
  const Sizes& sizes_;
  const Images& images_;
};

}  // namespace

void add_native_code(built::Snapshot& snapshot, interp::Compiling::Makers makers,
                     const Sizes& sizes) {
  Images images;
  makers.store = [&images] { return std::make_unique<Recorder>(images); };
  {
    built::Host host(snapshot, std::move(makers));
    interp::Evaluator evaluator(host, interp::JitMode::Always, 1);
    const std::vector<interp::GlobalFunction> functions = built::functions_of(snapshot);
    interp::make_native(evaluator, functions);
    KernelMaker(evaluator, functions, sizes, images).make_all();
    evaluator.settle();
  }
  snapshot.images = std::move(images);
  // Who names a processor knows for which it is.
  if (!std::getenv("RELAY_JIT_CPU")) snapshot.features = built::processor_features();
}

}  // namespace relay::ahead
