#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace relay::lang {

// Base of every counted, immutable object of the system: types, expressions, heap cells.
// Counts are not atomic: only the thread that compiles and evaluates touches them.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) : refs_(0) {}
  Counted& operator=(const Counted&) { return *this; }
  virtual ~Counted() = default;

  void retain() const { ++refs_; }
  // Frees iteratively: a chain of a million nodes needs no stack. While an interrupt waits for its
  // answer nothing is freed: free_put_off() does it.
  void release() const {
    if (--refs_ == 0) reclaim(this);
  }
  bool is_unique() const { return refs_ == 1; }
  std::uint32_t count() const { return refs_; }

 private:
  friend void free_put_off();
  static void reclaim(const Counted* object);
  mutable std::uint32_t refs_ = 0;
};

// Frees what was not freed while an interrupt waited for its answer: the remains of a large program
// take a tenth of a second and more, and somebody looks at the screen. Called where nobody waits;
// by the thread that releases.
void free_put_off();

// A counted pointer to a `Counted`. Empty by default.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* pointer) : pointer_(pointer) {
    if (pointer_) pointer_->retain();
  }
  Ref(const Ref& other) : Ref(other.pointer_) {}
  Ref(Ref&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  Ref(const Ref<U>& other) : Ref(static_cast<T*>(other.get())) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  Ref(Ref<U>&& other) noexcept : pointer_(other.detach()) {}
  ~Ref() {
    if (pointer_) pointer_->release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }

  T* get() const { return pointer_; }
  T* detach() { return std::exchange(pointer_, nullptr); }
  T* operator->() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }
  // Identity, not structure.
  friend bool operator==(const Ref& a, const Ref& b) { return a.pointer_ == b.pointer_; }
  friend bool operator==(const Ref& a, std::nullptr_t) { return a.pointer_ == nullptr; }

 private:
  T* pointer_ = nullptr;
};

template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>(new T{std::forward<Args>(args)...});
}

}  // namespace relay::lang

template <class T>
struct std::hash<relay::lang::Ref<T>> {
  std::size_t operator()(const relay::lang::Ref<T>& ref) const noexcept {
    return std::hash<T*>()(ref.get());
  }
};
