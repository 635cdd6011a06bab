// hipFFT's functions by cuFFT, for tests of the HIP backend on NVIDIA's devices: streams and addresses are CUDA's there.
//
// Types, directions and codes are the same numbers in both; a plan is an address in the one and a number in the other. The file of
// cuFFT is named by HIPFFT_ON_CUFFT, several by colons; without it the loader looks for the usual names.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERNAL_ERROR 5

static void *library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void)
{
    const char *named = getenv("HIPFFT_ON_CUFFT");
    char *names = strdup(named && *named ? named : "libcufft.so.12:libcufft.so.11");
    for (char *rest = names, *name; !library && names && (name = strsep(&rest, ":"));)
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "hipfft_on_cufft: no cuFFT in %s: %s\n", named ? named : "the usual places", dlerror());
    free(names);
}

static void *find(const char *name)
{
    pthread_once(&once, open_library);
    return library ? dlsym(library, name) : NULL;
}

// A function of hipFFT that is one of cuFFT with a plan first.
#define FORWARD(hip, cuda, parameters, types, ...)                                                                                   \
    int hip parameters                                                                                                               \
    {                                                                                                                                \
        int(*function) types = (int(*) types)find(#cuda);                                                                            \
        return function ? function(__VA_ARGS__) : INTERNAL_ERROR;                                                                    \
    }

#define NUMBER(plan) ((int)(long)(plan))

FORWARD(hipfftGetVersion, cufftGetVersion, (int *version), (int *), version)

int hipfftCreate(void **plan)
{
    int number = 0, (*function)(int *) = (int (*)(int *))find("cufftCreate");
    int code = function ? function(&number) : INTERNAL_ERROR;
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
