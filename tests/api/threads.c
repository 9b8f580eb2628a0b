/* Engines in threads of their own, one engine used by several threads, calls that are interrupted.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "check.h"

enum { kRounds = 200 };

static void pause_for(long milliseconds) {
  const struct timespec time = {0, milliseconds * 1000000};
  nanosleep(&time, NULL);
}

/* An engine with definitions of its own, made and freed by this thread; the compiler at work. */
static void* with_an_engine_of_its_own(void* number) {
  const int own = *(int*)number;
  char text[256], expected[64];
  relay_options options;
  relay_options_init(&options);
  options.jit = own % 2 == 0 ? RELAY_JIT_ALWAYS : RELAY_JIT_AUTO;
  relay_engine* engine;
  OK(relay_engine_new(&options, &engine));
  snprintf(
      text, sizeof text,
      "type Own { Own(int32) }\n"
      "def count(n: int32, s: int32) -> int32 { if n == 0 { s } else { count(n - 1, s + %d) } }\n"
      "def f(x) { sum(x * x) * %d.0 }\ndef own(n) { match n { Own(k) => k + %d } }\n",
      own, own, own);
  OK(relay_run(engine, "own.relay", text, NULL));
  relay_value *count = named(engine, "count"), *f = named(engine, "f"), *grad,
              *get = named(engine, "own");
  OK(relay_grad(f, &grad));
  relay_value* args[2] = {evaluated(engine, "100"), evaluated(engine, "0")};
  float data[3] = {1, 2, 3};
  for (int i = 0; i < kRounds; ++i) {
    relay_value *x = float_vector(data, 3), *made;
    snprintf(expected, sizeof expected, "%d", 100 * own);
    GIVES(called(count, args, 2), expected, "int32");
    snprintf(expected, sizeof expected, "[%d.0, %d.0, %d.0]", 2 * own, 4 * own, 6 * own);
    GIVES(called(grad, &x, 1), expected, "Tensor[(3), float32]");
    OK(relay_construct(engine, "Own", args, 1, &made));
    snprintf(expected, sizeof expected, "%d", 100 + own);
    GIVES(called(get, &made, 1), expected, "int32");
    relay_value_release(made);
    relay_value_release(x);
  }
  relay_value* all[] = {count, f, grad, get, args[0], args[1]};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) relay_value_release(all[i]);
  relay_engine_free(engine);
  return NULL;
}

static relay_value* shared_function;
static void* with_the_engine_of_others(void* number) {
  float data[2] = {(float)*(int*)number, 1};
  char expected[64];
  snprintf(expected, sizeof expected, "[%d.0, 1.0]", *(int*)number * *(int*)number);
  for (int i = 0; i < kRounds; ++i) {
    relay_value* x = float_vector(data, 2);
    GIVES(called(shared_function, &x, 1), expected, "Tensor[(2), float32]");
    relay_value_release(x);
  }
  return NULL;
}

static void in_threads(void* (*body)(void*), int count) {
  pthread_t threads[8];
  int numbers[8];
  for (int i = 0; i < count; ++i) {
    numbers[i] = i + 1;
    pthread_create(&threads[i], NULL, body, &numbers[i]);
  }
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
}

static atomic_int begun;
static void* runs_forever(void* engine) {
  relay_value* value;
  atomic_fetch_add(&begun, 1);
  FAILS(relay_eval(engine, "forever(0)", &value), "Interrupted", "interrupted");
  return NULL;
}

static void test_interrupts(void) {
  relay_engine *first, *second;
  OK(relay_engine_new(NULL, &first));
  OK(relay_engine_new(NULL, &second));
  OK(relay_run(first, NULL, "def forever(n: int32) -> int32 { forever(n + 1) }", NULL));
  OK(relay_run(second, NULL, "def forever(n: int32) -> int32 { forever(n + 1) }", NULL));
  pthread_t running, waiting;
  pthread_create(&running, NULL, runs_forever, first);
  while (atomic_load(&begun) < 1) pause_for(1);
  pause_for(30);
  pthread_create(&waiting, NULL, runs_forever, second);
  while (atomic_load(&begun) < 2) pause_for(1);
  pause_for(30);
  /* Whoever waits gives up, and the other goes on. */
  relay_interrupt(second);
  pthread_join(waiting, NULL);
  relay_interrupt(first);
  pthread_join(running, NULL);
  /* Of what does not run nothing is interrupted. */
  relay_interrupt(first);
  GIVES(evaluated(first, "1 + 1"), "2", "int32");
  GIVES(evaluated(second, "1 + 2"), "3", "int32");
  pthread_create(&running, NULL, runs_forever, second);
  pause_for(50);
  CHECK(relay_interrupt_any() == 1);
  pthread_join(running, NULL);
  relay_engine_free(first);
  relay_engine_free(second);
}

/* Released by a thread that does not run anything, while another does. */
static void test_release_elsewhere(void) {
  relay_engine* engine;
  OK(relay_engine_new(NULL, &engine));
  OK(relay_run(engine, NULL, "def forever(n: int32) -> int32 { forever(n + 1) }", NULL));
  float data[2] = {1, 2};
  const int64_t two = 2;
  Lent lent;
  relay_value* value;
  OK(relay_tensor_from_dlpack(lend(&lent, data, kFloat32, 1, &two, NULL), &value));
  pthread_t running;
  pthread_create(&running, NULL, runs_forever, engine);
  pause_for(50);
  relay_value_release(value); /* does not wait */
  relay_interrupt(engine);
  pthread_join(running, NULL);
  CHECK(lent.freed == 1);
  relay_engine_free(engine);
}

int main(void) {
  in_threads(with_an_engine_of_its_own, 2);
  relay_engine* engine;
  OK(relay_engine_new(NULL, &engine));
  OK(relay_run(engine, NULL, "def square(x) { x * x }", NULL));
  shared_function = named(engine, "square");
  in_threads(with_the_engine_of_others, 4);
  relay_value_release(shared_function);
  relay_engine_free(engine);
  test_interrupts();
  test_release_elsewhere();
  if (failures == 0) printf("ok\n");
  return failures != 0;
}
