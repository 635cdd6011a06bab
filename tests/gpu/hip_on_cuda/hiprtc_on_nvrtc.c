/* hiprtc on an NVIDIA GPU, for the tests only, used with the runtime of hip_on_cuda.c. Every function listed in
 * src/backend/hip/hiprtc/mod.rs calls the function of NVRTC. Options are translated to NVRTC's, and the code object is a
 * cubin. Result codes have the same numbers in both libraries. */
#include "library_loader.h"

#include <cuda.h>
#include <glob.h>

enum { OUT_OF_MEMORY = 1, INTERNAL_ERROR = 11 };

/* Opens the library of built-in declarations in the folder of NVRTC. NVRTC opens that library by its name without a folder,
 * and the loader finds it only if it is already open. */
static void open_builtins(const char *file) {
    char pattern[4096];
    const char *slash = strrchr(file, '/');
    glob_t found;
    if (!slash) return;
    snprintf(pattern, sizeof pattern, "%.*s/libnvrtc-builtins.so*", (int)(slash - file), file);
    if (glob(pattern, 0, NULL, &found)) return;
    for (size_t i = 0; i < found.gl_pathc; i++) dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_GLOBAL);
    globfree(&found);
}

static int suits(const char *file) {
    int driver = 0;
    cuDriverGetVersion(&driver);
    /* The driver may reject code that the NVRTC of a newer CUDA version has compiled. */
    if (driver < 13000 && strstr(file, "libnvrtc.so.13")) return 0;
    open_builtins(file);
    return 1;
}

OPENED("NVRTC", "HIPRTC_ON_NVRTC", "libnvrtc.so.13:libnvrtc.so.12:libnvrtc.so", suits)

/* Name in hiprtc, name in NVRTC, parameters with their types, and parameters without types. */
#define FORWARD(name, nvrtc, parameters, arguments) \
    EXPORT int name parameters { \
        int (*call) parameters = (int (*) parameters)function(nvrtc); \
        return call ? call arguments : INTERNAL_ERROR; \
    }

FORWARD(hiprtcVersion, "nvrtcVersion", (int *major, int *minor), (major, minor))
FORWARD(hiprtcCreateProgram, "nvrtcCreateProgram",
    (void **program, const char *source, const char *name, int count, const char *const *headers, const char *const *names),
    (program, source, name, count, headers, names))
FORWARD(hiprtcDestroyProgram, "nvrtcDestroyProgram", (void **program), (program))
FORWARD(hiprtcAddNameExpression, "nvrtcAddNameExpression", (void *program, const char *expression), (program, expression))
FORWARD(hiprtcGetLoweredName, "nvrtcGetLoweredName",
    (void *program, const char *expression, const char **name), (program, expression, name))
FORWARD(hiprtcGetProgramLogSize, "nvrtcGetProgramLogSize", (void *program, size_t *bytes), (program, bytes))
FORWARD(hiprtcGetProgramLog, "nvrtcGetProgramLog", (void *program, char *log), (program, log))
FORWARD(hiprtcGetCodeSize, "nvrtcGetCUBINSize", (void *program, size_t *bytes), (program, bytes))
FORWARD(hiprtcGetCode, "nvrtcGetCUBIN", (void *program, char *image), (program, image))

/* Writes the NVRTC option for the architecture of the current device, or of device 0 if no device is current. */
static void architecture(char *text, size_t size) {
    CUdevice device = 0;
    int major = 0, minor = 0;
    if (cuCtxGetDevice(&device) != CUDA_SUCCESS) cuDeviceGet(&device, 0);
    cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    snprintf(text, size, "--gpu-architecture=sm_%d%d", major, minor);
}

static int starts(const char *text, const char *start) { return !strncmp(text, start, strlen(start)); }

static const struct { const char *clang, *nvrtc; } WORDS[] = {
    { "-ffast-math", "--use_fast_math" }, { "-ffp-contract=off", "--fmad=false" }, { "-ffp-contract=fast", "--fmad=true" },
    { "-g", "--device-debug" }, { "-gline-tables-only", "--generate-line-info" }, { "-w", "--disable-warnings" },
    { "-Rpass-analysis=kernel-resource-usage", "--ptxas-options=-v" },
};

/* Definitions of HIP's names for textures and surfaces. */
static const char *const NAMES[] = {
    "-DhipTextureObject_t=cudaTextureObject_t", "-DhipSurfaceObject_t=cudaSurfaceObject_t",
    "-DhipBoundaryModeZero=cudaBoundaryModeZero", "-DhipBoundaryModeClamp=cudaBoundaryModeClamp",
    "-DhipBoundaryModeTrap=cudaBoundaryModeTrap",
};

/* Returns the NVRTC option for an option of hiprtc; the caller frees the string. The result is NULL for optimization levels
 * (`-O`), for which NVRTC has no option because it always optimizes. */
static char *spelled(const char *option) {
    char text[4096];
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (!strcmp(option, WORDS[i].clang)) return strdup(WORDS[i].nvrtc);
    if (starts(option, "-O")) return NULL;
    if (!starts(option, "--offload-arch=")) return strdup(option);
    architecture(text, sizeof text);
    return strdup(text);
}

static char *included(const char *file) {
    char text[4096];
    snprintf(text, sizeof text, "--pre-include=%s", file);
    return strdup(text);
}

EXPORT int hiprtcCompileProgram(void *program, int count, const char *const *options) {
    int (*compile)(void *, int, const char *const *) = (int (*)(void *, int, const char *const *))function("nvrtcCompileProgram");
    if (!compile) return INTERNAL_ERROR;
    char **words = calloc((size_t)count + sizeof NAMES / sizeof *NAMES + 1, sizeof *words);
    if (!words) return OUT_OF_MEMORY;
    int used = 0;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) words[used++] = strdup(NAMES[i]);
    for (int i = 0; i < count; i++) {
        char *word = !strcmp(options[i], "-include") && i + 1 < count ? included(options[++i]) : spelled(options[i]);
        if (word) words[used++] = word;
    }
    int code = compile(program, used, (const char *const *)words);
    while (used) free(words[--used]);
    free(words);
    return code;
}
