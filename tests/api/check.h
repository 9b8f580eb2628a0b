/* What the tests of the C interface say when something is not as it should be. */
#ifndef RELAY_TESTS_CHECK_H
#define RELAY_TESTS_CHECK_H

#include <relay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                    \
    }                                                                \
  } while (0)

#define CHECK_TEXT(found, expected) check_text(__FILE__, __LINE__, (found), (expected))
static void check_text(const char* file, int line, const char* found, const char* expected) {
  if (found && strcmp(found, expected) == 0) return;
  printf("%s:%d: expected `%s`, found `%s`\n", file, line, expected, found ? found : "(NULL)");
  ++failures;
}

#define OK(call) check_ok(__FILE__, __LINE__, (call))
static void check_ok(const char* file, int line, relay_error* error) {
  if (!error) return;
  printf("%s:%d: %s", file, line, relay_error_text(error));
  relay_error_free(error);
  exit(1);
}

/* The call fails with that kind and message. */
#define FAILS(call, kind, message) check_error(__FILE__, __LINE__, (call), (kind), (message))
static void check_error(const char* file, int line, relay_error* error, const char* kind,
                        const char* message) {
  if (!error) {
    printf("%s:%d: no error; expected %s: %s\n", file, line, kind, message);
    ++failures;
    return;
  }
  check_text(file, line, relay_error_kind(error), kind);
  check_text(file, line, relay_error_message(error), message);
  relay_error_free(error);
}

/* Is it printed so, but for the spaces of its columns, with that type? Releases it. */
#define GIVES(value, text, type) check_value(__FILE__, __LINE__, (value), (text), (type))
static void check_value(const char* file, int line, relay_value* value, const char* text,
                        const char* type) {
  char found[256];
  size_t size = 0;
  for (const char* c = relay_value_text(value); c && *c && size + 1 < sizeof found; ++c) {
    const char last = size ? found[size - 1] : '[';
    if ((*c == ' ' || *c == '\n') && (last == ' ' || last == '[')) continue;
    found[size++] = *c == '\n' ? ' ' : *c;
  }
  found[size] = 0;
  check_text(file, line, found, text);
  check_text(file, line, relay_value_type(value), type);
  relay_value_release(value);
}

/* A tensor of somebody else's, and how often it was given back. */
typedef struct {
  DLManagedTensor tensor;
  int64_t extents[4];
  int freed;
} Lent;
static void lent_deleter(DLManagedTensor* tensor) { ++((Lent*)tensor->manager_ctx)->freed; }
static DLManagedTensor* lend(Lent* lent, void* data, DLDataType dtype, int32_t ndim,
                             const int64_t* shape, const int64_t* strides) {
  memset(lent, 0, sizeof *lent);
  for (int32_t i = 0; i < ndim; ++i) {
    lent->extents[i] = shape[i];
    if (strides) lent->extents[2 + i] = strides[i];
  }
  lent->tensor.dl_tensor.data = data;
  lent->tensor.dl_tensor.device.device_type = kDLCPU;
  lent->tensor.dl_tensor.ndim = ndim;
  lent->tensor.dl_tensor.dtype = dtype;
  lent->tensor.dl_tensor.shape = lent->extents;
  lent->tensor.dl_tensor.strides = strides ? lent->extents + 2 : NULL;
  lent->tensor.manager_ctx = lent;
  lent->tensor.deleter = lent_deleter;
  return &lent->tensor;
}
static const DLDataType kFloat32 = {kDLFloat, 32, 1};

static inline relay_value* float_vector(float* data, int64_t count) {
  const DLTensor tensor = {data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &count, NULL, 0};
  relay_value* value;
  OK(relay_tensor_copy(&tensor, &value));
  return value;
}
static inline relay_value* evaluated(relay_engine* engine, const char* text) {
  relay_value* value;
  OK(relay_eval(engine, text, &value));
  return value;
}
static inline relay_value* named(relay_engine* engine, const char* name) {
  relay_value* value;
  OK(relay_get(engine, name, &value));
  return value;
}
static inline relay_value* called(relay_value* function, relay_value* const* args, size_t count) {
  relay_value* result;
  OK(relay_call(function, args, count, &result));
  return result;
}

#endif
