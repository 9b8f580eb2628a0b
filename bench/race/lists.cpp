#include "bench/race/race.h"
struct Cell {
  int head;
  Cell* tail;
};
static Cell* build(int n) {
  Cell* list = nullptr;
  for (; n != 0; --n) list = new Cell{n, list};
  return list;
}
// A new list, as the functional program makes one; the old one goes.
static Cell* increased(Cell* xs) {
  Cell* first = nullptr;
  Cell** end = &first;
  while (xs != nullptr) {
    *end = new Cell{xs->head + 1, nullptr};
    end = &(*end)->tail;
    Cell* const rest = xs->tail;
    delete xs;
    xs = rest;
  }
  return first;
}
static int total(Cell* xs) {
  int sum = 0;
  while (xs != nullptr) {
    sum += xs->head;
    Cell* const rest = xs->tail;
    delete xs;
    xs = rest;
  }
  return sum;
}
double once() { return total(increased(build(hidden(1000000)))); }
