/* CUDA's library behind one of HIP's, opened by the first call that needs a function of it. An environment variable names
 * files to try first, separated by colons: those of a wheel lie where the loader does not look. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* The first file of a list that can be opened, of those that `suits` lets pass; NULL lets all. */
static void *opened_of(const char *files, int (*suits)(const char *file)) {
    char *list = files ? strdup(files) : NULL, *rest = NULL;
    void *library = NULL;
    if (list)
        for (char *file = strtok_r(list, ":", &rest); file && !library; file = strtok_r(NULL, ":", &rest))
            if (!suits || suits(file)) library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    free(list);
    return library;
}

/* Defines `function`, which finds one of the library's by its name: the library as people write it, the variable that names
 * files, the usual ones in their order, and which files suit. */
#define OPENED(title, variable, files, suits) \
    static void *library; \
    static pthread_once_t opened = PTHREAD_ONCE_INIT; \
    static void open_library(void) { \
        library = opened_of(getenv(variable), suits); \
        if (!library) library = opened_of(files, suits); \
        if (!library) fprintf(stderr, "%s: %s was not found: %s\n", variable, title, dlerror()); \
    } \
    static void *function(const char *name) { \
        pthread_once(&opened, open_library); \
        return library ? dlsym(library, name) : NULL; \
    }
