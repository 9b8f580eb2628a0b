#include "loops/lower.h"

#include <algorithm>

#include "loops/expand.h"
#include "loops/finish.h"
#include "loops/inline.h"
#include "loops/kernel_builder.h"
#include "loops/reuse.h"

namespace relay::loops {

namespace {

constexpr std::int64_t kOrderCost = 60;  // scalar operations for an element, about

class Lowerer {
 public:
  Lowerer(const lang::Function& group, std::span<const Layout> args, KernelLibrary* library)
      : stages_(expand(group, args)) {
    StorageChoice choice = choose_storage(stages_, library);
    storage_ = std::move(choice.storage);
    library_ = std::move(choice.library);
    places_.resize(stages_.tensors.size());
    results_.resize(stages_.tensors.size());
    for (const Layout& arg : args) buffer_dtypes_.push_back(arg.dtype);
    for (const auto& literal : stages_.literals) buffer_dtypes_.push_back(literal->dtype());
    first_literal_ = static_cast<std::int32_t>(args.size());
    first_made_ = static_cast<std::int32_t>(buffer_dtypes_.size());
  }

  LoweredGroup run() {
    for (std::size_t i = 0; i < stages_.tensors.size(); ++i) add(static_cast<TensorId>(i));
    for (TensorId result : stages_.results) {
      const ResultLeaf& leaf = results_[static_cast<std::size_t>(result)];
      if (leaf.buffer >= first_made_)
        group_.made[static_cast<std::size_t>(leaf.buffer - first_made_)].is_temporary = false;
      group_.results.push_back(leaf);
    }
    group_.literals = std::move(stages_.literals);
    return std::move(group_);
  }

 private:
  void add(TensorId id) {
    const auto at = static_cast<std::size_t>(id);
    const TensorDef& def = stages_.tensors[at];
    switch (def.kind) {
      case TensorKind::Argument:
        place(id, def.leaf, def.strides);
        return;
      case TensorKind::Literal:
        place(id, first_literal_ + def.leaf, def.strides);
        return;
      case TensorKind::Map:
        add_map(id, storage_[at]);
        return;
      case TensorKind::Scatter:
        if (storage_[at] != Storage::Stored) return;
        if (const auto found = library_.find(id); found != library_.end()) {
          add_library(id, found->second);
        } else {
          add_scatter(id);
        }
        return;
      case TensorKind::Whole:
        if (storage_[at] == Storage::Stored) add_whole(id);
        return;
    }
  }

  void place(TensorId id, std::int32_t buffer, const std::vector<std::int64_t>& strides) {
    const auto at = static_cast<std::size_t>(id);
    places_[at] = {buffer, strides};
    results_[at] = {buffer, stages_.tensors[at].shape, strides, 0};
  }

  std::int32_t make(TensorId id) {
    const TensorDef& def = stages_.tensors[static_cast<std::size_t>(id)];
    const auto buffer = static_cast<std::int32_t>(buffer_dtypes_.size());
    buffer_dtypes_.push_back(def.dtype);
    group_.made.push_back({def.dtype, def.shape, true});
    place(id, buffer, row_major(def.shape));
    return buffer;
  }

  void add_map(TensorId id, Storage storage) {
    if (storage == Storage::Nowhere || storage == Storage::Inlined) return;
    const TensorDef& def = stages_.tensors[static_cast<std::size_t>(id)];
    if (count_of(def.shape) == 0) {
      make(id);
      return;
    }
    if (const auto found = library_.find(id); found != library_.end()) {
      add_library(id, found->second);
      return;
    }
    KernelBuilder builder(stages_, storage_, places_);
    builder.build_map(id, static_cast<std::int32_t>(buffer_dtypes_.size()));
    if (storage == Storage::View) {
      if (auto view = builder.as_view(def.shape)) {
        results_[static_cast<std::size_t>(id)] = std::move(*view);
        return;
      }
    }
    make(id);
    launch(builder);
  }

  void add_library(TensorId id, LibraryStep& from) {
    const auto buffer_of = [&](TensorId operand) {
      const std::int32_t buffer = places_[static_cast<std::size_t>(operand)].buffer;
      RELAY_CHECK(buffer >= 0, "a library reads a tensor that is not stored yet");
      return buffer;
    };
    const std::int32_t result = make(id);
    if (from.start >= 0) {
      KernelBuilder copy(stages_, storage_, places_);
      copy.build_copy(from.start, result);
      launch(copy);
    }
    Launch step;
    step.buffers = {buffer_of(from.call.left), buffer_of(from.call.right), result};
    step.library = Launch::Library{std::move(from.call.form), std::move(from.kernel),
                                   from.call.left_offset, from.call.right_offset};
    group_.launches.push_back(std::move(step));
  }

  void add_whole(TensorId id) {
    const TensorDef& def = stages_.tensors[static_cast<std::size_t>(id)];
    const std::int64_t count = count_of(def.shape);
    const DType dtype = stages_.tensors[static_cast<std::size_t>(def.init)].dtype;
    const StoredAt& source = places_[static_cast<std::size_t>(def.init)];
    std::int32_t input = source.buffer;
    if (input < 0 || source.strides != row_major(def.shape)) {
      input = static_cast<std::int32_t>(buffer_dtypes_.size());
      buffer_dtypes_.push_back(dtype);
      group_.made.push_back({dtype, def.shape, true});
      if (count > 0) {
        KernelBuilder copy(stages_, storage_, places_);
        copy.build_copy(def.init, input);
        launch(copy);
      }
    }
    const std::int32_t output = make(id);
    if (count == 0) return;
    Launch step;
    const std::int64_t extent = def.shape.empty() ? 1 : def.shape.back();
    step.whole = Launch::Whole{def.primitive, dtype, count / extent, extent};
    step.buffers = {input, output};
    step.cost = count * (def.primitive == lang::TensorPrimitive::Order ? kOrderCost : 1);
    group_.launches.push_back(std::move(step));
  }

  void add_scatter(TensorId id) {
    const TensorDef& def = stages_.tensors[static_cast<std::size_t>(id)];
    const bool goes_on = is_scatter_for(def.init, id);
    const std::int32_t buffer =
        goes_on ? places_[static_cast<std::size_t>(def.init)].buffer : make(id);
    if (goes_on) {
      place(id, buffer, row_major(def.shape));
    } else if (count_of(def.shape) > 0) {
      KernelBuilder copy(stages_, storage_, places_);
      copy.build_copy(def.init, buffer);
      launch(copy);
    }
    std::int64_t points = 1;
    for (IndexVarId var : def.vars) points *= stages_.var_extents[static_cast<std::size_t>(var)];
    if (points == 0) return;
    KernelBuilder scatter(stages_, storage_, places_);
    scatter.build_scatter(id, buffer);
    launch(scatter);
  }

  // Is `init` a scatter that only scatter `id` reads, to start from? Then both fill one tensor.
  bool is_scatter_for(TensorId init, TensorId id) const {
    if (stages_.tensors[static_cast<std::size_t>(init)].kind != TensorKind::Scatter ||
        storage_[static_cast<std::size_t>(init)] != Storage::Stored)
      return false;
    const auto is_init = [&](const Node& node) {
      return node.kind == NodeKind::Read && node.ref == init;
    };
    if (std::any_of(stages_.nodes.begin(), stages_.nodes.end(), is_init)) return false;
    for (std::size_t other = 0; other < stages_.tensors.size(); ++other) {
      if (stages_.tensors[other].init == init && static_cast<TensorId>(other) != id) return false;
    }
    return std::find(stages_.results.begin(), stages_.results.end(), init) == stages_.results.end();
  }

  void launch(KernelBuilder& builder) {
    group_.launches.push_back(finish(std::move(builder.draft()), buffer_dtypes_));
#ifndef NDEBUG
    verify(group_.launches.back().kernel);
#endif
  }

  Stages stages_;
  std::vector<Storage> storage_;
  std::map<TensorId, LibraryStep> library_;
  std::vector<StoredAt> places_;      // by tensor
  std::vector<ResultLeaf> results_;   // by tensor
  std::vector<DType> buffer_dtypes_;  // by group buffer
  std::int32_t first_literal_ = 0;
  std::int32_t first_made_ = 0;
  LoweredGroup group_;
};

}  // namespace

lang::Result<LoweredGroup> lower(const lang::Function& group, std::span<const Layout> args,
                                 KernelLibrary* library) {
  return lang::capture([&] {
    LoweredGroup lowered = Lowerer(group, args, library).run();
    find_reuse(lowered, args);
    return lowered;
  });
}

}  // namespace relay::loops
