/* The kernels for callers in any language: plain C, raw pointers, sizes, a stream. Built as libminform.so
 * (-DMINFORM_C_API=ON).
 *
 * Every function works on host memory or on the memory of a CUDA device: all arrays of a call are on the side that its
 * minform_call names, small structs and scalars are on the host. Arrays are dense; a ragged array of `rows` rows is
 * its data and rows + 1 offsets, which start at 0, never fall and end at `total`, the length of the data. Offsets,
 * indices and targets are trusted: those on the host are checked, those on the device are not, except for targets.
 * Pointers marked "or NULL" may be left out. A mask is one byte per element: 0 leaves it out, and its results are 0.
 * `const void*` and `void*` are arrays of the call's dtype. How precise results are is in the headers of the families:
 * minform/credit.h, advantage.h, logprob.h, loss.h, optim.h, sampling.h, and their twins in minform/cuda/.
 *
 * This header has what all calls share; the functions are in minform/c_api/, which it includes.
 *
 * Thread safety: any function may be called from any thread.
 */
#ifndef MINFORM_C_API_H
#define MINFORM_C_API_H

#include <stdint.h>

#if defined(_WIN32)
#define MINFORM_API __declspec(dllexport)
#else
#define MINFORM_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when something is added; the major part (the hundreds) when something that was there changes. */
#define MINFORM_C_API_VERSION 100

typedef enum minform_error {
  MINFORM_OK = 0,
  MINFORM_BAD_VALUE = 1,    /* a value that must be finite is not; its index is in the call's status */
  MINFORM_BAD_ARGUMENT = 2, /* a pointer, size, offset or number that makes no sense */
  MINFORM_NO_DEVICE = 3,
  MINFORM_OUT_OF_MEMORY = 4,
  MINFORM_DEVICE_LOST = 5,
  MINFORM_FAILED = 6
} minform_error;

typedef enum minform_device { MINFORM_HOST = 0, MINFORM_CUDA = 1 } minform_device;

/* Types of values. Logits, hidden states and weights may be any; everything else float32 or float64. */
typedef enum minform_dtype {
  MINFORM_FLOAT32 = 0,
  MINFORM_FLOAT64 = 1,
  MINFORM_BFLOAT16 = 2,
  MINFORM_FLOAT16 = 3
} minform_dtype;

/* Where a call runs. */
typedef struct minform_call {
  minform_device device;
  void* stream; /* CUDA: a cudaStream_t, NULL for the default stream; host: unused */
  /* Receives -1 or the index of the first bad value, at the side of the call. CUDA: with it the call does not wait, and
   * a bad value is only told here; NULL: the call waits for the stream and returns MINFORM_BAD_VALUE itself. */
  int64_t* status;
} minform_call;

/* MINFORM_C_API_VERSION of the library. */
MINFORM_API int32_t minform_version(void);

/* What went wrong in the last call of this thread that did not return MINFORM_OK; valid until the next call. */
MINFORM_API const char* minform_last_error(void);

/* Number of CUDA devices that work; `reason` (or NULL) receives why it is 0. Never fails. */
MINFORM_API int32_t minform_cuda_devices(char* reason, uint64_t capacity);

/* Threads of host calls, for the process; at least 1. */
MINFORM_API minform_error minform_set_num_threads(int32_t threads);

#ifdef __cplusplus
}
#endif

#include "minform/c_api/advantage.h"
#include "minform/c_api/credit.h"
#include "minform/c_api/logprob.h"
#include "minform/c_api/loss.h"
#include "minform/c_api/optim.h"
#include "minform/c_api/sampling.h"

#endif
