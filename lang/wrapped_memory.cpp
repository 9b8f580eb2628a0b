#include "lang/wrapped_memory.h"

#include <mutex>
#include <unordered_map>
#include <utility>

namespace relay::lang {

namespace {

// Whose memory a buffer stands for, by the address of the buffer's own. Never destroyed: tensors
// with static storage may be freed late.
struct Wrapped {
  std::mutex mutex;
  std::unordered_map<const std::byte*, std::function<void()>> releases;
  static Wrapped& instance() {
    static auto* const wrapped = new Wrapped;
    return *wrapped;
  }
};

}  // namespace

TensorRef wrap_memory(DType dtype, std::vector<std::int64_t> shape,
                      std::vector<std::int64_t> strides, std::byte* data,
                      std::function<void()> release) {
  Ref<Buffer> wrapper = Buffer::allocate(kWrapperSize);
  const std::byte* const key = wrapper->data();
  TensorRef tensor(
      new Tensor(dtype, std::move(shape), std::move(strides), std::move(wrapper), data));
  Wrapped& wrapped = Wrapped::instance();
  const std::lock_guard lock(wrapped.mutex);
  wrapped.releases.emplace(key, std::move(release));
  return tensor;
}

void release_wrapped(const std::byte* wrapper) noexcept {
  Wrapped& wrapped = Wrapped::instance();
  std::function<void()> release;
  {
    const std::lock_guard lock(wrapped.mutex);
    const auto found = wrapped.releases.find(wrapper);
    if (found == wrapped.releases.end()) return;
    release = std::move(found->second);
    wrapped.releases.erase(found);
  }
  release();
}

}  // namespace relay::lang
