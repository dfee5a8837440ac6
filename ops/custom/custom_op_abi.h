/*===- custom_op_abi.h - operators of a library, as C -------------*- C -*-===*\
|*
|* What crosses the border between Tessera and a library of operators: plain C,
|* so that any compiler and any later Tessera agree about it. Structs begin with
|* their size, which says how many of their members the other side knows; members
|* are only ever added at the end. `custom_op.h` is the same for C++.
|*
|* Functions of a library return 0, or another number after they have called
|* TessHost::fail; infer may return TESS_OPEN_SIZES instead. They may be called by
|* any thread, several at a time, but runs with what `create` made take turns.
|*
\*===----------------------------------------------------------------------===*/
#ifndef TESSERA_CUSTOM_OP_ABI_H
#define TESSERA_CUSTOM_OP_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Libraries of this number are loaded. */
#define TESS_CUSTOM_ABI 1
#define TESS_MAX_RANK 8

/* What infer returns where it needs numbers for sizes that are not known yet. It is asked again with numbers in their
   place, and what it says of sizes then does not count. */
#define TESS_OPEN_SIZES 2

/* A size that is not known. */
#define TESS_UNKNOWN_SIZE INT64_MIN
/* A rank, or a dtype, that is not known. */
#define TESS_UNKNOWN (-1)

/* dtypes, by the numbers of files. */
enum {
  TESS_FLOAT16 = 0,
  TESS_BFLOAT16 = 1,
  TESS_FLOAT32 = 2,
  TESS_FLOAT64 = 3,
  TESS_INT8 = 4,
  TESS_UINT8 = 5,
  TESS_INT16 = 6,
  TESS_INT32 = 7,
  TESS_INT64 = 8,
  TESS_BOOL = 9,
  TESS_UINT16 = 10,
  TESS_UINT32 = 11,
  TESS_UINT64 = 12,
  TESS_COMPLEX64 = 15,
  TESS_COMPLEX128 = 16
};
#define TESS_DTYPE_BIT(dtype) (1u << (dtype))
#define TESS_ANY_DTYPE 0u /* in the place of a set of dtypes */

/* What is known of a tensor. A size is a number from 0 on, TESS_UNKNOWN_SIZE, or, where it is below 0 otherwise, an
   expression that only TessHost::combine takes. */
typedef struct TessMeta {
  int32_t dtype;
  int32_t rank;
  int64_t sizes[TESS_MAX_RANK];
} TessMeta;

/* What a run does with an output: nothing reads it; its elements are written; its memory is that of the input that it
   may share, whose elements are read before they are written; it is added to the elements that are there. */
typedef enum TessRequest { TESS_NULL, TESS_WRITE, TESS_INPLACE, TESS_ADD } TessRequest;

/* Elements, row-major; of an output that data sizes, as many as its bound. */
typedef struct TessTensor {
  void *data;
  const TessMeta *meta;
  TessRequest request; /* of inputs TESS_WRITE where they are states, else TESS_NULL */
} TessTensor;

/* Operations on sizes (TessHost::combine), over integers. */
typedef enum TessSizeOp {
  TESS_SIZE_ADD,
  TESS_SIZE_SUB,
  TESS_SIZE_MUL,
  TESS_SIZE_FLOORDIV,
  TESS_SIZE_MOD,
  TESS_SIZE_MAX,
  TESS_SIZE_MIN
} TessSizeOp;

/* The values of an operator's parameters, and the call that is asked about. */
typedef struct TessCall TessCall;

/* What Tessera does for a library. */
typedef struct TessHost {
  size_t size;
  /* Says why a function returns another number than 0. `state`: it is not the arguments that are wrong. */
  void (*fail)(const TessCall *call, const char *message, int state);
  /* The value of the parameter with this number, which must be of this kind. A bool is an int. */
  int64_t (*int_of)(const TessCall *call, uint32_t parameter);
  double (*float_of)(const TessCall *call, uint32_t parameter);
  const char *(*text_of)(const TessCall *call, uint32_t parameter);
  const int64_t *(*ints_of)(const TessCall *call, uint32_t parameter, uint32_t *count);
  /* TESS_UNKNOWN_SIZE where an operand is. */
  int64_t (*combine)(TessSizeOp op, int64_t a, int64_t b);
  /* Runs body(context, begin, end) over parts of [0, count) on the threads of the run. Only within a run. */
  void (*parallel_for)(const TessCall *call, int64_t count, int64_t least_part,
                       void (*body)(void *context, int64_t begin, int64_t end), void *context);
} TessHost;

/* infer: metas of all inputs and states are known, but for sizes, and those of outputs are asked for; the size that
   data decides is the largest that it may be. infer_back: those of outputs may be known, too, and any may be filled in.
 */
typedef struct TessInfer {
  size_t size;
  const TessHost *host;
  const TessCall *call;
  TessMeta *inputs; /* with the states behind */
  uint32_t num_inputs;
  TessMeta *outputs;
  uint32_t num_outputs;
  void *user; /* TessOperator::user */
} TessInfer;

/* Memory for a run, beside its operands. */
typedef struct TessResources {
  size_t size;
  uint64_t workspace_bytes;
  uint32_t threads; /* 1 unless the run calls parallel_for */
} TessResources;

typedef struct TessRun {
  size_t size;
  const TessHost *host;
  const TessCall *call;
  /* forward: the inputs. backward: gradients of outputs, inputs and outputs as backward_reads says, in this order. */
  const TessTensor *inputs;
  uint32_t num_inputs;
  /* forward: the outputs. backward: the gradients of all inputs; those that nobody wants are TESS_NULL. */
  const TessTensor *outputs;
  uint32_t num_outputs;
  const TessTensor *states; /* read and written; forward only */
  uint32_t num_states;
  void *workspace;
  void *made;            /* by create; null without it */
  uint64_t seed, offset; /* of random numbers; a run may draw 2^32 from offset on */
  int is_training;
  int64_t *data_sizes; /* for each output the size that data decides, which the run writes */
  void *user;
} TessRun;

typedef enum TessParameterKind {
  TESS_PARAMETER_INT,
  TESS_PARAMETER_FLOAT,
  TESS_PARAMETER_BOOL,
  TESS_PARAMETER_TEXT,
  TESS_PARAMETER_INTS
} TessParameterKind;

/* A parameter. Its default and its limits are text, as in Python; null: there is none. */
typedef struct TessParameter {
  const char *name;
  const char *doc;
  const char *default_text;
  const char *least, *most;   /* inclusive */
  const char *const *choices; /* of a text, ended by null; null: any */
  TessParameterKind kind;
} TessParameter;

enum {
  TESS_OPTIONAL = 1, /* an input that may be left out; last ones */
  TESS_VARIADIC = 2, /* any number of inputs; at most one */
  TESS_HIDDEN = 4,   /* an output that is not returned, for the backward; last ones */
  TESS_DATA_SIZED =
      8 /* an output whose axis 0 has a size that data decides, in a run; at most one, and no hidden one */
};

/* An input, an output or a state. */
typedef struct TessValue {
  const char *name;
  uint32_t dtypes; /* TESS_DTYPE_BIT of each that is allowed, or TESS_ANY_DTYPE */
  uint32_t flags;
} TessValue;

/* The memory of an input, or of a gradient, that an output may take over. */
typedef struct TessPair {
  uint32_t input, output;
} TessPair;

enum {
  TESS_USES_RANDOM = 1,   /* TessRun::seed and offset */
  TESS_USES_TRAINING = 2, /* a parameter is_training is added, TessRun::is_training */
  TESS_MAPS_BATCH = 4 /* computes each element of a new axis 0 of all inputs by itself, so that vmap needs no loop */
};

/* An operator. All that it points to lives as long as the library. */
typedef struct TessOperator {
  size_t size;
  const char *name; /* "library::name" */
  const char *summary, *doc;
  const TessValue *inputs;
  uint32_t num_inputs;
  const TessValue *outputs;
  uint32_t num_outputs;
  const TessValue *states;
  uint32_t num_states;
  const TessParameter *parameters;
  uint32_t num_parameters;
  const TessPair *inplace;
  uint32_t num_inplace;
  uint32_t flags;
  const char *onnx; /* "domain::Name"; null: it cannot be exported */
  int (*infer)(TessInfer *);
  int (*infer_back)(TessInfer *);                                        /* may be null */
  int (*resources)(const TessInfer *, int is_backward, TessResources *); /* may be null */
  int (*create)(const TessInfer *, int is_backward, void **made);        /* may be null */
  void (*destroy)(void *made);
  int (*forward)(const TessRun *);
  int (*backward)(const TessRun *); /* null: no gradient */
  /* Numbers of what backward reads: gradients of outputs, inputs, outputs with hidden ones; each ended by -1. Null:
     all gradients, no inputs, no outputs. */
  const int32_t *reads_gradients, *reads_inputs, *reads_outputs;
  const TessPair *backward_inplace; /* of a value that backward reads, and the gradient of an input */
  uint32_t num_backward_inplace;
  void *user;
} TessOperator;

/* A library. */
typedef struct TessLibrary {
  size_t size;
  uint32_t abi; /* TESS_CUSTOM_ABI */
  const char *name;
  const char *version; /* files remember it */
  const TessOperator *const *operators;
  uint32_t num_operators;
} TessLibrary;

/* The one function that a library exports. */
#define TESS_LIBRARY_SYMBOL "tessera_library"
typedef const TessLibrary *(*TessLibraryFn)(uint32_t abi);

#ifdef __cplusplus
}
#endif
#endif
