#include "lang/ref.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lang/boxed.h"
#include "lang/stop.h"

using namespace relay::lang;

namespace {

// Says when it goes, and keeps another alive.
struct Noted final : Counted {
  Noted(int& left, Ref<Noted> next) : left(left), next(std::move(next)) {}
  ~Noted() override { --left; }
  int& left;
  Ref<Noted> next;
};

Ref<Noted> chain(int length, int& left) {
  Ref<Noted> last;
  for (int i = 0; i < length; ++i) last = Ref<Noted>(new Noted(left, std::move(last)));
  left += length;
  return last;
}

struct Interrupt {
  Interrupt() { request_stop(Stop::Interrupted); }
  ~Interrupt() { clear_stop(); }
};

}  // namespace

TEST_CASE("nothing is freed while an interrupt waits for its answer") {
  int left = 0;
  Ref<Noted> kept = chain(1000, left);
  {
    const Interrupt interrupt;
    kept = nullptr;
    make_boxed<std::vector<Ref<Noted>>>(3, chain(10, left));
    CHECK(left == 1010);
  }
  CHECK(left == 1010);
  free_put_off();
  CHECK(left == 0);
  free_put_off();  // there is nothing
  kept = chain(100000, left);
  kept = nullptr;
  CHECK(left == 0);
}

TEST_CASE("other requests to stop free what is in their way") {
  int left = 0;
  Ref<Noted> kept = chain(10, left);
  request_stop(Stop::OutOfMemory);
  kept = nullptr;
  clear_stop();
  CHECK(left == 0);
}

TEST_CASE("a container that is being emptied leaves the rest for later") {
  struct Pressing final : Counted {
    explicit Pressing(int& left) : left(left) {}
    ~Pressing() override {
      if (--left == 6) request_stop(Stop::Interrupted);
    }
    int& left;
  };
  int left = 10;
  std::vector<Ref<Pressing>> elements;
  for (int i = 0; i < 10; ++i) elements.emplace_back(new Pressing(left));
  free_elements(elements);
  CHECK(left == 6);
  clear_stop();
  free_put_off();
  CHECK(left == 0);
}
