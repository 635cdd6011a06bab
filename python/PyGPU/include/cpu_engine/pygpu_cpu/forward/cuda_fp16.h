// half: 16 bits, computed in float and rounded to nearest even, as a GPU's functions are specified.
#ifndef PYGPU_CPU_FP16_H
#define PYGPU_CPU_FP16_H

extern "C++" {

namespace pygpu_cpu {

inline float float_of_half(unsigned short h) {
    unsigned sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 31) return bits<float>(sign | 0x7f800000u | fraction << 13);
    if (exponent) return bits<float>(sign | (exponent + 112) << 23 | fraction << 13);
    float small = float(fraction) * 0x1p-24f;
    return sign ? -small : small;
}

inline unsigned short half_of_float(float f) {
    unsigned all = bits<unsigned>(f), sign = all >> 16 & 0x8000u, size = all & 0x7fffffffu;
    if (size > 0x7f800000u) return 0x7fff;
    if (size >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
    if (size < 0x38800000u) return (unsigned short)(sign | unsigned(rintf(bits<float>(size) * 0x1p24f)));
    size -= 0x38000000u;
    return (unsigned short)(sign | (size + 0xfff + (size >> 13 & 1)) >> 13);
}

}

struct __half {
    unsigned short bits;
    __half() = default;
    template <class T, class = pygpu_cpu::common<T, T>> __half(T value) : bits(pygpu_cpu::half_of_float(float(value))) {}
    operator float() const { return pygpu_cpu::float_of_half(bits); }
    __half &operator+=(__half o) { return *this = __half(float(*this) + float(o)); }
    __half &operator-=(__half o) { return *this = __half(float(*this) - float(o)); }
    __half &operator*=(__half o) { return *this = __half(float(*this) * float(o)); }
    __half &operator/=(__half o) { return *this = __half(float(*this) / float(o)); }
};
using half = __half;
struct alignas(4) __half2 {
    __half x, y;
};
using half2 = __half2;

#define PYGPU_CPU_HALF(sign)                                                                          \
    inline __half operator sign(__half a, __half b) { return __half(float(a) sign float(b)); }        \
    inline __half2 operator sign(__half2 a, __half2 b) { return {a.x sign b.x, a.y sign b.y}; }
PYGPU_CPU_HALF(+)
PYGPU_CPU_HALF(-)
PYGPU_CPU_HALF(*)
PYGPU_CPU_HALF(/)
#undef PYGPU_CPU_HALF
inline __half operator-(__half a) { return __half(-float(a)); }

inline __half __float2half(float f) { return __half(f); }
inline __half __float2half_rn(float f) { return __half(f); }
inline __half __double2half(double d) { return __half(d); }
inline float __half2float(__half h) { return float(h); }
inline __half __int2half_rn(int i) { return __half(i); }
inline int __half2int_rz(__half h) { return __float2int_rz(float(h)); }
inline unsigned short __half_as_ushort(__half h) { return h.bits; }
inline __half __ushort_as_half(unsigned short bits) { __half h; h.bits = bits; return h; }
inline __half __hadd(__half a, __half b) { return a + b; }
inline __half __hsub(__half a, __half b) { return a - b; }
inline __half __hmul(__half a, __half b) { return a * b; }
inline __half __hdiv(__half a, __half b) { return a / b; }
inline __half __hneg(__half a) { return -a; }
inline __half __hfma(__half a, __half b, __half c) { return __half(fma(double(float(a)), double(float(b)), double(float(c)))); }
inline bool __hlt(__half a, __half b) { return float(a) < float(b); }
inline bool __hgt(__half a, __half b) { return float(a) > float(b); }
inline bool __heq(__half a, __half b) { return float(a) == float(b); }
inline bool __hisnan(__half a) { return (a.bits & 0x7fffu) > 0x7c00u; }
inline __half hsqrt(__half a) { return __half(sqrtf(float(a))); }
inline __half hexp(__half a) { return __half(expf(float(a))); }
inline __half hlog(__half a) { return __half(logf(float(a))); }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline float2 __half22float2(__half2 v) { return {float(v.x), float(v.y)}; }
inline __half atomicAdd(__half *address, __half value) {
    return __ushort_as_half(pygpu_cpu::atomic_update(
        reinterpret_cast<unsigned short *>(address),
        [&](unsigned short before) { return (__ushort_as_half(before) + value).bits; }));
}

}

#endif
