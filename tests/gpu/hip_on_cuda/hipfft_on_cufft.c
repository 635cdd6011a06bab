// hipFFT on an NVIDIA GPU, for the tests only, used with the runtime of hip_on_cuda.c: streams and addresses are CUDA's.
//
// Types, directions and codes have the same numbers in both libraries. A plan is a pointer in hipFFT and an integer in cuFFT.
#include "library_loader.h"

#define INTERNAL_ERROR 5

OPENED("cuFFT", "HIPFFT_ON_CUFFT", "libcufft.so.12:libcufft.so.11", NULL)

// Name in hipFFT, name in cuFFT, hipFFT's parameters, cuFFT's parameter types, and the arguments for cuFFT.
#define FORWARD(hip, cuda, parameters, types, ...)                                                                                   \
    int hip parameters                                                                                                               \
    {                                                                                                                                \
        int(*call) types = (int(*) types)function(#cuda);                                                                            \
        return call ? call(__VA_ARGS__) : INTERNAL_ERROR;                                                                            \
    }

#define NUMBER(plan) ((int)(long)(plan))

FORWARD(hipfftGetVersion, cufftGetVersion, (int *version), (int *), version)

int hipfftCreate(void **plan)
{
    int number = 0, (*call)(int *) = (int (*)(int *))function("cufftCreate");
    int code = call ? call(&number) : INTERNAL_ERROR;
    *plan = (void *)(long)number;
    return code;
}

FORWARD(hipfftDestroy, cufftDestroy, (void *plan), (int), NUMBER(plan))
FORWARD(hipfftSetAutoAllocation, cufftSetAutoAllocation, (void *plan, int automatic), (int, int), NUMBER(plan), automatic)
FORWARD(hipfftSetStream, cufftSetStream, (void *plan, void *stream), (int, void *), NUMBER(plan), stream)
FORWARD(hipfftSetWorkArea, cufftSetWorkArea, (void *plan, void *area), (int, void *), NUMBER(plan), area)
FORWARD(hipfftMakePlanMany64, cufftMakePlanMany64,
        (void *plan, int rank, long long *n, long long *inembed, long long istride, long long idist, long long *onembed,
         long long ostride, long long odist, int type, long long batch, size_t *area),
        (int, int, long long *, long long *, long long, long long, long long *, long long, long long, int, long long, size_t *),
        NUMBER(plan), rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, area)

#define EXEC_TO(name)                                                                                                                \
    FORWARD(hipfftExec##name, cufftExec##name, (void *plan, void *in, void *out, int direction), (int, void *, void *, int),         \
            NUMBER(plan), in, out, direction)
#define EXEC(name)                                                                                                                   \
    FORWARD(hipfftExec##name, cufftExec##name, (void *plan, void *in, void *out), (int, void *, void *), NUMBER(plan), in, out)

EXEC_TO(C2C)
EXEC_TO(Z2Z)
EXEC(R2C)
EXEC(D2Z)
EXEC(C2R)
EXEC(Z2D)
