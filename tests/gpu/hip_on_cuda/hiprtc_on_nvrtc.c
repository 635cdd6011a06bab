/* hiprtc by NVRTC, for the tests only: the same functions and codes under other names, and clang's words for the options.
 * NVRTC is opened when it is first needed, by PYGPU_NVRTC or by the names that the system's loader knows. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* NVRTC's code for what went wrong inside it, here too when it is not to be had. */
enum { INTERNAL_ERROR = 11, OUT_OF_MEMORY = 1 };

static void *find(const char *name) {
    static void *library;
    const char *candidates[] = { getenv("PYGPU_NVRTC"), "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so" };
    for (size_t i = 0; !library && i < sizeof candidates / sizeof *candidates; i++)
        if (candidates[i]) library = dlopen(candidates[i], RTLD_NOW);
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) fprintf(stderr, "hiprtc on NVRTC: %s was not found\n", name);
    return found;
}

/* hiprtc's name, NVRTC's, the types of the parameters, the parameters, the arguments. */
#define FORWARD(name, nvrtc, types, parameters, arguments) \
    EXPORT int name parameters { \
        int (*call) types = (int (*) types)find(nvrtc); \
        return call ? call arguments : INTERNAL_ERROR; \
    }
#define OF_PROGRAM(name, nvrtc, type) FORWARD(name, nvrtc, (void *, type), (void *program, type value), (program, value))

FORWARD(hiprtcVersion, "nvrtcVersion", (int *, int *), (int *major, int *minor), (major, minor))
FORWARD(hiprtcCreateProgram, "nvrtcCreateProgram",
    (void **, const char *, const char *, int, const char *const *, const char *const *),
    (void **program, const char *source, const char *name, int count, const char *const *headers, const char *const *names),
    (program, source, name, count, headers, names))
FORWARD(hiprtcDestroyProgram, "nvrtcDestroyProgram", (void **), (void **program), (program))
FORWARD(hiprtcGetLoweredName, "nvrtcGetLoweredName", (void *, const char *, const char **),
    (void *program, const char *expression, const char **name), (program, expression, name))
OF_PROGRAM(hiprtcAddNameExpression, "nvrtcAddNameExpression", const char *)
OF_PROGRAM(hiprtcGetProgramLogSize, "nvrtcGetProgramLogSize", size_t *)
OF_PROGRAM(hiprtcGetProgramLog, "nvrtcGetProgramLog", char *)
OF_PROGRAM(hiprtcGetCodeSize, "nvrtcGetCUBINSize", size_t *)
OF_PROGRAM(hiprtcGetCode, "nvrtcGetCUBIN", char *)

/* An option in NVRTC's words, written into `text`; NULL for one that it has not and does not need. */
static const char *spelled(const char *option, char *text, size_t length) {
    static const char ARCHITECTURE[] = "--offload-arch=gfx:";
    static const struct { const char *clang, *nvrtc; } WORDS[] = {
        { "-ffast-math", "--use_fast_math" }, { "-ffp-contract=off", "--fmad=false" }, { "-ffp-contract=fast", "--fmad=true" },
        { "-g", "--device-debug" }, { "-gline-tables-only", "--generate-line-info" },
    };
    if (!strncmp(option, ARCHITECTURE, sizeof ARCHITECTURE - 1)) {
        snprintf(text, length, "--gpu-architecture=%s", option + sizeof ARCHITECTURE - 1);
        return text;
    }
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (!strcmp(option, WORDS[i].clang)) return WORDS[i].nvrtc;
    return strncmp(option, "-O", 2) ? option : NULL;
}

EXPORT int hiprtcCompileProgram(void *program, int count, const char *const *options) {
    enum { LENGTH = 4096 };
    int (*compile)(void *, int, const char *const *) = (int (*)(void *, int, const char *const *))find("nvrtcCompileProgram");
    if (!compile) return INTERNAL_ERROR;
    const char **words = malloc(((size_t)count + 1) * sizeof *words);
    char (*texts)[LENGTH] = malloc(((size_t)count + 1) * sizeof *texts);
    int code = OUT_OF_MEMORY, used = 0;
    for (int i = 0; words && texts && i < count; i++) {
        if (!strcmp(options[i], "-include") && i + 1 < count) {
            i++;
            snprintf(texts[i], LENGTH, "--pre-include=%s", options[i]);
            words[used++] = texts[i];
            continue;
        }
        const char *word = spelled(options[i], texts[i], LENGTH);
        if (word) words[used++] = word;
    }
    if (words && texts) code = compile(program, used, words);
    free(texts);
    free(words);
    return code;
}
