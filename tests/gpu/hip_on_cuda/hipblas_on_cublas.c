/* hipBLAS on an NVIDIA GPU, for the tests only, used with the runtime of hip_on_cuda.c. Every function listed in
 * src/backend/libraries/blas.rs calls the function of cuBLAS. Operations, accumulation types, algorithms and result codes are
 * converted between the numbers of the two libraries. */
#include "library_loader.h"

#include <stdint.h>

enum { NOT_INITIALIZED = 1 };

OPENED("cuBLAS", "HIPBLAS_ON_CUBLAS", "libcublas.so.13:libcublas.so.12", NULL)

static int code_of(int code) {
    switch (code) {
    case 3: return 2;   /* ALLOC_FAILED */
    case 7: return 3;   /* INVALID_VALUE */
    case 8: return 8;   /* ARCH_MISMATCH */
    case 11: return 4;  /* MAPPING_ERROR */
    case 13: return 5;  /* EXECUTION_FAILED */
    case 14: return 6;  /* INTERNAL_ERROR */
    case 15: return 7;  /* NOT_SUPPORTED */
    default: return code;
    }
}

/* Name in hipBLAS, name in cuBLAS, parameters with their types, and parameters without types. */
#define FORWARD(name, cublas, parameters, arguments) \
    EXPORT int name parameters { \
        int(*call) parameters = (int(*) parameters)function(cublas); \
        return call ? code_of(call arguments) : NOT_INITIALIZED; \
    }

FORWARD(hipblasCreate, "cublasCreate_v2", (void **handle), (handle))
FORWARD(hipblasDestroy, "cublasDestroy_v2", (void *handle), (handle))
FORWARD(hipblasGetVersion, "cublasGetVersion_v2", (void *handle, int *version), (handle, version))
FORWARD(hipblasSetStream, "cublasSetStream_v2", (void *handle, void *stream), (handle, stream))
FORWARD(hipblasSetWorkspace, "cublasSetWorkspace_v2", (void *handle, void *memory, size_t bytes), (handle, memory, bytes))
FORWARD(hipblasSetMathMode, "cublasSetMathMode", (void *handle, unsigned mode), (handle, mode))
FORWARD(hipblasSetAtomicsMode, "cublasSetAtomicsMode", (void *handle, unsigned mode), (handle, mode))

/* HIPBLAS_OP_N is 111, HIPBLAS_GEMM_DEFAULT is 160. Data types have the same numbers in both libraries. */
static unsigned operation(unsigned of_hip) { return of_hip - 111; }
static int algorithm(int of_hip) { return of_hip == 160 ? -1 : of_hip; }

static unsigned sums(unsigned of_hip) {
    switch (of_hip) {
    case 2: return 68; /* 32F */
    case 6: return 77; /* 32F_FAST_TF32 */
    case 7: return 70; /* 64F */
    default: return 0;
    }
}

#define GEMM(name, cublas, N) \
    FORWARD(name, cublas, \
            (void *handle, unsigned op_a, unsigned op_b, N m, N n, N k, const void *alpha, const void *a, unsigned kind_a, N lda, \
             const void *b, unsigned kind_b, N ldb, const void *beta, void *c, unsigned kind_c, N ldc, unsigned compute, int how), \
            (handle, operation(op_a), operation(op_b), m, n, k, alpha, a, kind_a, lda, b, kind_b, ldb, beta, c, kind_c, ldc, \
             sums(compute), algorithm(how)))

#define BATCHED(name, cublas, N) \
    FORWARD(name, cublas, \
            (void *handle, unsigned op_a, unsigned op_b, N m, N n, N k, const void *alpha, const void *a, unsigned kind_a, N lda, \
             int64_t apart_a, const void *b, unsigned kind_b, N ldb, int64_t apart_b, const void *beta, void *c, unsigned kind_c, \
             N ldc, int64_t apart_c, N count, unsigned compute, int how), \
            (handle, operation(op_a), operation(op_b), m, n, k, alpha, a, kind_a, lda, apart_a, b, kind_b, ldb, apart_b, beta, c, \
             kind_c, ldc, apart_c, count, sums(compute), algorithm(how)))

GEMM(hipblasGemmEx, "cublasGemmEx", int)
GEMM(hipblasGemmEx_64, "cublasGemmEx_64", int64_t)
BATCHED(hipblasGemmStridedBatchedEx, "cublasGemmStridedBatchedEx", int)
BATCHED(hipblasGemmStridedBatchedEx_64, "cublasGemmStridedBatchedEx_64", int64_t)

#define LU(T) \
    FORWARD(hipblas##T##getrfBatched, "cublas" #T "getrfBatched", \
            (void *handle, int n, void *a, int lda, int *pivots, int *info, int batch), (handle, n, a, lda, pivots, info, batch)) \
    FORWARD(hipblas##T##getrsBatched, "cublas" #T "getrsBatched", \
            (void *handle, unsigned op, int n, int k, void *a, int lda, int *pivots, void *b, int ldb, int *info, int batch), \
            (handle, operation(op), n, k, a, lda, pivots, b, ldb, info, batch))

LU(S)
LU(D)
LU(C)
LU(Z)
