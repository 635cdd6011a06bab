/* Calls for device code of the fake driver; fake_cuda.c includes this file. An image is "\x7fELF" or PTX, followed by
 * lines "k <name> <sizes of the parameters>" for kernels and "g <name> <bytes>" for global variables. No kernel is
 * executed: the arguments of a launch are recorded, and the tests query them. */
enum { KERNELS = 32, PARAMETERS = 16 };
struct Kernel { char name[64]; size_t sizes[PARAMETERS]; int count, dynamic, carveout, cache; };
struct Module { struct Kernel kernels[KERNELS]; int count; char global[64]; size_t bytes; char *memory; };
static int modules_alive;
static char launched[4096];
const char *fake_launched(void) { return launched; }
int fake_modules(void) { return modules_alive; }

static struct Module *parse(const char *line) {
    struct Module *m = calloc(1, sizeof *m);
    while (line && *line) {
        struct Kernel *k = &m->kernels[m->count];
        int at = 0;
        if (sscanf(line, "k %63s%n", k->name, &at) == 1) {
            m->count++;
            for (const char *from = line + at; *from == ' ' && from[1] >= '0' && from[1] <= '9';) {
                char *end;
                k->sizes[k->count++] = strtoul(from + 1, &end, 10);
                from = end;
            }
        } else if (sscanf(line, "g %63s %zu", m->global, &m->bytes) == 2) {
            m->memory = calloc(1, m->bytes);
        }
        line = strchr(line, '\n');
        if (line) line++;
    }
    return m;
}

/* Checks the options of the driver's JIT compiler. The first four options are two logs with their sizes. */
Code cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *o, void **v) {
    CONTEXT;
    if (n < 4 || o[0] != 3 || o[1] != 4 || o[2] != 5 || o[3] != 6 || (size_t)v[1] < 100 || (size_t)v[3] < 100) return 1;
    if (strstr(image, "broken")) { strcpy(v[2], "ptxas said no"); return 200; }
    strcpy(v[0], "a remark");
    *m = parse(strchr(image, '\n') ? strchr(image, '\n') + 1 : NULL);
    modules_alive++;
    return 0;
}
Code cuModuleUnload(void *m) { CONTEXT; free(m); modules_alive--; return 0; }
Code cuModuleGetFunction(void **f, void *module, const char *name) {
    CONTEXT;
    struct Module *m = module;
    for (int i = 0; i < m->count; i++) if (!strcmp(m->kernels[i].name, name)) { *f = &m->kernels[i]; return 0; }
    return 500;
}
Code cuModuleGetGlobal_v2(Ptr *p, size_t *n, void *module, const char *name) {
    CONTEXT;
    struct Module *m = module;
    *p = mark(m->memory);
    *n = m->bytes;
    return strcmp(m->global, name) ? 500 : 0;
}
Code cuFuncGetAttribute(int *v, int a, void *f) {
    CONTEXT;
    struct Kernel *k = f;
    *v = a == 0 ? 1024 : a == 1 ? 16 : a == 8 ? k->dynamic : a == 9 ? k->carveout : 100 + a;
    return a > 9 ? 1 : 0;
}
Code cuFuncSetAttribute(void *f, int a, int v) {
    CONTEXT;
    struct Kernel *k = f;
    if (a == 8) k->dynamic = v; else if (a == 9) k->carveout = v; else return 1;
    return v < 0 && a == 8 ? 1 : 0;
}
Code cuFuncSetCacheConfig(void *f, int c) { CONTEXT; ((struct Kernel *)f)->cache = c; return 0; }
#ifndef OLD
Code cuFuncGetParamInfo(void *f, size_t i, size_t *o, size_t *n) {
    CONTEXT;
    struct Kernel *k = f;
    if (i >= (size_t)k->count) return 1;
    *o = 8 * i;
    *n = k->sizes[i];
    return 0;
}
#endif
Code cuOccupancyMaxActiveBlocksPerMultiprocessor(int *b, void *f, int t, size_t s) { CONTEXT; *b = 2048 / t - (int)s; return f ? 0 : 1; }
Code cuOccupancyMaxPotentialBlockSize(int *g, int *b, void *f, void *c, size_t s, int l) {
    CONTEXT;
    *g = 7 + (int)s;
    *b = l ? l : 1024;
    return f && !c ? 0 : 1;
}

static Code run(const char *how, void *f, const unsigned *d, void *s, void **p) {
    CONTEXT;
    struct Kernel *k = f;
    char *to = launched;
    if ((size_t)s == 0x700) return 700;
    to += sprintf(to, "%s %s %u,%u,%u %u,%u,%u %u %#zx:", how, k->name, d[0], d[1], d[2], d[3], d[4], d[5], d[6], (size_t)s);
    for (int i = 0; i < k->count; i++) {
        to += sprintf(to, " ");
        for (size_t j = 0; j < k->sizes[i]; j++) to += sprintf(to, "%02x", ((unsigned char *)p[i])[j]);
    }
    return 0;
}
Code cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned h, void *s, void **p, void **x) {
    unsigned shape[] = { a, b, c, d, e, g, h };
    return x ? 1 : run("plain", f, shape, s, p);
}
Code cuLaunchCooperativeKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned h, void *s, void **p) {
    unsigned shape[] = { a, b, c, d, e, g, h };
    return run("cooperative", f, shape, s, p);
}
