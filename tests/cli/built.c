#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "built.h"
#include "other.h"

#define CHECK(condition) \
  if (!(condition)) return printf("line %d: %s: %s\n", __LINE__, #condition, built_error()), 1

static void *call_often(void *sum) {
  for (int i = 0; i < 200; ++i) {
    float y = 0;
    if (built_class(3.0f, &y) == 0) *(float *)sum += y;
  }
  return NULL;
}

int main(void) {
  const float a[] = {1, 2, 3, 4, 5, 6};
  float t[6] = {0};
  CHECK(built_turned(2, 3, a, t) == 0);
  CHECK(t[0] == 1 && t[1] == 4 && t[2] == 2 && t[3] == 5 && t[4] == 3 && t[5] == 6);
  CHECK(built_turned(0, 3, NULL, NULL) == 0);
  CHECK(built_turned(-1, 3, a, t) != 0 && strstr(built_error(), "`n` is -1"));

  bool flags[] = {true, false}, flags_after[2];
  int16_t shorts[] = {1, 2, 3}, shorts_after[3];
  const built_Outer before = {{41, flags}, 1.5, shorts};
  built_Outer after = {{0, flags_after}, 0, shorts_after};
  CHECK(built_changed(&before, &after) == 0);
  CHECK(after.inner.count == 42 && !flags_after[0] && flags_after[1] && after.pair_0 == 3.0 && shorts_after[2] == 4);
  CHECK(built_changed(&before, NULL) == 0);

  const double x[] = {0.5, 1.5};
  double y[2];
  int32_t k = 0;
  bool is_doubled = false;
  CHECK(built_several(2, x, true, 3, y, &k, &is_doubled) == 0 && y[1] == 3.0 && k == 3 && is_doubled);
  CHECK(built_several(2, x, false, 3, y, &k, NULL) == 0 && y[1] == 1.5 && k == 4);

  const uint16_t halves[] = {0x3c00, 0x4000, 0, 0xbc00}; /* 1, 2, 0, -1 */
  uint16_t doubled[4];
  CHECK(built_halves(halves, doubled) == 0 && doubled[0] == 0x4000 && doubled[3] == 0xc000);

  float w = 0, value = 0;
  CHECK(built_weight(2, &w) == 0 && w == 2.5f);
  CHECK(built_weight(3, &w) == 1);
  printf("%s\n", built_error());
  CHECK(built_told(1.25f, &w) == 0 && w == 1.25f);
  CHECK(built_nothing(&k) == 0 && k == 7);
  CHECK(built_quotient(7, 2, &k) == 0 && k == 3);
  CHECK(built_quotient(7, 0, &k) == 1);
  printf("%s\n", built_error());
  int64_t depth = 0;
  CHECK(built_deep(1000000, &depth) == 0 && depth == 1000000);

  /* Results may lie where arguments do, and what a call keeps is its own. */
  float u[] = {1, 2, 3, 4}, v[] = {5, 6, 7, 8};
  CHECK(built_swapped(4, u, v, u, v) == 0 && u[0] == 5 && u[3] == 8 && v[0] == 1 && v[3] == 4);
  CHECK(built_keep(u, &w) == 0);
  memset(u, 0, sizeof u);
  CHECK(built_last(v) == 0 && v[0] == 5 && v[3] == 8);

  /* Native code for extents that are in no list. */
  static float many[3000];
  for (int n = 1; n < 3000; n += 37) CHECK(built_average(n, many, &w) == 0 && w == 0);

  CHECK(built_names(1, 2, 3, 4, 5, &w) == 0 && w == 15);
  CHECK(built_greek(3, 1, &w) == 0 && w == 2);
  const built_Pair_2 nested = {{1, 2}, 3};
  CHECK(built_nested(&nested, &w) == 0 && w == 4);
  const built_error_2 fields = {1, 2, 3, 4, 5};
  built_error_2 same;
  CHECK(built_errors(&fields, &same) == 0 && same.pair_1 == 2 && same.pair_0_2 == 3 && same.int__2 == 5);
  CHECK(built_p0_gradient(3, &w, &value) == 0 && w == 9 && value == 6);

  /* Two objects, and two threads of which each has its own error. */
  float slope = 0;
  CHECK(other_class_gradient(3.0f, &value, &slope) == 0 && value == 9 && slope == 6);
  CHECK(built_set_threads(1) == 0);
  float sums[2] = {0};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, call_often, &sums[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  CHECK(sums[0] == 1800 && sums[1] == 1800);
  CHECK(built_slow_kernels() == 0 && other_slow_kernels() == 0);
  puts("all as it should be");
  return 0;
}
