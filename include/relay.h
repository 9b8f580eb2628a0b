/* Relay in a program written in C or C++: engines that run programs, values that go in and out, and
 * errors that are values. docs/c.md has examples.
 *
 * A function that can fail returns an error, or NULL where all went well; what it gives comes
 * through its last parameter, which is NULL after an error. Nothing is thrown, printed or written,
 * no signal is handled, and the process goes on.
 *
 * Any thread may call any function. Calls that run something take turns, whichever engine they
 * belong to: a process evaluates one call at a time, whose loops share all cores. */
#ifndef RELAY_H
#define RELAY_H

#include "relay_dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RELAY_API __attribute__((visibility("default")))
#define RELAY_API_VERSION 1

typedef struct relay_engine relay_engine;
typedef struct relay_value relay_value;
typedef struct relay_error relay_error;

/* Of the library: RELAY_API_VERSION, and "0.1.0". */
RELAY_API uint32_t relay_api_version(void);
RELAY_API const char* relay_version(void);

/* --- Errors --- */

/* The kind, as in docs/errors.md: "TypeMismatch"; "BadArgument" where a call of this interface is
 * wrong, "Busy" where a callback calls back. Texts live as long as the error. */
RELAY_API const char* relay_error_kind(const relay_error* error);
RELAY_API const char* relay_error_message(const relay_error* error);
/* As a person sees it, with the lines of the program; of all errors, where there are several. */
RELAY_API const char* relay_error_text(const relay_error* error);
/* Where it is: the file or text, "" if nowhere; the line and the column, from 1, in characters. */
RELAY_API const char* relay_error_file(const relay_error* error);
RELAY_API uint32_t relay_error_line(const relay_error* error);
RELAY_API uint32_t relay_error_column(const relay_error* error);
/* Notes such as "help: ..."; NULL behind the last. */
RELAY_API size_t relay_error_note_count(const relay_error* error);
RELAY_API const char* relay_error_note(const relay_error* error, size_t index);
/* The next error of the same call, which belongs to this one; NULL if there is none. */
RELAY_API const relay_error* relay_error_next(const relay_error* error);
RELAY_API void relay_error_free(relay_error* error); /* NULL: nothing happens */

/* --- Engines --- */

typedef enum { RELAY_JIT_AUTO = 0, RELAY_JIT_OFF = 1, RELAY_JIT_ALWAYS = 2 } relay_jit;

typedef struct {
  uint32_t version; /* RELAY_API_VERSION */
  relay_jit jit;
  int32_t threads; /* of a loop; 0: as many as there are cores */
  double seconds;  /* that one call may take; 0: any */
  uint64_t bytes;  /* of memory for values, of all engines together, while one of this engine's
                      calls runs; 0: a share of what the machine has */
  const char* search_path; /* where imports are looked for: "a:b"; NULL: beside the file */
  const char* code_cache;  /* the folder where native code is kept for later; NULL: nowhere */
  /* Gets what the program prints, which is lost without it. It must not call the library. */
  void (*write)(void* context, const char* text, size_t size);
  void* context;
} relay_options;

/* Sets all to what it is where nothing is said. */
RELAY_API void relay_options_init(relay_options* options);

/* `options`: NULL for the usual ones. An engine has its own definitions. */
RELAY_API relay_error* relay_engine_new(const relay_options* options, relay_engine** engine);
/* Its values stay what they are; functions of it can no longer be called. Waits for native code
 * that is being made. NULL: nothing happens. */
RELAY_API void relay_engine_free(relay_engine* engine);

/* Runs the items of a file, or of a text, which errors call `name`. `last`: the value of the last
 * expression among them, NULL if there is none; may itself be NULL. Nothing stays defined of items
 * that fail. */
RELAY_API relay_error* relay_load(relay_engine* engine, const char* path, relay_value** last);
RELAY_API relay_error* relay_run(relay_engine* engine, const char* name, const char* text,
                                 relay_value** last);
/* The value of one expression. */
RELAY_API relay_error* relay_eval(relay_engine* engine, const char* text, relay_value** value);
/* What a name of the program stands for: a function, a value, a constructor. */
RELAY_API relay_error* relay_get(relay_engine* engine, const char* name, relay_value** value);
/* The names that the program has defined, in order, but not what it imports; NULL behind the last.
 * Texts live as long as the engine. */
RELAY_API const char* relay_name(relay_engine* engine, size_t index);
/* What stands in the `///` lines above a definition; "" if nothing does. Lives as long. */
RELAY_API const char* relay_doc(relay_engine* engine, const char* name);

/* Asks the call of this engine that runs, or waits for its turn, to end with the error
 * "Interrupted". Does nothing where there is none. For any thread, but not for signal handlers:
 * there is relay_interrupt_any. */
RELAY_API void relay_interrupt(relay_engine* engine);
/* The same for whichever call runs now. Safe in a signal handler. 0: none does. */
RELAY_API int relay_interrupt_any(void);

/* --- Values --- */

typedef enum {
  RELAY_TENSOR = 0,
  RELAY_TUPLE = 1,
  RELAY_DATA = 2, /* of a data type: a constructor with its fields; records, too */
  RELAY_FUNCTION = 3,
  RELAY_REFERENCE = 4
} relay_kind;

/* Values never change, and are counted: each one that a function of this interface gives is to be
 * released once. */
RELAY_API relay_value* relay_value_retain(relay_value* value);
RELAY_API void relay_value_release(relay_value* value); /* NULL: nothing happens */
RELAY_API relay_kind relay_value_kind(const relay_value* value);
/* The type, "Tensor[(2, 3), float32]", and the value as the program would print it, shortened where
 * it is large. These texts live as long as the value; NULL where there is no memory. */
RELAY_API const char* relay_value_type(const relay_value* value);
RELAY_API const char* relay_value_text(const relay_value* value);

/* Tensors. A tensor of DLPack is taken over by the first, which calls its deleter when its memory
 * is of no more use, and not at all after an error. Its memory is used as it is, and must not
 * change meanwhile; it is copied where strides are negative, where elements are not aligned, and of
 * booleans. */
RELAY_API relay_error* relay_tensor_from_dlpack(DLManagedTensor* tensor, relay_value** value);
RELAY_API relay_error* relay_tensor_copy(const DLTensor* tensor, relay_value** value);
/* A number as a program writes it, `0.1` or `3`: as an argument of a call it is of the dtype that
 * the function wants there, and a float32 or an int32 where any will do, and elsewhere; what no
 * float32 or int32 can be is a float64 or an int64. */
RELAY_API relay_error* relay_float(double number, relay_value** value);
RELAY_API relay_error* relay_int(int64_t number, relay_value** value);
/* A look at it, without copying, as long as the value lives; NULL if it is no tensor. */
RELAY_API const DLTensor* relay_tensor_view(const relay_value* value);
/* For those who take over: the memory lives until the deleter is called. Whoever writes to it
 * changes what should never change. */
RELAY_API relay_error* relay_tensor_to_dlpack(const relay_value* value, DLManagedTensor** tensor);

/* Tuples and data. The fields of another value: 0. */
RELAY_API relay_error* relay_tuple(relay_value* const* fields, size_t count, relay_value** value);
RELAY_API size_t relay_field_count(const relay_value* value);
RELAY_API relay_error* relay_field(const relay_value* value, size_t index, relay_value** field);
/* The constructor of data: "Cons"; NULL of another value. The name of a field of a record: "w";
 * NULL if it has none. */
RELAY_API const char* relay_constructor(const relay_value* value);
RELAY_API const char* relay_field_name(const relay_value* value, size_t index);
/* The value of `NAME(fields...)`, where NAME is a constructor in the program. */
RELAY_API relay_error* relay_construct(relay_engine* engine, const char* name,
                                       relay_value* const* fields, size_t count,
                                       relay_value** value);

/* --- Functions --- */

/* The types of the arguments settle what is generic. What has been made for them is kept for the
 * next call. */
RELAY_API relay_error* relay_call(relay_value* function, relay_value* const* args, size_t count,
                                  relay_value** result);

/* The functions `grad(f)` and so on of a function (docs/derivatives.md). */
RELAY_API relay_error* relay_grad(relay_value* function, relay_value** derivative);
RELAY_API relay_error* relay_value_and_grad(relay_value* function, relay_value** derivative);
RELAY_API relay_error* relay_jvp(relay_value* function, relay_value** derivative);
RELAY_API relay_error* relay_vjp(relay_value* function, relay_value** derivative);
RELAY_API relay_error* relay_linearize(relay_value* function, relay_value** derivative);
RELAY_API relay_error* relay_hvp(relay_value* function, relay_value** derivative);
RELAY_API relay_error* relay_hessian(relay_value* function, relay_value** derivative);
RELAY_API relay_error* relay_jacobian(relay_value* function, relay_value** derivative);
/* A function that gives True, or fails: it names the element where the gradient and central
 * differences disagree. */
RELAY_API relay_error* relay_check_grad(relay_value* function, relay_value** check);

#ifdef __cplusplus
}
#endif

#endif
