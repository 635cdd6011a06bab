/* hipRAND on an NVIDIA GPU, for the tests only, beside the runtime of hip_on_cuda.c: every function of the list in
 * src/backend/libraries/rand.rs, handed on to cuRAND. The results' numbers and those of direction vectors are the same in both
 * libraries; those of generators are not.
 *
 * cuRAND is opened by the first call. HIPRAND_ON_CURAND names files to try first, separated by colons: those of a wheel lie where
 * the loader does not look. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { INITIALIZATION_FAILED = 203 };

static void *library;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void try_file(const char *file) {
    if (!library && *file) library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

static void open_curand(void) {
    const char *named = getenv("HIPRAND_ON_CURAND");
    char *files = named ? strdup(named) : NULL, *rest = NULL;
    if (files)
        for (char *file = strtok_r(files, ":", &rest); file; file = strtok_r(NULL, ":", &rest)) try_file(file);
    free(files);
    try_file("libcurand.so.10");
    try_file("libcurand.so");
    try_file("/usr/local/cuda/lib64/libcurand.so.10");
    if (!library) fprintf(stderr, "hiprand_on_curand: cuRAND was not found: %s\n", dlerror());
}

static void *function(const char *name) {
    pthread_once(&opened, open_curand);
    return library ? dlsym(library, name) : NULL;
}

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
