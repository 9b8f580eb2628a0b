/* An external compiler for Relay, as a plug-in: it writes a C function for each group of elementwise
 * operators, and has `cc` compile it.
 *
 *     cc -shared -fPIC -I include -o cgen.so examples/codegen/cgen.c
 *     relay --plugin ./cgen.so ...
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "relay_codegen.h"

typedef void (*Kernel)(const float *const *args, float *const *results);

typedef struct {
  void *library;
  Kernel kernel;
  int32_t result_count;
  DLTensor *types; /* of the results */
} Code;

/* How an operator of each element is written in C. */
static const struct {
  const char *op;
  const char *text; /* `%s`: its operands */
  int operands;
} kOperators[] = {
    {"add", "%s + %s", 2},        {"subtract", "%s - %s", 2},        {"multiply", "%s * %s", 2},
    {"divide", "%s / %s", 2},     {"maximum", "fmaxf(%s, %s)", 2},   {"minimum", "fminf(%s, %s)", 2},
    {"negative", "-%s", 1},       {"exp", "expf(%s)", 1},            {"log", "logf(%s)", 1},
    {"sqrt", "sqrtf(%s)", 1},     {"tanh", "tanhf(%s)", 1},          {"abs", "fabsf(%s)", 1},
    {"nn.relu", "fmaxf(%s, 0.0f)", 1}, {"sigmoid", "1.0f / (1.0f + expf(-%s))", 1},
};
enum { kOperatorCount = sizeof kOperators / sizeof *kOperators };

static int find_operator(const char *op) {
  for (int i = 0; i < kOperatorCount; ++i) {
    if (strcmp(kOperators[i].op, op) == 0) return i;
  }
  return -1;
}

static int is_float32(DLDataType type) {
  return type.code == kDLFloat && type.bits == 32 && type.lanes == 1;
}

static long elements(const DLTensor *type) {
  long count = 1;
  for (int32_t i = 0; i < type->ndim; ++i) count *= (long)type->shape[i];
  return count;
}

static const DLTensor *type_of(const RelayGraph *graph, RelayValue value) {
  return &graph->nodes[value.node].outputs[value.output];
}

/* 0, with the reason, where it is no step of a loop over floats. */
static int check_call(const RelayGraph *graph, const RelayNode *node, char *why, size_t size) {
  if (find_operator(node->op) < 0) {
    snprintf(why, size, "it writes no C for this operator");
    return 0;
  }
  for (int32_t i = 0; i <= node->input_count; ++i) {
    const DLTensor *type =
        i < node->input_count ? type_of(graph, node->inputs[i]) : &node->outputs[0];
    if (!is_float32(type->dtype)) {
      snprintf(why, size, "it takes float32 only");
      return 0;
    }
    if (elements(type) != elements(&node->outputs[0])) {
      snprintf(why, size, "an operand is stretched");
      return 0;
    }
  }
  return 1;
}

static int supports(const RelayGraph *call, char *why, size_t size) {
  const RelayNode *node = &call->nodes[call->node_count - 1];
  return check_call(call, node, why, size);
}

static void emit_call(FILE *file, const RelayGraph *graph, int32_t place) {
  const RelayNode *node = &graph->nodes[place];
  const int known = find_operator(node->op);
  char operands[2][32];
  for (int i = 0; i < kOperators[known].operands; ++i)
    snprintf(operands[i], sizeof operands[i], "v%d", (int)node->inputs[i].node);
  fprintf(file, "    const float v%d = ", (int)place);
  fprintf(file, kOperators[known].text, operands[0], operands[1]);
  fprintf(file, ";\n");
}

static void emit_constant(FILE *file, const DLTensor *type, int32_t place) {
  fprintf(file, "static const float constant%d[] = {", (int)place);
  for (long k = 0; k < elements(type); ++k) {
    const float number = ((const float *)type->data)[k];
    if (k > 0) fprintf(file, ", ");
    if (isfinite(number)) fprintf(file, "%a", number);
    else fprintf(file, "%s%s", signbit(number) ? "-" : "", isnan(number) ? "NAN" : "INFINITY");
  }
  fprintf(file, "};\n");
}

/* What has so many elements: calls take nothing of another size. */
static void emit_loop(FILE *file, const RelayGraph *graph, long count) {
  fprintf(file, "  for (long i = 0; i < %ld; ++i) {\n", count);
  for (int32_t i = 0; i < graph->node_count; ++i) {
    const RelayNode *node = &graph->nodes[i];
    if (!is_float32(node->outputs[0].dtype) || elements(&node->outputs[0]) != count) continue;
    if (node->kind == RELAY_PARAMETER) fprintf(file, "    const float v%d = args[%d][i];\n", (int)i, (int)i);
    if (node->kind == RELAY_CONSTANT) fprintf(file, "    const float v%d = constant%d[i];\n", (int)i, (int)i);
    if (node->kind == RELAY_CALL) emit_call(file, graph, i);
  }
  for (int32_t i = 0; i < graph->result_count; ++i) {
    if (elements(type_of(graph, graph->results[i])) == count)
      fprintf(file, "    results[%d][i] = v%d;\n", (int)i, (int)graph->results[i].node);
  }
  fprintf(file, "  }\n");
}

static void emit(FILE *file, const RelayGraph *graph) {
  fprintf(file, "#include <math.h>\n");
  for (int32_t i = 0; i < graph->node_count; ++i) {
    const RelayNode *node = &graph->nodes[i];
    if (node->kind == RELAY_CONSTANT && is_float32(node->outputs[0].dtype))
      emit_constant(file, &node->outputs[0], i);
  }
  fprintf(file, "void kernel(const float *const *args, float *const *results) {\n");
  for (int32_t i = 0; i < graph->result_count; ++i) {
    const long count = elements(type_of(graph, graph->results[i]));
    int is_new = 1;
    for (int32_t k = 0; k < i; ++k) {
      if (elements(type_of(graph, graph->results[k])) == count) is_new = 0;
    }
    if (is_new) emit_loop(file, graph, count);
  }
  fprintf(file, "}\n");
}

static void release(void *handle) {
  Code *code = handle;
  if (code->library) dlclose(code->library);
  for (int32_t i = 0; i < code->result_count; ++i) free(code->types[i].shape);
  free(code->types);
  free(code);
}

/* The types of the results, as they are in the graph; they have to live as long as the code. */
static void keep_types(const RelayGraph *graph, Code *code) {
  code->result_count = graph->result_count;
  code->types = calloc((size_t)graph->result_count + 1, sizeof(DLTensor));
  for (int32_t i = 0; i < graph->result_count; ++i) {
    const DLTensor *type = type_of(graph, graph->results[i]);
    code->types[i] = *type;
    code->types[i].shape = malloc(((size_t)type->ndim + 1) * sizeof(int64_t));
    memcpy(code->types[i].shape, type->shape, (size_t)type->ndim * sizeof(int64_t));
  }
}

/* Writes, compiles and opens. NULL, with the reason in `error`, where one of these fails. */
static void *compile(const RelayGraph *graph, char *error, size_t size) {
  for (int32_t i = 0; i < graph->node_count; ++i) {
    const RelayNode *node = &graph->nodes[i];
    if (node->kind == RELAY_CALL && !check_call(graph, node, error, size)) return NULL;
  }
  for (int32_t i = 0; i < graph->result_count; ++i) {
    if (is_float32(type_of(graph, graph->results[i])->dtype)) continue;
    snprintf(error, size, "it gives float32 only");
    return NULL;
  }
  char folder[] = "/tmp/relay_cgen_XXXXXX";
  if (!mkdtemp(folder)) {
    snprintf(error, size, "no folder for C can be made in /tmp");
    return NULL;
  }
  char source[64], library[64], command[256];
  snprintf(source, sizeof source, "%s/kernel.c", folder);
  snprintf(library, sizeof library, "%s/kernel.so", folder);
  FILE *file = fopen(source, "w");
  if (file) {
    emit(file, graph);
    fclose(file);
  }
  snprintf(command, sizeof command, "cc -O2 -ffp-contract=off -shared -fPIC -o %s %s -lm", library, source);
  Code *code = calloc(1, sizeof(Code));
  keep_types(graph, code);
  if (file && system(command) == 0) code->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (code->library) code->kernel = (Kernel)dlsym(code->library, "kernel");
  unlink(source);
  unlink(library);
  rmdir(folder);
  if (code->kernel) return code;
  snprintf(error, size, "`cc` has made nothing of the C for this function");
  release(code);
  return NULL;
}

static int result_type(void *handle, int32_t index, DLTensor *type) {
  const Code *code = handle;
  *type = code->types[index];
  return 0;
}

static int run(void *handle, const DLTensor *args, int32_t arg_count, const DLTensor *results,
               int32_t result_count, char *error, size_t size) {
  const Code *code = handle;
  const float **given = calloc((size_t)arg_count + 1, sizeof *given);
  float **made = calloc((size_t)result_count + 1, sizeof *made);
  const int has_memory = given && made;
  if (has_memory) {
    for (int32_t i = 0; i < arg_count; ++i) given[i] = args[i].data;
    for (int32_t i = 0; i < result_count; ++i) made[i] = results[i].data;
    code->kernel(given, made);
  } else {
    snprintf(error, size, "out of memory");
  }
  free(given);
  free(made);
  return has_memory ? 0 : 1;
}

const RelayCodegen *relay_codegen(uint32_t version) {
  static const RelayCodegen generator = {RELAY_CODEGEN_VERSION, "cgen",      supports, 0, NULL,
                                         compile,               result_type, run,      release};
  return version == RELAY_CODEGEN_VERSION ? &generator : NULL;
}
