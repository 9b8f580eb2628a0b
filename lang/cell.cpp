#include <new>
#include <utility>

#include "lang/stop.h"
#include "lang/value.h"

namespace relay::lang {
namespace {

// Values laid out directly behind a cell.
template <class Cell>
Value* storage_of(Cell* cell) {
  static_assert(sizeof(Cell) % alignof(Value) == 0);
  return reinterpret_cast<Value*>(cell + 1);
}

template <class Cell>
std::size_t size_of_cell(std::size_t count) {
  return sizeof(Cell) + count * sizeof(Value);
}

template <class Cell>
void construct_fields(Cell* cell, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) new (storage_of(cell) + i) Value();
}

void move_into(std::span<Value> to, std::span<Value> from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i].swap(from[i]);
}

template <class Cell>
void destroy(Cell* cell) {
  const std::size_t bytes = size_of_cell<Cell>(cell->fields().size());
  cell->~Cell();
  release_cell(cell, bytes);
}

// --- Freeing ---

// Cells that nobody holds any more, in a chain through their first words, whose lowest bit tells
// tuples. Without static storage that is destroyed, as in ref.cpp.
struct DeadCells {
  std::uintptr_t first = 0;
  bool is_under_way = false;
  std::uintptr_t put_off = 0;  // those for free_put_off
};
constinit thread_local DeadCells dead{};

std::uintptr_t& link_of(Counted* cell) { return *reinterpret_cast<std::uintptr_t*>(cell); }

void push_cell(std::uintptr_t& chain, Counted* cell, bool is_tuple) {
  link_of(cell) = chain;
  chain = reinterpret_cast<std::uintptr_t>(cell) | (is_tuple ? 1 : 0);
}

template <class Cell>
void free_cell(Cell* cell) {
  const std::span<Value> fields = cell->fields();
  for (Value& field : fields) field.~Value();  // cells are added to the chain
  release_cell(cell, size_of_cell<Cell>(fields.size()));
}

bool are_put_off() { return pending_stop.load(std::memory_order_relaxed) == Stop::Interrupted; }

// Frees the chain, and what is added to it meanwhile.
void free_chain() {
  dead.is_under_way = true;
  while (dead.first != 0) {
    const std::uintptr_t next = dead.first;
    auto* const cell = reinterpret_cast<Counted*>(next & ~std::uintptr_t{1});
    const bool is_tuple = (next & 1) != 0;
    dead.first = link_of(cell);
    if (are_put_off()) [[unlikely]] {
      push_cell(dead.put_off, cell, is_tuple);
    } else if (is_tuple) {
      free_cell(static_cast<TupleCell*>(cell));
    } else {
      free_cell(static_cast<AdtCell*>(cell));
    }
  }
  dead.is_under_way = false;
}

}  // namespace

void reclaim_cell(Counted* cell, ValueKind kind) noexcept {
  push_cell(dead.first, cell, kind == ValueKind::Tuple);
  if (!dead.is_under_way) free_chain();
}

void free_put_off_cells() {
  if (dead.is_under_way) return;
  dead.first = std::exchange(dead.put_off, 0);
  free_chain();
}

// --- Making ---

TupleCell::TupleCell(std::size_t count) : count_(static_cast<std::uint32_t>(count)) {
  construct_fields(this, count);
}

TupleCell::~TupleCell() {
  for (Value& field : fields()) field.~Value();
}

Ref<TupleCell> TupleCell::make(std::size_t count) {
  return Ref<TupleCell>(new (allocate_cell(size_of_cell<TupleCell>(count))) TupleCell(count));
}

Ref<TupleCell> TupleCell::make(std::span<Value> fields) {
  Ref<TupleCell> cell = make(fields.size());
  move_into(cell->fields(), fields);
  return cell;
}

void TupleCell::operator delete(TupleCell* cell, std::destroying_delete_t) { destroy(cell); }

AdtCell::AdtCell(const Constructor* constructor, std::size_t count)
    : count_(static_cast<std::uint32_t>(count)), constructor_(constructor) {
  construct_fields(this, count);
}

AdtCell::~AdtCell() {
  for (Value& field : fields()) field.~Value();
}

Ref<AdtCell> AdtCell::make(const Constructor* constructor, std::size_t count) {
  return Ref<AdtCell>(new (allocate_cell(size_of_cell<AdtCell>(count)))
                          AdtCell(constructor, count));
}

Ref<AdtCell> AdtCell::make(const Constructor* constructor, std::span<Value> fields) {
  Ref<AdtCell> cell = make(constructor, fields.size());
  move_into(cell->fields(), fields);
  return cell;
}

void AdtCell::operator delete(AdtCell* cell, std::destroying_delete_t) { destroy(cell); }

}  // namespace relay::lang
