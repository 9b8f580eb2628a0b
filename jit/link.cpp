// LLVM's JITLink links for a process that is not there: the image lies at an address of its own
// choice, and what it needs so far away that it is reached by way of pointers alone. Where these
// are is noted.

#include "jit/link.h"

#include <cstring>
#include <unordered_map>

namespace relay::jit {

namespace {

using lang::CodeImage;
using llvm::jitlink::LinkGraph;

constexpr std::uint64_t kImageStart = 0x1000'0000'0000;
constexpr std::uint64_t kNeededStart = 0x5000'0000'0000;

bool is_writable(llvm::orc::MemProt protection) {
  return (static_cast<int>(protection) & static_cast<int>(llvm::orc::MemProt::Write)) != 0;
}

// Lays out one image.
class ImageMemory final : public llvm::jitlink::JITLinkMemoryManager {
 public:
  explicit ImageMemory(CodeImage& image) : image_(image) {}

  void allocate(const llvm::jitlink::JITLinkDylib*, LinkGraph& graph,
                OnAllocatedFunction on_allocated) override {
    llvm::jitlink::BasicLayout layout(graph);
    std::uint64_t size = 0;
    for (auto& [group, segment] : layout.segments()) {
      if (is_writable(group.getMemProt()) || segment.ZeroFillSize != 0) {
        on_allocated(llvm::createStringError("an image has no variables"));
        return;
      }
      size = llvm::alignTo(size, segment.Alignment);
      segment.Addr = llvm::orc::ExecutorAddr(kImageStart + size);
      size += segment.ContentSize;
    }
    image_.bytes.resize(size);
    for (auto& [group, segment] : layout.segments()) {
      segment.WorkingMem = reinterpret_cast<char*>(image_.bytes.data()) +
                           (segment.Addr - llvm::orc::ExecutorAddr(kImageStart));
    }
    if (auto error = layout.apply()) {
      on_allocated(std::move(error));
      return;
    }
    on_allocated(std::make_unique<Allocation>());
  }
  void deallocate(std::vector<FinalizedAlloc> allocations,
                  OnDeallocatedFunction on_deallocated) override {
    for (FinalizedAlloc& each : allocations) each.release();
    on_deallocated(llvm::Error::success());
  }

 private:
  struct Allocation final : InFlightAlloc {
    void abandon(OnAbandonedFunction on_abandoned) override {
      on_abandoned(llvm::Error::success());
    }
    void finalize(OnFinalizedFunction on_finalized) override {
      on_finalized(FinalizedAlloc(llvm::orc::ExecutorAddr(kImageStart)));
    }
  };
  CodeImage& image_;
};

class ImageContext final : public llvm::jitlink::JITLinkContext {
 public:
  ImageContext(CodeImage& image, bool& is_linked)
      : JITLinkContext(nullptr), image_(image), is_linked_(is_linked), memory_(image) {}

  llvm::jitlink::JITLinkMemoryManager& getMemoryManager() override { return memory_; }
  void notifyFailed(llvm::Error error) override { llvm::consumeError(std::move(error)); }
  void lookup(const LookupMap& symbols,
              std::unique_ptr<llvm::jitlink::JITLinkAsyncLookupContinuation> then) override {
    llvm::jitlink::AsyncLookupResult found;
    for (const auto& [name, flags] : symbols) {
      const std::uint64_t address = kNeededStart + 16 * image_.needed.size();
      needed_[name.str()] = static_cast<std::uint32_t>(image_.needed.size());
      image_.needed.push_back(name.str());
      found[name] = {llvm::orc::ExecutorAddr(address), llvm::JITSymbolFlags::Exported};
    }
    then->run(std::move(found));
  }
  llvm::Error notifyResolved(LinkGraph&) override { return llvm::Error::success(); }
  void notifyFinalized(llvm::jitlink::JITLinkMemoryManager::FinalizedAlloc allocation) override {
    allocation.release();
    is_linked_ = true;
  }
  // What no function that is seen from outside reaches is left out.
  llvm::jitlink::LinkGraphPassFunction getMarkLivePass(const llvm::Triple&) const override {
    return [](LinkGraph& graph) {
      for (llvm::jitlink::Symbol* const symbol : graph.defined_symbols()) {
        if (symbol->getScope() == llvm::jitlink::Scope::Default) symbol->setLive(true);
      }
      return llvm::Error::success();
    };
  }
  llvm::Error modifyPassConfig(LinkGraph&, llvm::jitlink::PassConfiguration& passes) override {
    passes.PreFixupPasses.emplace_back([this](LinkGraph& graph) {
      note_functions(graph);
      note_pointers(graph);
      return llvm::Error::success();
    });
    return llvm::Error::success();
  }

 private:
  static std::uint64_t offset_of(llvm::orc::ExecutorAddr address) {
    return address - llvm::orc::ExecutorAddr(kImageStart);
  }
  void note_functions(LinkGraph& graph) {
    for (const llvm::jitlink::Symbol* const symbol : graph.defined_symbols()) {
      if (!symbol->hasName() || !symbol->isCallable()) continue;
      image_.functions.push_back(
          {symbol->getName().str(), offset_of(symbol->getAddress()), symbol->getSize()});
    }
  }
  void note_pointers(LinkGraph& graph) {
    for (const llvm::jitlink::Block* const block : graph.blocks()) {
      for (const llvm::jitlink::Edge& edge : block->edges()) {
        if (!is_pointer(graph, edge)) continue;
        const llvm::jitlink::Symbol& target = edge.getTarget();
        CodeImage::Pointer pointer{offset_of(block->getFixupAddress(edge)), CodeImage::kItself,
                                   edge.getAddend()};
        if (target.isDefined()) {
          pointer.addend += static_cast<std::int64_t>(offset_of(target.getAddress()));
        } else {
          pointer.needed = needed_.at(target.getName().str());
        }
        image_.pointers.push_back(pointer);
      }
    }
  }
  static bool is_pointer(const LinkGraph& graph, const llvm::jitlink::Edge& edge) {
    return graph.getTargetTriple().isAArch64() ? edge.getKind() == llvm::jitlink::aarch64::Pointer64
                                               : edge.getKind() == llvm::jitlink::x86_64::Pointer64;
  }

  CodeImage& image_;
  bool& is_linked_;
  ImageMemory memory_;
  std::unordered_map<std::string, std::uint32_t> needed_;
};

}  // namespace

std::optional<CodeImage> link(llvm::MemoryBufferRef object) {
  auto graph = llvm::jitlink::createLinkGraphFromObject(object);
  if (!graph) {
    llvm::consumeError(graph.takeError());
    return std::nullopt;
  }
  const llvm::Triple& triple = (*graph)->getTargetTriple();
  if (!triple.isX86() && !triple.isAArch64()) return std::nullopt;
  CodeImage image;
  bool is_linked = false;
  llvm::jitlink::link(std::move(*graph), std::make_unique<ImageContext>(image, is_linked));
  if (!is_linked) return std::nullopt;
  return image;
}

}  // namespace relay::jit
