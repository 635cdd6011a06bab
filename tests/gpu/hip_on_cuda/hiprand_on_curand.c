/* hipRAND on an NVIDIA GPU, for the tests only, beside the runtime of hip_on_cuda.c: every function of the list in
 * src/backend/libraries/rand.rs, handed on to cuRAND. The results' numbers and those of direction vectors are the same in both
 * libraries; those of generators are not. */
#include "opened.h"

enum { INITIALIZATION_FAILED = 203 };

OPENED("cuRAND", "HIPRAND_ON_CURAND", "libcurand.so.10:libcurand.so:/usr/local/cuda/lib64/libcurand.so.10", NULL)

/* What both call the same, but for the beginning. */
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
