#include "lang/cell_memory.h"

#include <functional>
#include <iterator>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "lang/memory.h"
#include "lang/stop.h"
#include "lang/value.h"

using namespace relay::lang;

namespace {

// What one test does leaves no free cells to the next.
void on_a_thread_of_its_own(const std::function<void()>& body) { std::thread(body).join(); }

Constructor cons() {
  Constructor constructor;
  constructor.name = "Cons";
  return constructor;
}

Value pair(const Constructor* constructor, Value head, Value tail) {
  std::vector<Value> fields = {std::move(head), std::move(tail)};
  return Value::adt(AdtCell::make(constructor, fields));
}

Value list_of(const Constructor* constructor, int length) {
  Value list = Value::unit();
  for (int i = 0; i < length; ++i) {
    list = pair(constructor, Value::scalar(DType::Int32, static_cast<std::uint32_t>(i)),
                std::move(list));
  }
  return list;
}

}  // namespace

TEST_CASE("cells of one size do not overlap, and the last that went is the next") {
  on_a_thread_of_its_own([] {
    for (std::size_t bytes : {8, 24, 56, 256, 264, 4000}) {
      INFO(bytes);
      std::set<char*> cells;
      for (int i = 0; i < 1000; ++i) {
        auto* const cell = static_cast<char*>(allocate_cell(bytes));
        REQUIRE(reinterpret_cast<std::uintptr_t>(cell) % kCellUnit == 0);
        const auto next = cells.upper_bound(cell);
        if (next != cells.end()) REQUIRE(cell + bytes <= *next);
        if (next != cells.begin()) REQUIRE(*std::prev(next) + bytes <= cell);
        cells.insert(cell);
      }
      for (char* cell : cells) release_cell(cell, bytes);
      if (!kHasCellLists || bytes > kLargestCell) continue;
      void* const again = allocate_cell(bytes);
      CHECK(again == *cells.rbegin());
      release_cell(again, bytes);
    }
  });
}

TEST_CASE("memory of cells is counted, bounded when they are free, and given back") {
  if (!kHasCellLists) return;
  on_a_thread_of_its_own([] {
    constexpr std::size_t kBytes = 64;
    constexpr std::size_t kSpare = 1 << 20;  // sums of threads, and the vector
    constexpr std::size_t kCount = 3 * kKeptCells / kBytes;
    std::vector<void*> cells;
    cells.reserve(kCount);
    const std::size_t before = memory_used();
    for (std::size_t i = 0; i < kCount; ++i) cells.push_back(allocate_cell(kBytes));
    CHECK(memory_used() >= before + kCount * kBytes - kSpare);
    CHECK(memory_used() <= before + kCount * kBytes + kSpare);
    for (void* cell : cells) release_cell(cell, kBytes);
    CHECK(memory_used() <= before + kKeptCells + kSpare);
    trim_cells();
    CHECK(memory_used() <= before + kSpare);
    // One cell in use keeps its slab, and the others go.
    for (void*& cell : cells) cell = allocate_cell(kBytes);
    for (std::size_t i = 1; i < kCount; ++i) release_cell(cells[i], kBytes);
    trim_cells();
    CHECK(memory_used() <= before + (2 << 20) + kSpare);
    release_cell(cells[0], kBytes);
    trim_cells();
    CHECK(memory_used() <= before + kSpare);
  });
}

TEST_CASE("cells in use that are spread over all slabs keep them, and freeing stays linear") {
  if (!kHasCellLists) return;
  on_a_thread_of_its_own([] {
    constexpr std::size_t kBytes = 64;
    constexpr std::size_t kCount = 4 * kKeptCells / kBytes;
    std::vector<void*> cells;
    for (std::size_t i = 0; i < kCount; ++i) cells.push_back(allocate_cell(kBytes));
    for (std::size_t i = 0; i < kCount; ++i) {
      if (i % 1000 != 0) release_cell(cells[i], kBytes);
    }
    std::set<void*> kept;
    for (std::size_t i = 0; i < kCount; i += 1000) kept.insert(cells[i]);
    for (std::size_t i = 0; i < 2 * kCount; ++i) {
      void* const cell = allocate_cell(kBytes);
      if (i % 1000 == 0) REQUIRE(!kept.contains(cell));
      release_cell(cell, kBytes);
    }
    for (void* cell : kept) release_cell(cell, kBytes);
    trim_cells();
  });
}

TEST_CASE("lists of millions of cells are freed without a stack") {
  on_a_thread_of_its_own([] {
    const Constructor constructor = cons();
    const std::size_t before = memory_used();
    for (int round = 0; round < 3; ++round) {
      Value list = list_of(&constructor, 2'000'000);
      const Value shared = list.as_adt().fields()[1];
      list = Value();
      CHECK(shared.is_unique());
    }
    trim_cells();
    CHECK(memory_used() <= before + (1 << 20));
  });
}

TEST_CASE("a list is not freed while an interrupt waits for its answer") {
  on_a_thread_of_its_own([] {
    const Constructor constructor = cons();
    const std::size_t before = memory_used();
    Value list = list_of(&constructor, 100'000);
    request_stop(Stop::Interrupted);
    list = Value();
    free_put_off();  // it still waits
    trim_cells();
    if (kHasCellLists) CHECK(memory_used() >= before + (4 << 20));
    clear_stop();
    free_put_off();
    trim_cells();
    CHECK(memory_used() <= before + (1 << 20));
  });
}

TEST_CASE("where each cell counts, the n-th fails") {
  on_a_thread_of_its_own([] {
    const Constructor constructor = cons();
    void* const kept = allocate_cell(56);
    release_cell(kept, 56);
    fail_allocation(0);
    const Value list = list_of(&constructor, 100);
    CHECK(fail_allocation(0) >= 100);
    fail_allocation(50);
    CHECK_THROWS_AS(list_of(&constructor, 100), std::bad_alloc);
    fail_allocation(0);
  });
}
