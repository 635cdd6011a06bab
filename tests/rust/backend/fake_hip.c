/* A fake HIP runtime with two devices, whose memory is host memory and whose streams are always complete. It is written
 * from AMD's documentation, not from its headers, so that the tests detect a wrong order of arguments or a wrong
 * structure on the Rust side. The -D options INIT, COUNT, COUNT_CODE and INCOMPLETE make the runtime fail; VERSION and
 * OLD (HIP 5) make it an older one. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef VERSION
#ifdef OLD
#define VERSION 50221153
#else
#define VERSION 60443483
#endif
#endif
#ifndef INIT
#define INIT 0
#endif
#ifndef COUNT
#define COUNT 2
#endif
#ifndef COUNT_CODE
#define COUNT_CODE 0
#endif
typedef size_t Size;
typedef unsigned Code;
/* Device addresses have a bit that no host address has, so that host addresses are rejected as device addresses, and
 * device addresses as host addresses. */
#define MARK ((Size)1 << 60)
static void *mark(void *p) { return (void *)((Size)p | MARK); }
static void *on_device(const void *p) { return (Size)p & MARK ? (void *)((Size)p & ~MARK) : NULL; }
static void *on_host(const void *p) { return (Size)p & MARK ? NULL : (void *)p; }

static __thread int device;
static __thread Code last;
static __thread int switches;
/* Returns the code of a call, and stores an error as the thread's last error, which another library may query. */
static Code say(Code code) { if (code) last = code; return code; }
Code hipGetLastError(void) { Code code = last; last = 0; return code; }
/* Counters that the tests query. */
Code fake_last_error(void) { return last; }
int fake_switches(void) { return switches; }

Code hipInit(unsigned f) { return say(f ? 1 : INIT); }
Code hipRuntimeGetVersion(int *v) { *v = VERSION; return 0; }
const char *hipGetErrorName(Code c) {
    return c == 100 ? "hipErrorNoDevice" : c == 101 ? "hipErrorInvalidDevice" : c == 700 ? "hipErrorIllegalAddress" : c == 911 ? NULL : "hipErrorUnknown";
}
const char *hipGetErrorString(Code c) { return c == 700 ? "an illegal memory access" : hipGetErrorName(c); }
Code hipGetDeviceCount(int *n) { *n = COUNT; return say(COUNT_CODE); }
Code hipGetDevice(int *d) { *d = device; return 0; }
Code hipSetDevice(int d) { switches++; if (d < 0 || d >= COUNT) return say(101); device = d; return 0; }
Code hipDeviceSynchronize(void) { return 0; }
static int resets[2];
Code hipDeviceReset(void) { resets[device]++; return 0; }
int fake_resets(int d) { return resets[d]; }
Code hipDeviceGetName(char *s, int n, int d) { snprintf(s, (Size)n, "Fake %d", d); return 0; }
Code hipDeviceGetUuid(char *u, int d) { memset(u, d + 1, 16); return 0; }
Code hipDeviceTotalMem(Size *b, int d) { (void)d; *b = (Size)1 << 34; return 0; }
Code hipDeviceGetAttribute(int *v, int a, int d) {
    if (d < 0 || d >= COUNT) return say(101);
    switch (a) {
    case 23: *v = 9; break;       /* compute capability, major */
    case 61: *v = d; break;       /* compute capability, minor */
    case 58: *v = 64; break;      /* largest pitch */
#ifdef OLD
    case 5: return say(1);        /* clock not reported */
#endif
    case 88: *v = d == 0; break;  /* memory pools, on device 0 only */
    case 66: *v = 0; break;       /* pageable access through host page tables */
    default: *v = a;
    }
    return 0;
}
#ifndef OLD
Code hipGetDevicePropertiesR0600(char *p, int d) { memset(p, 'x', 1472); snprintf(p + 1160, 256, "gfx90%d:sramecc+", d); return 0; }
#endif
Code hipGetDeviceProperties(char *p, int d) { memset(p, 'x', 792); snprintf(p + 396, 256, "gfx80%d", d); return 0; }
Code hipDeviceCanAccessPeer(int *c, int d, int p) { *c = d != p; return 0; }
Code hipDeviceEnablePeerAccess(int p, unsigned f) { return say(f || p == device ? 1 : 704); }

Code hipMemGetInfo(Size *f, Size *t) { *f = 1000 + (Size)device; *t = 2000; return 0; }
#ifndef INCOMPLETE
Code hipMalloc(void **p, Size n) { if (n >> 40) return say(2); *p = mark(malloc(n)); return 0; }
#endif
Code hipFree(void *p) { free(on_device(p)); return say(on_device(p) ? 0 : 1); }
Code hipHostMalloc(void **p, Size n, unsigned f) { if (n >> 40) return say(2); *p = malloc(n); return say(f & ~7u ? 1 : 0); }
Code hipHostFree(void *p) { free(p); return 0; }
Code hipHostRegister(void *p, Size n, unsigned f) { return say(!p || !n || f & ~3u ? 1 : 0); }
Code hipHostUnregister(void *p) { return say(p ? 0 : 1); }
struct Handle { char bytes[64]; };
Code hipHostGetDevicePointer(void **p, void *h, unsigned f) { *p = h; return say(f || !h ? 1 : 0); }
Code hipMemAllocPitch(void **p, Size *pitch, Size w, Size h, unsigned s) {
    if (s != 4 && s != 8 && s != 16) return say(1);
    if (w >> 40) return say(2);
    *pitch = (w + 511) & ~(Size)511;
    *p = mark(malloc(*pitch * h));
    return 0;
}
Code hipMallocManaged(void **p, Size n, unsigned f) { if (n >> 40) return say(2); *p = mark(malloc(n)); return say(f & ~7u ? 1 : 0); }
Code hipStreamAttachMemAsync(void *s, void *p, Size n, unsigned f) { (void)s; return say(n || f & ~7u || !on_device(p) ? 1 : 0); }
/* Returns "not supported" for all texture calls. */
Code hipArray3DCreate(void **array, const void *descriptor) { (void)array, (void)descriptor; return say(801); }
Code hipArrayDestroy(void *array) { (void)array; return say(801); }
Code hipTexObjectCreate(void **texture, const void *resource, const void *how, const void *view) {
    (void)texture, (void)resource, (void)how, (void)view;
    return say(801);
}
Code hipTexObjectDestroy(void *texture) { (void)texture; return say(801); }
Code hipMemPrefetchAsync(const void *p, Size n, int place, void *s) { (void)s; return say(!n || !on_device((void *)p) ? 1 : place < -1 || place > 1 ? 101 : 0); }
Code hipMemAdvise(const void *p, Size n, unsigned advice, int place) { (void)place; return say(!n || !on_device((void *)p) || !advice || advice > 6 ? 1 : 0); }
#ifndef OLD
Code hipLaunchHostFunc(void *s, void (*f)(void *), void *data) { if (!s) return say(400); f(data); return say(0); }
#endif
Code hipMemGetAddressRange(void **b, Size *n, void *p) { *b = (void *)((Size)p & ~(Size)63); *n = 4096; return say(on_device(p) ? 0 : 1); }
Code hipIpcGetMemHandle(struct Handle *h, void *p) { memset(h, 0, sizeof *h); memcpy(h, &p, sizeof p); return say(on_device(p) ? 0 : 1); }
Code hipIpcOpenMemHandle(void **p, struct Handle h, unsigned f) { memcpy(p, &h, sizeof *p); return say(f == 1 && on_device(*p) ? 0 : 1); }
Code hipIpcGetEventHandle(struct Handle *h, void *e) { memset(h, 0, sizeof *h); memcpy(h, &e, sizeof e); return say(e ? 0 : 400); }
Code hipIpcOpenEventHandle(void **e, struct Handle h) { memcpy(e, &h, sizeof *e); return say(*e ? 0 : 1); }
Code hipIpcCloseMemHandle(void *p) { return say(on_device(p) ? 0 : 1); }
struct Attributes { unsigned type; int device; void *on_device, *on_host; int managed; unsigned flags; };
/* The tests query addresses 1 to 4, whose memory kinds are fixed: 1 is host memory, 2 memory of device 1, 3 and 4
 * managed memory. For 3 the field `managed` is set; 4 is recognized only by `type`. */
Code hipPointerGetAttributes(struct Attributes *a, const void *p) {
#ifdef OLD
    static const unsigned types[] = { 0, 0, 1, 1, 4 };
    if ((Size)p > 4) return say(1);
#else
    static const unsigned types[] = { 0, 1, 2, 2, 3 };
#endif
    memset(a, 0, sizeof *a);
    if ((Size)p <= 4) a->type = types[(Size)p];
    a->device = (Size)p == 2 ? 1 : -2;
    a->managed = (Size)p == 3;
    return 0;
}

struct PoolProps { int alloc, handles, location, id; void *security; char reserved[64]; };
static Size pool[9];
Code hipMemPoolCreate(void **p, const struct PoolProps *q) {
    for (Size i = 0; i < sizeof q->reserved; i++) if (q->reserved[i]) return say(1);
    *p = pool;
    return say(q->alloc == 1 && q->handles == 0 && q->location == 1 && q->id == device && !q->security ? 0 : 1);
}
Code hipMemPoolDestroy(void *p) { return say(p == pool ? 0 : 1); }
struct Access { int location, id, flags; };
/* Accepts only the other device with read and write access. Any other access is an error of the caller. */
Code hipMemPoolSetAccess(void *p, const struct Access *a, Size n) {
    return say(p == pool && n == 1 && a->location == 1 && a->id == 1 && a->flags == 3 ? 0 : 1);
}
Code hipMemPoolSetAttribute(void *p, int a, void *v) { pool[a] = *(Size *)v; return say(p == pool ? 0 : 1); }
Code hipMemPoolGetAttribute(void *p, int a, void *v) { *(Size *)v = a == 4 ? pool[a] : (Size)a * 10; return say(p == pool ? 0 : 1); }
Code hipMemPoolTrimTo(void *p, Size n) { return say(p == pool && n == pool[4] ? 0 : 1); }
Code hipMallocFromPoolAsync(void **p, Size n, void *q, void *s) { (void)s; if (n >> 40) return say(2); *p = mark(malloc(n)); return say(q == pool ? 0 : 1); }
Code hipFreeAsync(void *p, void *s) { (void)s; free(on_device(p)); return say(on_device(p) ? 0 : 1); }

static Code move(void *to, const void *from, Size n, void *s) { if ((Size)s == 0x700) return say(700); if (!to || !from) return say(1); memmove(to, from, n); return 0; }
/* Kinds of copies: 1 host to device, 2 device to host, 3 within the device. */
static char *source(const void *p, int kind) { return kind == 1 ? on_host(p) : kind == 2 || kind == 3 ? on_device(p) : NULL; }
static char *target(void *p, int kind) { return kind == 2 ? on_host(p) : kind == 1 || kind == 3 ? on_device(p) : NULL; }
Code hipMemcpyAsync(void *to, const void *from, Size n, int kind, void *s) { return move(target(to, kind), source(from, kind), n, s); }
Code hipMemcpyPeerAsync(void *to, int tod, const void *from, int fromd, Size n, void *s) {
    return fromd == device && tod != fromd ? move(on_device(to), on_device(from), n, s) : say(1);
}
static int planes;
int fake_planes(void) { return planes; }
Code hipMemcpy2DAsync(void *to, Size top, const void *from, Size fromp, Size width, Size height, int kind, void *s) {
    char *t = target(to, kind); const char *f = source(from, kind);
    planes++;
    if (top > 64 || fromp > 64 || top < width || fromp < width || !t || !f) return say(1);
    for (Size i = 0; i < height; i++) {
        Code code = move(t + i * top, f + i * fromp, width, s);
        if (code) return code;
    }
    return 0;
}
struct Side { void *array; Size x, y, z; void *p; Size pitch, xsize, ysize; };
struct Copy { struct Side from, to; Size width, height, depth; int kind; };
Code hipMemcpy3DAsync(const struct Copy *c, void *s) {
    const struct Side *f = &c->from, *t = &c->to;
    if (f->array || t->array || f->x || f->y || f->z || t->x || t->y || t->z || f->ysize < c->height || t->ysize < c->height) return say(1);
    for (Size i = 0; i < c->depth; i++) {
        Code code = hipMemcpy2DAsync((char *)t->p + i * t->ysize * t->pitch, t->pitch, (char *)f->p + i * f->ysize * f->pitch, f->pitch, c->width, c->height, c->kind, s);
        if (code) return code;
    }
    return 0;
}
static Code set(void *to, Size pitch, const void *v, Size size, Size n, Size h) {
    char *first = on_device(to);
    if (pitch > 64 || !first) return say(1);
    for (Size i = 0; i < h; i++) for (Size j = 0; j < n; j++) memcpy(first + i * pitch + j * size, v, size);
    return 0;
}
Code hipMemsetD8Async(void *p, unsigned char v, Size n, void *s) { (void)s; return set(p, 0, &v, 1, n, 1); }
Code hipMemsetD16Async(void *p, unsigned short v, Size n, void *s) { (void)s; return set(p, 0, &v, 2, n, 1); }
Code hipMemsetD32Async(void *p, int v, Size n, void *s) { (void)s; return set(p, 0, &v, 4, n, 1); }
Code hipMemset2DAsync(void *p, Size q, int v, Size n, Size h, void *s) { char byte = (char)v; (void)s; return set(p, q, &byte, 1, n, h); }

/* Handles of streams and events are 0x1000 + 0x100 * device + flags. The handle 0x600 never completes. */
Code hipStreamCreateWithPriority(void **s, unsigned f, int p) { *s = (void *)(Size)(0x1000 + 0x100 * device + f); return say(p > 0 ? 1 : 0); }
Code hipStreamDestroy(void *s) { return say(s ? 0 : 400); }
Code hipStreamSynchronize(void *s) { return say((Size)s == 0x700 ? 700 : 0); }
Code hipStreamQuery(void *s) { return say((Size)s == 0x600 ? 600 : (Size)s == 0x700 ? 700 : 0); }
Code hipStreamGetFlags(void *s, unsigned *f) { *f = (unsigned)((Size)s & 0xff); return say(0); }
Code hipStreamGetPriority(void *s, int *p) { (void)s; *p = 0; return say(0); }
Code hipStreamWaitEvent(void *s, void *e, unsigned f) { (void)s; return say(f || !e ? 400 : 0); }
#ifndef OLD
Code hipStreamGetDevice(void *s, int *d) { *d = (int)(((Size)s - 0x1000) >> 8); return 0; }
#endif
Code hipEventCreateWithFlags(void **e, unsigned f) { *e = (void *)(Size)(0x1000 + 0x100 * device + f); return 0; }
Code hipEventDestroy(void *e) { return say(e ? 0 : 400); }
Code hipEventRecord(void *e, void *s) { (void)s; return say((((Size)e - 0x1000) >> 8) == (Size)device ? 0 : 400); }
Code hipEventQuery(void *e) { return say((Size)e == 0x600 ? 600 : 0); }
Code hipEventSynchronize(void *e) { return say(e ? 0 : 400); }
Code hipEventElapsedTime(float *t, void *a, void *b) { *t = (float)((Size)b - (Size)a); return 0; }

/* No stream captures, and every image is invalid, because graphs and kernels are tested on the simulated runtime. */
enum { NO_IMAGE = 200, NO_HANDLE = 400 };
Code hipStreamBeginCapture(void *s, unsigned m) { (void)s; (void)m; return say(801); }
Code hipStreamEndCapture(void *s, void **g) { (void)s; (void)g; return say(401); }
Code hipStreamGetCaptureInfo_v2(void *s, unsigned *a, unsigned long long *i, void **g, void **d, Size *n) {
    (void)s; (void)i; (void)g; (void)d; (void)n;
    *a = 0;
    return 0;
}
Code hipThreadExchangeStreamCaptureMode(unsigned *m) { (void)m; return 0; }
Code hipGraphInstantiateWithFlags(void **e, void *g, unsigned long long f) { (void)e; (void)g; (void)f; return say(NO_HANDLE); }
Code hipGraphGetNodes(void *g, void **n, Size *c) { (void)g; (void)n; (void)c; return say(NO_HANDLE); }
Code hipGraphDestroy(void *g) { (void)g; return say(NO_HANDLE); }
Code hipGraphLaunch(void *e, void *s) { (void)e; (void)s; return say(NO_HANDLE); }
Code hipGraphExecDestroy(void *e) { (void)e; return say(NO_HANDLE); }
Code hipModuleLoadDataEx(void **m, const void *i, unsigned n, void *o, void **v) { (void)m; (void)i; (void)n; (void)o; (void)v; return say(NO_IMAGE); }
Code hipModuleUnload(void *m) { (void)m; return say(NO_HANDLE); }
Code hipModuleGetFunction(void **f, void *m, const char *n) { (void)f; (void)m; (void)n; return say(NO_HANDLE); }
Code hipModuleGetGlobal(void **a, Size *b, void *m, const char *n) { (void)a; (void)b; (void)m; (void)n; return say(NO_HANDLE); }
Code hipFuncGetAttribute(int *v, unsigned w, void *f) { (void)v; (void)w; (void)f; return say(NO_HANDLE); }
Code hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *b, void *f, int t, Size s) { (void)b; (void)f; (void)t; (void)s; return say(NO_HANDLE); }
Code hipModuleOccupancyMaxPotentialBlockSize(int *g, int *t, void *f, Size s, int l) { (void)g; (void)t; (void)f; (void)s; (void)l; return say(NO_HANDLE); }
Code hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned s, void *q, void **a, void **e) {
    (void)f; (void)gx; (void)gy; (void)gz; (void)bx; (void)by; (void)bz; (void)s; (void)q; (void)a; (void)e;
    return say(NO_HANDLE);
}
