// Integer functions, and loads and stores with cache hints.
#ifndef PYGPU_CPU_INTEGERS_H
#define PYGPU_CPU_INTEGERS_H

PYGPU_CPU_FUNCTION int __popc(unsigned v) { return __builtin_popcount(v); }
PYGPU_CPU_FUNCTION int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
PYGPU_CPU_FUNCTION int __clz(int v) { return v ? __builtin_clz(unsigned(v)) : 32; }
PYGPU_CPU_FUNCTION int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
PYGPU_CPU_FUNCTION int __ffs(int v) { return __builtin_ffs(v); }
PYGPU_CPU_FUNCTION int __ffsll(long long v) { return __builtin_ffsll(v); }
PYGPU_CPU_FUNCTION unsigned __brev(unsigned v) {
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}
PYGPU_CPU_FUNCTION unsigned long long __brevll(unsigned long long v) {
    return (unsigned long long)__brev(unsigned(v)) << 32 | __brev(unsigned(v >> 32));
}
PYGPU_CPU_FUNCTION unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned choice = selector >> 4 * i & 15, byte = unsigned(both >> 8 * (choice & 7)) & 255;
        // The highest bit of a selector selects the byte's sign bit, which is replicated to all bits of the result.
        if (choice & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}
PYGPU_CPU_FUNCTION int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
PYGPU_CPU_FUNCTION unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
PYGPU_CPU_FUNCTION long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
PYGPU_CPU_FUNCTION unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
PYGPU_CPU_FUNCTION int __mul24(int a, int b) { return int((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
PYGPU_CPU_FUNCTION unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
PYGPU_CPU_FUNCTION unsigned __sad(int a, int b, unsigned c) { return c + (a < b ? unsigned(b) - unsigned(a) : unsigned(a) - unsigned(b)); }
PYGPU_CPU_FUNCTION unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a < b ? b - a : a - b); }
PYGPU_CPU_FUNCTION int __hadd(int a, int b) { return int(((long long)a + b) >> 1); }
PYGPU_CPU_FUNCTION int __rhadd(int a, int b) { return int(((long long)a + b + 1) >> 1); }
PYGPU_CPU_FUNCTION unsigned __uhadd(unsigned a, unsigned b) { return unsigned(((unsigned long long)a + b) >> 1); }
PYGPU_CPU_FUNCTION unsigned __urhadd(unsigned a, unsigned b) { return unsigned(((unsigned long long)a + b + 1) >> 1); }
PYGPU_CPU_FUNCTION unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return unsigned((((unsigned long long)high << 32 | low) << (by & 31)) >> 32);
}
PYGPU_CPU_FUNCTION unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return unsigned(((unsigned long long)high << 32 | low) >> (by & 31));
}
PYGPU_CPU_FUNCTION unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
    return by >= 32 ? low : __funnelshift_l(low, high, by);
}
PYGPU_CPU_FUNCTION unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
    return by >= 32 ? high : __funnelshift_r(low, high, by);
}

#define PYGPU_CPU_LOAD(name) template <class T> T name(const T *address) { return *address; }
PYGPU_CPU_LOAD(__ldg)
PYGPU_CPU_LOAD(__ldca)
PYGPU_CPU_LOAD(__ldcg)
PYGPU_CPU_LOAD(__ldcs)
PYGPU_CPU_LOAD(__ldlu)
PYGPU_CPU_LOAD(__ldcv)
#undef PYGPU_CPU_LOAD
#define PYGPU_CPU_STORE(name) template <class T> void name(T *address, pygpu_cpu::given<T> value) { *address = value; }
PYGPU_CPU_STORE(__stwb)
PYGPU_CPU_STORE(__stcg)
PYGPU_CPU_STORE(__stcs)
PYGPU_CPU_STORE(__stwt)
#undef PYGPU_CPU_STORE

#endif
