/* A fake CUDA driver with two devices, whose memory is host memory and whose streams are always complete. It is written
 * from the driver's documentation, not from its header, so that the tests detect a wrong order of arguments or a wrong
 * structure on the Rust side. The -D options VERSION, INIT, COUNT, STUB and INCOMPLETE make the driver fail. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef VERSION
#define VERSION 12080
#endif
#ifndef INIT
#define INIT 0
#endif
#ifndef COUNT
#define COUNT 2
#endif
#define STACK 16
typedef unsigned long long Ptr;
typedef unsigned Code;
/* Device addresses have a bit that no host address has, so that host addresses are rejected as device addresses, and
 * device addresses as host addresses. */
#define MARK (1ull << 60)
static Ptr mark(void *p) { return (Ptr)p | MARK; }
static void *on_device(Ptr p) { return p & MARK ? (void *)(p & ~MARK) : NULL; }
static void *on_host(const void *p) { return (Ptr)p & MARK ? NULL : (void *)p; }

static __thread void *stack[STACK];
static __thread int depth;
static char contexts[8];
static int retained[8], pinned_alive;

#ifdef STUB
Code cuDriverGetVersion(int *v) { (void)v; return 34; }
#else
Code cuDriverGetVersion(int *v) { *v = VERSION; return 0; }
#endif
Code cuInit(unsigned f) { return f ? 1 : INIT; }
Code cuGetErrorName(Code c, const char **t) {
    *t = c == 100 ? "CUDA_ERROR_NO_DEVICE" : c == 101 ? "CUDA_ERROR_INVALID_DEVICE" : c == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
    return *t ? 0 : 1;
}
Code cuGetErrorString(Code c, const char **t) { return cuGetErrorName(c, t); }
Code cuDeviceGetCount(int *n) { *n = COUNT; return 0; }
Code cuDeviceGet(int *d, int i) { *d = i; return i < 0 || i >= COUNT ? 101 : 0; }
Code cuDeviceGetName(char *s, int n, int d) { snprintf(s, (size_t)n, "Fake %d", d); return 0; }
Code cuDeviceGetUuid(char *u, int d) { memset(u, d + 1, 16); return 0; }
Code cuDeviceGetUuid_v2(char *u, int d) { memset(u, d + 0xf1, 16); return 0; }
Code cuDeviceTotalMem_v2(size_t *b, int d) { (void)d; *b = (size_t)1 << 34; return 0; }
Code cuDeviceGetAttribute(int *v, int a, int d) {
    switch (a) {
    case 75: *v = 9; break;      /* compute capability, major */
    case 76: *v = d; break;      /* compute capability, minor */
    case 11: *v = 64; break;     /* largest pitch */
    case 115: *v = d == 0; break; /* memory pools, on device 0 only */
    case 100: *v = 0; break;     /* pageable access through host page tables */
    case 2: case 3: case 4: *v = 1024 >> (a - 2); break; /* maximum threads along x, y, z */
    case 5: case 6: case 7: *v = 65535; break;           /* maximum blocks */
    case 8: *v = 49152; break;   /* shared memory per block */
    case 97: *v = 100000; break; /* shared memory per block with opt-in */
    case 95: *v = d == 0; break; /* cooperative launches, on device 0 only */
    default: *v = a;
    }
    return 0;
}
Code cuDeviceCanAccessPeer(int *c, int d, int p) { *c = d != p; return 0; }
Code cuDevicePrimaryCtxRetain(void **c, int d) { retained[d]++; *c = &contexts[d]; return 0; }
Code cuDevicePrimaryCtxReset_v2(int d) { retained[d] = 0; return 0; }

static void *top(void) { return depth ? stack[depth - 1] : NULL; }
Code cuCtxGetCurrent(void **c) { *c = top(); return 0; }
Code cuCtxSetCurrent(void *c) {
    if (depth) depth--;
    if (c) stack[depth++] = c;
    return 0;
}
Code cuCtxPushCurrent_v2(void *c) { stack[depth++] = c; return 0; }
Code cuCtxPopCurrent_v2(void **c) { if (!depth) return 201; *c = stack[--depth]; return 0; }
Code cuCtxGetDevice(int *d) { if (!top()) return 201; *d = (int)((char *)top() - contexts); return retained[*d] ? 0 : 709; }
/* First statement of every call that requires a current context. */
#define CONTEXT int device; do { Code code = cuCtxGetDevice(&device); if (code) return code; } while (0)
Code cuCtxSynchronize(void) { CONTEXT; return 0; }
Code cuCtxEnablePeerAccess(void *p, unsigned f) { CONTEXT; return f || !p ? 1 : 704; }
Code cuCtxRecordEvent(void *c, void *e) { (void)e; return (char *)c == contexts ? 0 : 801; }

Code cuMemGetInfo_v2(size_t *f, size_t *t) { CONTEXT; *f = 1000 + (size_t)device; *t = 2000; return 0; }
#ifndef INCOMPLETE
Code cuMemAlloc_v2(Ptr *p, size_t n) { CONTEXT; if (n >> 40) return 2; *p = mark(malloc(n)); return 0; }
#endif
Code cuMemFree_v2(Ptr p) { CONTEXT; free(on_device(p)); return p & MARK ? 0 : 1; }
Code cuMemHostAlloc(void **p, size_t n, unsigned f) { CONTEXT; if (n >> 40) return 2; pinned_alive += f; *p = malloc(n); return 0; }
Code cuMemFreeHost(void *p) { CONTEXT; free(p); return 0; }
Code cuMemHostRegister_v2(void *p, size_t n, unsigned f) { CONTEXT; return !p || !n || f & 4 ? 1 : 0; }
Code cuMemHostUnregister(void *p) { CONTEXT; return p ? 0 : 1; }
struct Handle { char bytes[64]; };
Code cuMemHostGetDevicePointer_v2(Ptr *p, void *h, unsigned f) { CONTEXT; *p = (Ptr)h; return f || !h ? 1 : 0; }
Code cuMemAllocPitch_v2(Ptr *p, size_t *pitch, size_t w, size_t h, unsigned s) {
    CONTEXT;
    if (s != 4 && s != 8 && s != 16) return 1;
    if (w >> 40) return 2;
    *pitch = (w + 511) & ~(size_t)511;
    *p = mark(malloc(*pitch * h));
    return 0;
}
Code cuMemAllocManaged(Ptr *p, size_t n, unsigned f) { CONTEXT; if (n >> 40) return 2; *p = mark(malloc(n)); return f & ~7u ? 1 : 0; }
Code cuStreamAttachMemAsync(void *s, Ptr p, size_t n, unsigned f) { CONTEXT; (void)s; return n || f & ~7u || !(p & MARK) ? 1 : 0; }
Code cuMemPrefetchAsync(Ptr p, size_t n, int place, void *s) { CONTEXT; (void)s; return !n || !(p & MARK) ? 1 : place < -1 || place > 1 ? 101 : 0; }
Code cuMemAdvise(Ptr p, size_t n, unsigned advice, int place) { CONTEXT; (void)place; return !n || !(p & MARK) || !advice || advice > 6 ? 1 : 0; }
Code cuLaunchHostFunc(void *s, void (*f)(void *), void *data) { CONTEXT; if (!s) return 400; f(data); return 0; }
Code cuMemGetAddressRange_v2(Ptr *b, size_t *n, Ptr p) { CONTEXT; *b = p & ~63ull; *n = 4096; return p & MARK ? 0 : 500; }
Code cuIpcGetMemHandle(struct Handle *h, Ptr p) { CONTEXT; memset(h, 0, sizeof *h); memcpy(h, &p, sizeof p); return p & MARK ? 0 : 1; }
Code cuIpcOpenMemHandle_v2(Ptr *p, struct Handle h, unsigned f) { CONTEXT; memcpy(p, &h, sizeof *p); return f == 1 && *p & MARK ? 0 : 1; }
Code cuIpcGetEventHandle(struct Handle *h, void *e) { CONTEXT; memset(h, 0, sizeof *h); memcpy(h, &e, sizeof e); return e ? 0 : 400; }
Code cuIpcOpenEventHandle(void **e, struct Handle h) { CONTEXT; memcpy(e, &h, sizeof *e); return *e ? 0 : 1; }
Code cuIpcCloseMemHandle(Ptr p) { CONTEXT; return p & MARK ? 0 : 1; }
/* The tests query addresses 1 to 3, whose memory kinds are fixed: 1 is host memory, 2 memory of device 1, 3 managed
 * memory. */
Code cuPointerGetAttributes(unsigned n, int *a, void **v, Ptr p) {
    for (unsigned i = 0; i < n; i++) switch (a[i]) {
        case 2: *(unsigned *)v[i] = p > 3 ? 0 : p == 1 ? 1 : 2; break;
        case 8: *(unsigned char *)v[i] = p == 3; break;
        case 9: *(int *)v[i] = p == 2 ? 1 : -2; break;
        default: return 1;
    }
    return 0;
}

struct Location { int type, id; };
struct PoolProps { int alloc, handles; struct Location location; void *security; size_t max; char reserved[56]; };
static Ptr pool[9];
Code cuMemPoolCreate(void **p, const struct PoolProps *q) {
    CONTEXT;
    for (size_t i = 0; i < sizeof q->reserved; i++) if (q->reserved[i]) return 1;
    *p = pool;
    return q->alloc == 1 && q->handles == 0 && q->location.type == 1 && q->location.id == device && !q->security ? 0 : 1;
}
Code cuMemPoolDestroy(void *p) { return p == pool ? 0 : 1; }
struct Access { struct Location location; int flags; };
/* Accepts only the other device with read and write access. Any other access is an error of the caller. */
Code cuMemPoolSetAccess(void *p, const struct Access *a, size_t n) {
    return p == pool && n == 1 && a->location.type == 1 && a->location.id == 1 && a->flags == 3 ? 0 : 1;
}
Code cuMemPoolSetAttribute(void *p, int a, void *v) { pool[a] = *(Ptr *)v; return p == pool ? 0 : 1; }
Code cuMemPoolGetAttribute(void *p, int a, void *v) { *(Ptr *)v = a == 4 ? pool[a] : (Ptr)a * 10; return p == pool ? 0 : 1; }
Code cuMemPoolTrimTo(void *p, size_t n) { return p == pool && n == pool[4] ? 0 : 1; }
Code cuMemAllocFromPoolAsync(Ptr *p, size_t n, void *q, void *s) { CONTEXT; (void)s; if (n >> 40) return 2; *p = mark(malloc(n)); return q == pool ? 0 : 1; }
Code cuMemFreeAsync(Ptr p, void *s) { CONTEXT; (void)s; free(on_device(p)); return p & MARK ? 0 : 1; }

static Code move(void *to, const void *from, size_t n, void *s) { CONTEXT; if ((Ptr)s == 0x700) return 700; if (!to || !from) return 1; memmove(to, from, n); return 0; }
Code cuMemcpyHtoDAsync_v2(Ptr to, const void *from, size_t n, void *s) { return move(on_device(to), on_host(from), n, s); }
Code cuMemcpyDtoHAsync_v2(void *to, Ptr from, size_t n, void *s) { return move(on_host(to), on_device(from), n, s); }
Code cuMemcpyDtoDAsync_v2(Ptr to, Ptr from, size_t n, void *s) { return move(on_device(to), on_device(from), n, s); }
Code cuMemcpyPeerAsync(Ptr to, void *toc, Ptr from, void *fromc, size_t n, void *s) {
    return fromc == top() && toc != fromc && toc ? move(on_device(to), on_device(from), n, s) : 1;
}
struct Side2 { size_t x, y; int kind; void *host; Ptr device; void *array; size_t pitch; };
struct Copy2 { struct Side2 from, to; size_t width, height; };
struct Side3 { size_t x, y, z, lod; int kind; void *host; Ptr device; void *array, *reserved; size_t pitch, height; };
struct Copy3 { struct Side3 from, to; size_t width, height, depth; };
static char *begin(int kind, void *host, Ptr device) { return kind == 1 ? on_host(host) : kind == 2 ? on_device(device) : NULL; }
Code cuMemcpy2DAsync_v2(const struct Copy2 *c, void *s) {
    if (c->from.pitch > 64 || c->to.pitch > 64 || c->from.pitch < c->width || c->to.pitch < c->width) return 1;
    char *from = begin(c->from.kind, c->from.host, c->from.device), *to = begin(c->to.kind, c->to.host, c->to.device);
    if (!from || !to) return 1;
    for (size_t i = 0; i < c->height; i++) {
        Code code = move(to + i * c->to.pitch, from + i * c->from.pitch, c->width, s);
        if (code) return code;
    }
    return 0;
}
Code cuMemcpy3DAsync_v2(const struct Copy3 *c, void *s) {
    if (c->from.height < c->height || c->to.height < c->height) return 1;
    for (size_t i = 0; i < c->depth; i++) {
        struct Copy2 plane = { { 0, 0, c->from.kind, (char *)c->from.host + i * c->from.height * c->from.pitch, c->from.device + i * c->from.height * c->from.pitch, NULL, c->from.pitch },
                               { 0, 0, c->to.kind, (char *)c->to.host + i * c->to.height * c->to.pitch, c->to.device + i * c->to.height * c->to.pitch, NULL, c->to.pitch }, c->width, c->height };
        Code code = cuMemcpy2DAsync_v2(&plane, s);
        if (code) return code;
    }
    return 0;
}
static Code set(Ptr to, size_t pitch, const void *v, size_t size, size_t n, size_t h) {
    CONTEXT;
    char *first = on_device(to);
    if (pitch > 64 || !first) return 1;
    for (size_t i = 0; i < h; i++) for (size_t j = 0; j < n; j++) memcpy(first + i * pitch + j * size, v, size);
    return 0;
}
Code cuMemsetD8Async(Ptr p, unsigned char v, size_t n, void *s) { (void)s; return set(p, 0, &v, 1, n, 1); }
Code cuMemsetD16Async(Ptr p, unsigned short v, size_t n, void *s) { (void)s; return set(p, 0, &v, 2, n, 1); }
Code cuMemsetD32Async(Ptr p, unsigned v, size_t n, void *s) { (void)s; return set(p, 0, &v, 4, n, 1); }
Code cuMemsetD2D8Async(Ptr p, size_t q, unsigned char v, size_t n, size_t h, void *s) { (void)s; return set(p, q, &v, 1, n, h); }
Code cuMemsetD2D16Async(Ptr p, size_t q, unsigned short v, size_t n, size_t h, void *s) { (void)s; return set(p, q, &v, 2, n, h); }
Code cuMemsetD2D32Async(Ptr p, size_t q, unsigned v, size_t n, size_t h, void *s) { (void)s; return set(p, q, &v, 4, n, h); }

/* Handles of streams and events are 0x1000 + 0x100 * device + flags. The handle 0x600 never completes. */
Code cuStreamCreateWithPriority(void **s, unsigned f, int p) { CONTEXT; *s = (void *)(size_t)(0x1000 + 0x100 * device + f); return p > 0 ? 1 : 0; }
Code cuStreamDestroy_v2(void *s) { CONTEXT; return s ? 0 : 400; }
Code cuStreamSynchronize(void *s) { CONTEXT; return (size_t)s == 0x700 ? 700 : 0; }
Code cuStreamQuery(void *s) { CONTEXT; return (size_t)s == 0x600 ? 600 : (size_t)s == 0x700 ? 700 : 0; }
Code cuStreamGetFlags(void *s, unsigned *f) { CONTEXT; *f = (unsigned)((size_t)s & 0xff); return 0; }
Code cuStreamGetPriority(void *s, int *p) { CONTEXT; (void)s; *p = 0; return 0; }
Code cuStreamWaitEvent(void *s, void *e, unsigned f) { CONTEXT; (void)s; return f || !e ? 400 : 0; }
/* Reports that no stream captures. */
Code cuStreamBeginCapture_v2(void *s, unsigned mode) { (void)s; (void)mode; return 801; }
Code cuStreamEndCapture(void *s, void **graph) { (void)s; (void)graph; return 401; }
Code cuStreamGetCaptureInfo_v2(void *s, unsigned *status, unsigned long long *id, void *g, void *d, void *n) { CONTEXT; (void)s; (void)id; (void)g; (void)d; (void)n; *status = 0; return 0; }
Code cuThreadExchangeStreamCaptureMode(unsigned *mode) { *mode = 0; return 0; }
Code cuGraphInstantiateWithFlags(void **e, void *g, unsigned long long f) { (void)e; (void)g; (void)f; return 801; }
Code cuGraphGetNodes(void *g, void *n, size_t *count) { (void)g; (void)n; *count = 0; return 0; }
Code cuGraphDestroy(void *g) { (void)g; return 0; }
Code cuGraphUpload(void *e, void *s) { (void)e; (void)s; return 801; }
Code cuGraphLaunch(void *e, void *s) { (void)e; (void)s; return 801; }
Code cuGraphExecDestroy(void *e) { (void)e; return 0; }
#ifdef OLD
Code cuStreamGetCtx(void *s, void **c) { *c = &contexts[((size_t)s - 0x1000) >> 8]; return 0; }
#else
Code cuStreamGetDevice(void *s, int *d) { *d = (int)(((size_t)s - 0x1000) >> 8); return 0; }
#endif
Code cuEventCreate(void **e, unsigned f) { CONTEXT; *e = (void *)(size_t)(0x1000 + 0x100 * device + f); return 0; }
Code cuEventDestroy_v2(void *e) { CONTEXT; return e ? 0 : 400; }
Code cuEventRecord(void *e, void *s) { CONTEXT; (void)s; return (((size_t)e - 0x1000) >> 8) == (size_t)device ? 0 : 400; }
Code cuEventQuery(void *e) { CONTEXT; return (size_t)e == 0x600 ? 600 : 0; }
Code cuEventSynchronize(void *e) { CONTEXT; return e ? 0 : 400; }
Code cuEventElapsedTime(float *t, void *a, void *b) { CONTEXT; *t = (float)((size_t)b - (size_t)a); return 0; }

#include "fake_cuda_device_code.c"
