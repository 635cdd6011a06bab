/* A fake NVRTC, written from NVRTC's documentation. The "image" of a source is the text after "//!" in the lines of the
 * source, in the format of fake_cuda_device_code.c. The compilation of a source that contains "bad" fails; the compilation
 * of a source that contains "odd" prints a warning. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned Code;
struct Program { char *source, *name, *image, log[2048]; size_t bytes; char expressions[8][64], lowered[8][80]; int count, is_ptx; };

static int opened;
int fake_compiled(void) { return opened; }
static void push(struct Program *p, const char *text, size_t n) {
    p->image = realloc(p->image, p->bytes + n + 1);
    memcpy(p->image + p->bytes, text, n);
    p->bytes += n;
    p->image[p->bytes] = 0;
}
Code nvrtcVersion(int *major, int *minor) { *major = 12; *minor = 34; return 0; }
Code nvrtcGetNumSupportedArchs(int *n) { *n = 3; return 0; }
Code nvrtcGetSupportedArchs(int *a) { a[0] = 90; a[1] = 80; a[2] = 75; return 0; }
Code nvrtcCreateProgram(void **out, const char *source, const char *name, int n, const char **headers, const char **names) {
    struct Program *p = calloc(1, sizeof *p);
    p->source = strdup(source); p->name = strdup(name);
    *out = p;
    return n || headers || names ? 3 : 0;
}
Code nvrtcDestroyProgram(void **out) { struct Program *p = *out; free(p->source); free(p->name); free(p->image); free(p); *out = NULL; return 0; }
Code nvrtcAddNameExpression(void *program, const char *text) { struct Program *p = program; strncpy(p->expressions[p->count++], text, 63); return 0; }
Code nvrtcGetLoweredName(void *program, const char *text, const char **name) {
    struct Program *p = program;
    for (int i = 0; i < p->count; i++) if (!strcmp(p->expressions[i], text)) { sprintf(p->lowered[i], "_ZI%d", i); *name = p->lowered[i]; return 0; }
    return 10;
}
Code nvrtcCompileProgram(void *program, int n, const char *const *options) {
    struct Program *p = program;
    opened++;
    for (int i = 0; i < n; i++) {
        strcat(strcat(p->log, i ? " " : ""), options[i]);
        if (strstr(options[i], "nonsense")) { strcpy(p->log, "nvrtc: error: unrecognized option --nonsense found"); return 5; }
        if (strstr(options[i], "compute_")) p->is_ptx = 1;
    }
    if (strstr(p->source, "bad")) { sprintf(p->log, "%s(2): error: bad", p->name); return 6; }
    if (strstr(p->source, "odd")) strcat(p->log, " warning: odd");
    push(p, p->is_ptx ? ".version 8.0\n" : "\x7f" "ELF\n", p->is_ptx ? 13 : 5);
    for (char *line = p->source; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (!strncmp(line, "//!", 3)) { size_t length = strcspn(line, "\n"); push(p, line + 3, length - 3); push(p, "\n", 1); }
    return 0;
}
Code nvrtcGetProgramLogSize(void *program, size_t *n) { *n = strlen(((struct Program *)program)->log) + 1; return 0; }
Code nvrtcGetProgramLog(void *program, char *log) { strcpy(log, ((struct Program *)program)->log); return 0; }
Code nvrtcGetPTXSize(void *program, size_t *n) { *n = ((struct Program *)program)->bytes + 1; return 0; }
Code nvrtcGetPTX(void *program, char *image) { struct Program *p = program; memcpy(image, p->image, p->bytes + 1); return p->is_ptx ? 0 : 3; }
Code nvrtcGetCUBINSize(void *program, size_t *n) { *n = ((struct Program *)program)->bytes; return 0; }
Code nvrtcGetCUBIN(void *program, char *image) { struct Program *p = program; memcpy(image, p->image, p->bytes); return p->is_ptx ? 3 : 0; }
