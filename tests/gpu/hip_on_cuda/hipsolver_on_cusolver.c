/* hipSOLVER on an NVIDIA GPU, for the tests only, used with the runtime of hip_on_cuda.c. Every function listed in
 * src/backend/libraries/solver calls the function of cuSOLVER. Operations, triangles, modes and result codes are converted
 * between the numbers of the two libraries. */
#include "library_loader.h"

enum { NOT_INITIALIZED = 1 };

OPENED("cuSOLVER", "HIPSOLVER_ON_CUSOLVER", "libcusolver.so.12:libcusolver.so.11", NULL)

static int code_of(int code) {
    switch (code) {
    case 4: return 8;  /* ARCH_MISMATCH */
    case 5: return 4;  /* MAPPING_ERROR */
    case 6: return 5;  /* EXECUTION_FAILED */
    case 7: return 6;  /* INTERNAL_ERROR */
    case 8: return 13; /* MATRIX_TYPE_NOT_SUPPORTED */
    case 9: return 7;  /* NOT_SUPPORTED */
    case 10: return 12; /* ZERO_PIVOT */
    default: return code;
    }
}

/* HIPSOLVER_OP_N is 111, HIPSOLVER_FILL_MODE_UPPER is 121, HIPSOLVER_FILL_MODE_LOWER is 122, HIPSOLVER_EIG_MODE_NOVECTOR is
 * 201. */
static unsigned operation(unsigned of_hip) { return of_hip - 111; }
static unsigned triangle(unsigned of_hip) { return 122 - of_hip; }
static unsigned mode(unsigned of_hip) { return of_hip - 201; }

/* Name without the prefix `hip` or `cu`, parameters with their types, and parameters without types. */
#define FORWARD(name, parameters, arguments) \
    EXPORT int hip##name parameters { \
        int(*call) parameters = (int(*) parameters)function("cu" #name); \
        return call ? code_of(call arguments) : NOT_INITIALIZED; \
    }

FORWARD(solverDnCreate, (void **made), (made))
FORWARD(solverDnDestroy, (void *handle), (handle))
FORWARD(solverDnSetStream, (void *handle, void *stream), (handle, stream))
FORWARD(solverDnCreateGesvdjInfo, (void **made), (made))
FORWARD(solverDnDestroyGesvdjInfo, (void *params), (params))
FORWARD(solverDnCreateSyevjInfo, (void **made), (made))
FORWARD(solverDnDestroySyevjInfo, (void *params), (params))

#define H void *h
#define MATRIX(a) void *a, int ld##a
#define SIDES void *s, MATRIX(u), MATRIX(v)
#define ALL_SIDES s, u, ldu, v, ldv
#define WORK void *work, int lwork
#define FUNCTIONS(T, orgqr, syev) \
    FORWARD(solverDn##T##getrf_bufferSize, (H, int m, int n, MATRIX(a), int *size), (h, m, n, a, lda, size)) \
    FORWARD(solverDn##T##getrf, (H, int m, int n, MATRIX(a), void *work, int *pivots, int *info), \
            (h, m, n, a, lda, work, pivots, info)) \
    FORWARD(solverDn##T##getrs, (H, unsigned op, int n, int k, MATRIX(a), int *pivots, MATRIX(b), int *info), \
            (h, operation(op), n, k, a, lda, pivots, b, ldb, info)) \
    FORWARD(solverDn##T##potrf_bufferSize, (H, unsigned uplo, int n, MATRIX(a), int *size), (h, triangle(uplo), n, a, lda, size)) \
    FORWARD(solverDn##T##potrf, (H, unsigned uplo, int n, MATRIX(a), WORK, int *info), \
            (h, triangle(uplo), n, a, lda, work, lwork, info)) \
    FORWARD(solverDn##T##potrfBatched, (H, unsigned uplo, int n, MATRIX(a), int *info, int batch), \
            (h, triangle(uplo), n, a, lda, info, batch)) \
    FORWARD(solverDn##T##geqrf_bufferSize, (H, int m, int n, MATRIX(a), int *size), (h, m, n, a, lda, size)) \
    FORWARD(solverDn##T##geqrf, (H, int m, int n, MATRIX(a), void *tau, WORK, int *info), (h, m, n, a, lda, tau, work, lwork, info)) \
    FORWARD(solverDn##T##orgqr##_bufferSize, (H, int m, int n, int k, MATRIX(a), void *tau, int *size), \
            (h, m, n, k, a, lda, tau, size)) \
    FORWARD(solverDn##T##orgqr, (H, int m, int n, int k, MATRIX(a), void *tau, WORK, int *info), \
            (h, m, n, k, a, lda, tau, work, lwork, info)) \
    FORWARD(solverDn##T##syev##d_bufferSize, (H, unsigned jobz, unsigned uplo, int n, MATRIX(a), void *w, int *size), \
            (h, mode(jobz), triangle(uplo), n, a, lda, w, size)) \
    FORWARD(solverDn##T##syev##d, (H, unsigned jobz, unsigned uplo, int n, MATRIX(a), void *w, WORK, int *info), \
            (h, mode(jobz), triangle(uplo), n, a, lda, w, work, lwork, info)) \
    FORWARD(solverDn##T##syev##jBatched_bufferSize, \
            (H, unsigned jobz, unsigned uplo, int n, MATRIX(a), void *w, int *size, void *params, int batch), \
            (h, mode(jobz), triangle(uplo), n, a, lda, w, size, params, batch)) \
    FORWARD(solverDn##T##syev##jBatched, \
            (H, unsigned jobz, unsigned uplo, int n, MATRIX(a), void *w, WORK, int *info, void *params, int batch), \
            (h, mode(jobz), triangle(uplo), n, a, lda, w, work, lwork, info, params, batch)) \
    FORWARD(solverDn##T##gesvd_bufferSize, (H, int m, int n, int *size), (h, m, n, size)) \
    FORWARD(solverDn##T##gesvd, \
            (H, signed char jobu, signed char jobv, int m, int n, MATRIX(a), SIDES, WORK, void *rwork, int *info), \
            (h, jobu, jobv, m, n, a, lda, ALL_SIDES, work, lwork, rwork, info)) \
    FORWARD(solverDn##T##gesvdj_bufferSize, (H, unsigned jobz, int econ, int m, int n, MATRIX(a), SIDES, int *size, void *params), \
            (h, mode(jobz), econ, m, n, a, lda, ALL_SIDES, size, params)) \
    FORWARD(solverDn##T##gesvdj, (H, unsigned jobz, int econ, int m, int n, MATRIX(a), SIDES, WORK, int *info, void *params), \
            (h, mode(jobz), econ, m, n, a, lda, ALL_SIDES, work, lwork, info, params)) \
    FORWARD(solverDn##T##gesvdjBatched_bufferSize, \
            (H, unsigned jobz, int m, int n, MATRIX(a), SIDES, int *size, void *params, int batch), \
            (h, mode(jobz), m, n, a, lda, ALL_SIDES, size, params, batch)) \
    FORWARD(solverDn##T##gesvdjBatched, \
            (H, unsigned jobz, int m, int n, MATRIX(a), SIDES, WORK, int *info, void *params, int batch), \
            (h, mode(jobz), m, n, a, lda, ALL_SIDES, work, lwork, info, params, batch))

FUNCTIONS(S, orgqr, syev)
FUNCTIONS(D, orgqr, syev)
FUNCTIONS(C, ungqr, heev)
FUNCTIONS(Z, ungqr, heev)
