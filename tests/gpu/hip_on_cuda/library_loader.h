/* Opens the CUDA library that implements a library of HIP, at the first call of one of its functions. An environment variable
 * lists files to try first, separated by colons: the loader does not search the folders of Python wheels. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Opens the first file of a list that `suits` accepts and that can be loaded; returns NULL if there is none. Without `suits`,
 * every file is accepted. */
static void *opened_of(const char *files, int (*suits)(const char *file)) {
    char *list = files ? strdup(files) : NULL, *rest = NULL;
    void *library = NULL;
    if (list)
        for (char *file = strtok_r(list, ":", &rest); file && !library; file = strtok_r(NULL, ":", &rest))
            if (!suits || suits(file)) library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    free(list);
    return library;
}

/* Defines `function`, which finds a function of the library by its name. The parameters are the title of the library in
 * messages, the environment variable that lists files, the default files in search order, and the function that accepts a
 * file. */
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
