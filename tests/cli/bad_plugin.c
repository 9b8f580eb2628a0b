/* A plug-in with one fault, which a macro names. */
#include <stdio.h>
#include <string.h>

#include "relay_codegen.h"

static int supports(const RelayGraph *call, char *why, size_t size) {
  (void)call;
  snprintf(why, size, "it runs nothing by itself");
  return 0;
}

static void *compile(const RelayGraph *graph, char *error, size_t size) {
  (void)graph;
#ifdef FAILS_TO_COMPILE
  snprintf(error, size, "the moon is in the wrong place");
  return NULL;
#endif
#ifdef FAILS_IN_SILENCE
  (void)error;
  (void)size;
  return NULL;
#endif
  static int code;
  return &code;
}

static int result_type(void *code, int32_t index, DLTensor *type) {
  (void)code;
  (void)index;
  static int64_t shape[1] = {3};
  type->ndim = 1;
  type->shape = shape;
  type->dtype = (DLDataType){kDLFloat, 32, 1};
#ifdef WRONG_SHAPE
  shape[0] = 4;
#endif
#ifdef WRONG_DTYPE
  type->dtype.bits = 64;
#endif
#ifdef NO_SHAPE
  type->shape = NULL;
#endif
  return 0;
}

static int run(void *code, const DLTensor *args, int32_t arg_count, const DLTensor *results,
               int32_t result_count, char *error, size_t size) {
  (void)code;
  (void)arg_count;
  (void)result_count;
#ifdef FAILS_TO_RUN
  snprintf(error, size, "it has run out of ink");
  return 1;
#endif
  (void)error;
  (void)size;
  memcpy(results[0].data, args[0].data, 3 * sizeof(float));
#ifdef WRITES_TOO_MUCH
  memset(results[0].data, 0, 5 * sizeof(float));
#endif
#ifdef CHANGES_RESULTS
  results[0].shape[0] = 7;
#endif
  return 0;
}

static void release(void *code) { (void)code; }

const RelayCodegen *relay_codegen(uint32_t version) {
  (void)version;
  static const RelayPattern pattern = {"other.add", "(x) { x + x }"};
  static RelayCodegen generator = {RELAY_CODEGEN_VERSION, "bad", supports, 0, NULL, compile,
                                   result_type,           run,   release};
#ifdef OLD_VERSION
  generator.version = 0;
#endif
#ifdef REFUSES_VERSION
  return NULL;
#endif
#ifdef NO_NAME
  generator.name = "";
#endif
#ifdef ODD_NAME
  generator.name = "bad name";
#endif
#ifdef NO_RUN
  generator.run = NULL;
#endif
#ifdef BAD_PATTERN
  generator.pattern_count = 1;
  generator.patterns = &pattern;
#endif
#ifdef NO_PATTERN
  static const RelayPattern broken = {"bad.add", "(x) { x + "};
  generator.pattern_count = 1;
  generator.patterns = &broken;
#endif
  (void)pattern;
  return &generator;
}
