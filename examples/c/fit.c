/* Fits a line with the loss of a Relay program: fit.relay of docs/c.md.
 *
 *     cc fit.c -lrelay && ./a.out fit.relay
 */
#include <relay.h>
#include <stdio.h>
#include <stdlib.h>

/* Errors are values: here they end the program. */
static void check(relay_error* error) {
  if (!error) return;
  fputs(relay_error_text(error), stderr);
  exit(1);
}

/* A tensor over an array that lives as long as the program, so that nobody waits for it. */
static relay_value* lend(DLManagedTensor* tensor, float* data, int64_t* count) {
  relay_value* value;
  *tensor = (DLManagedTensor){0};
  tensor->dl_tensor.data = data;
  tensor->dl_tensor.device.device_type = kDLCPU;
  tensor->dl_tensor.ndim = 1;
  tensor->dl_tensor.dtype = (DLDataType){kDLFloat, 32, 1};
  tensor->dl_tensor.shape = count;
  check(relay_tensor_from_dlpack(tensor, &value));
  return value;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  relay_engine* engine;
  check(relay_engine_new(NULL, &engine));
  check(relay_load(engine, argv[1], NULL));

  float xs[] = {0, 1, 2, 3}, ys[] = {1, 3, 5, 7};
  int64_t four = 4, three = 3;
  DLManagedTensor lent[3];
  relay_value *x = lend(&lent[0], xs, &four), *y = lend(&lent[1], ys, &four);
  relay_value *zero, *line, *loss, *gradient_of, *step;
  check(relay_eval(engine, "0.0", &zero));
  check(relay_construct(engine, "Line", (relay_value*[]){zero, zero}, 2, &line));
  check(relay_get(engine, "loss", &loss));
  check(relay_get(engine, "step", &step));
  check(relay_eval(engine, "fn (line: Line, x, y) { grad(fn (l) { loss(l, x, y) })(line) }",
                   &gradient_of));
  for (int i = 0; i < 2000; ++i) {
    relay_value *gradient, *next;
    check(relay_call(gradient_of, (relay_value*[]){line, x, y}, 3, &gradient));
    check(relay_call(step, (relay_value*[]){line, gradient}, 2, &next));
    relay_value_release(gradient);
    relay_value_release(line);
    line = next;
  }
  printf("the line is %s : %s\n", relay_value_text(line), relay_value_type(line));

  /* What does not fit is an error with all that the prompt would say. */
  relay_value *shorter = lend(&lent[2], ys, &three), *result;
  relay_error* error = relay_call(loss, (relay_value*[]){line, x, shorter}, 3, &result);
  if (error) printf("[%s] %s\n", relay_error_kind(error), relay_error_message(error));
  relay_error_free(error);

  relay_value* all[] = {x, y, zero, line, loss, step, gradient_of, shorter};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) relay_value_release(all[i]);
  relay_engine_free(engine);
  return 0;
}
