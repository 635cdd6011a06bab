/* hipRAND on an NVIDIA GPU, for the tests only, used with the runtime of hip_on_cuda.c. Every function listed in
 * src/backend/libraries/rand.rs calls the function of cuRAND. Result codes and sets of direction vectors have the same numbers
 * in both libraries; types of generators have other numbers. */
#include "library_loader.h"

enum { INITIALIZATION_FAILED = 203 };

OPENED("cuRAND", "HIPRAND_ON_CURAND", "libcurand.so.10:libcurand.so:/usr/local/cuda/lib64/libcurand.so.10", NULL)

/* A function whose name differs between the libraries only in the prefix, `hiprand` or `curand`. */
#define FORWARD(name, parameters, arguments) \
    EXPORT int hiprand##name parameters { \
        int(*call) parameters = (int(*) parameters)function("curand" #name); \
        return call ? call arguments : INITIALIZATION_FAILED; \
    }

FORWARD(GetVersion, (int *version), (version))
FORWARD(GetDirectionVectors32, (const void **table, int set), (table, set))
FORWARD(GetDirectionVectors64, (const void **table, int set), (table, set))
FORWARD(GetScrambleConstants32, (const void **table), (table))
FORWARD(GetScrambleConstants64, (const void **table), (table))
