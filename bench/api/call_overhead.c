/* What a call through the C interface costs over the function: calls of a function that gives its
 * argument, of one that adds numbers, and of one that adds short vectors; nanoseconds, the least
 * of several rounds. */
#include <relay.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(relay_error* error) {
  if (!error) return;
  fputs(relay_error_text(error), stderr);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void measure(relay_engine* engine, const char* what, const char* function,
                    const char* argument) {
  enum { kCalls = 20000, kRounds = 15 };
  relay_value *f, *x;
  check(relay_eval(engine, function, &f));
  check(relay_eval(engine, argument, &x));
  double best = 1e300;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = now();
    for (int i = 0; i < kCalls; ++i) {
      relay_value* result;
      check(relay_call(f, &x, 1, &result));
      relay_value_release(result);
    }
    const double each = (now() - begin) / kCalls;
    if (each < best) best = each;
  }
  printf("%-28s %8.0f ns\n", what, best);
  relay_value_release(f);
  relay_value_release(x);
}

int main(void) {
  relay_engine* engine;
  check(relay_engine_new(NULL, &engine));
  measure(engine, "x, a tensor", "fn (x: Tensor[(4), float32]) { x }", "[1.0, 2.0, 3.0, 4.0]");
  measure(engine, "x + 1, a number", "fn (x: float32) { x + 1.0 }", "1.0");
  measure(engine, "x + 1, a tensor", "fn (x: Tensor[(4), float32]) { x + 1.0 }",
          "[1.0, 2.0, 3.0, 4.0]");
  measure(engine, "x + 1, a generic function", "fn (x) { x + 1.0 }", "[1.0, 2.0, 3.0, 4.0]");
  relay_engine_free(engine);
  return 0;
}
