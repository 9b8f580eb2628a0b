/* What Relay and a code generator that is none of Relay's say to each other, in C. A shared object
 * with the function `relay_codegen` is such a generator: `relay --plugin FILE`, and `:plugin FILE`
 * at the prompt. docs/byoc.md has an example.
 *
 * Relay calls one function at a time. Pointers that it hands over are valid during the call. A
 * function that fails writes why, as one line, into the buffer that it is given. */
#ifndef RELAY_CODEGEN_H
#define RELAY_CODEGEN_H

#include "relay_dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tensors are those of DLPack; those of Relay are row-major without gaps: `strides` is NULL. */

#define RELAY_CODEGEN_VERSION 1

/* One result of a node. */
typedef struct {
  int32_t node;
  int32_t output;
} RelayValue;

typedef enum { RELAY_PARAMETER = 0, RELAY_CONSTANT = 1, RELAY_CALL = 2 } RelayNodeKind;

typedef struct {
  int32_t kind;           /* RelayNodeKind */
  const char* op;         /* of a call: "nn.conv2d" */
  const char* attributes; /* of a call: a JSON object, all of them */
  int32_t input_count;
  const RelayValue* inputs; /* the fields of tuples one behind another */
  int32_t output_count;
  const DLTensor* outputs; /* shapes and dtypes; a constant has data */
  int32_t composite;       /* the composite that it is part of; -1: none */
} RelayNode;

typedef struct {
  const char* name;
  int32_t first, last; /* its nodes */
} RelayComposite;

/* A function. Nodes come behind those that they use; the parameters come first. */
typedef struct {
  const char* symbol; /* its name in the program, or "" */
  const char* text;   /* in Relay's text format */
  int32_t node_count;
  const RelayNode* nodes;
  int32_t parameter_count;
  int32_t composite_count;
  const RelayComposite* composites;
  int32_t result_count;
  const RelayValue* results;
} RelayGraph;

/* Several operators that are one step: `pattern` is what stands behind the name in Relay's
 * `pattern NAME(x, y) { nn.relu(x + y) }`, whose parameters stand for any value. */
typedef struct {
  const char* name; /* "NAME.conv2d_relu", where NAME is the generator's */
  const char* pattern;
} RelayPattern;

typedef struct {
  uint32_t version; /* RELAY_CODEGEN_VERSION */
  const char* name; /* letters, digits and `_`: "cgen" */
  /* Does it run the one call in `call`? 1: yes; 0: no, with the reason in `why`. */
  int (*supports)(const RelayGraph* call, char* why, size_t size);
  int32_t pattern_count;
  const RelayPattern* patterns; /* in the order in which they are tried */
  /* The code of a function, or NULL. */
  void* (*compile)(const RelayGraph* graph, char* error, size_t size);
  /* The shape and dtype of a result as the code writes it, for Relay to compare: sets ndim, shape
   * (which lives as long as the code does) and dtype. 0: done. */
  int (*result_type)(void* code, int32_t index, DLTensor* type);
  /* Writes the results, whose memory is Relay's, and changes nothing else. 0: done. */
  int (*run)(void* code, const DLTensor* args, int32_t arg_count, const DLTensor* results,
             int32_t result_count, char* error, size_t size);
  void (*release)(void* code);
} RelayCodegen;

/* The one function that a plug-in exports. `version`: Relay's; a generator that does not know it
 * may return NULL. */
const RelayCodegen* relay_codegen(uint32_t version);
typedef const RelayCodegen* (*RelayCodegenEntry)(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
