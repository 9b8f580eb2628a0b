#include "ahead/native_code.h"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <set>
#include <utility>

#include "built/host.h"
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

// Extents by which structures differ: none and one, fewer than a vector or a tile has, odd ones,
// and more than a cache holds.
constexpr auto kUsual = std::to_array<std::int64_t>({0, 1, 2, 3, 4, 7, 8, 16, 31, 64, 200, 1000});

using Extents = std::map<std::string, std::int64_t, std::less<>>;

// What the dimension variables are together: all alike, and each alone small among larger ones.
std::vector<Extents> usual_extents(const std::vector<interp::GlobalFunction>& functions) {
  std::set<std::string> names;
  for (const interp::GlobalFunction& function : functions) {
    for (const lang::TypeVarRef& variable : lang::variables_of(function.type))
      names.insert(variable->name);
  }
  std::vector<Extents> all;
  for (const std::int64_t extent : kUsual) {
    Extents alike{{"?", extent}};
    for (const std::string& name : names) alike[name] = extent;
    all.push_back(std::move(alike));
  }
  if (names.size() < 2) return all;
  for (const std::string& name : names) {
    for (const std::int64_t extent : {1, 5}) {
      Extents mixed = all.back();
      for (auto& [each, value] : mixed) value = each == name ? extent : 64;
      all.insert(all.begin(), std::move(mixed));
    }
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
}

}  // namespace relay::ahead
