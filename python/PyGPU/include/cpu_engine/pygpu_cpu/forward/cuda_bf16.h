// bfloat16: the upper half of a float, rounded to nearest even and computed in float.
#ifndef PYGPU_CPU_BF16_H
#define PYGPU_CPU_BF16_H

extern "C++" {

namespace pygpu_cpu {

inline float float_of_bfloat(unsigned short bits_) { return bits<float>(unsigned(bits_) << 16); }
inline unsigned short bfloat_of_float(float f) {
    unsigned all = bits<unsigned>(f);
    if ((all & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return (unsigned short)((all + 0x7fff + (all >> 16 & 1)) >> 16);
}

}

struct __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    template <class T, class = pygpu_cpu::common<T, T>> __nv_bfloat16(T value) : bits(pygpu_cpu::bfloat_of_float(float(value))) {}
    operator float() const { return pygpu_cpu::float_of_bfloat(bits); }
    __nv_bfloat16 &operator+=(__nv_bfloat16 o) { return *this = __nv_bfloat16(float(*this) + float(o)); }
    __nv_bfloat16 &operator-=(__nv_bfloat16 o) { return *this = __nv_bfloat16(float(*this) - float(o)); }
    __nv_bfloat16 &operator*=(__nv_bfloat16 o) { return *this = __nv_bfloat16(float(*this) * float(o)); }
    __nv_bfloat16 &operator/=(__nv_bfloat16 o) { return *this = __nv_bfloat16(float(*this) / float(o)); }
};
using nv_bfloat16 = __nv_bfloat16;
struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};
using nv_bfloat162 = __nv_bfloat162;

#define PYGPU_CPU_BFLOAT(sign)                                                                                         \
    inline __nv_bfloat16 operator sign(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16(float(a) sign float(b)); } \
    inline __nv_bfloat162 operator sign(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x sign b.x, a.y sign b.y}; }
PYGPU_CPU_BFLOAT(+)
PYGPU_CPU_BFLOAT(-)
PYGPU_CPU_BFLOAT(*)
PYGPU_CPU_BFLOAT(/)
#undef PYGPU_CPU_BFLOAT
inline __nv_bfloat16 operator-(__nv_bfloat16 a) { return __nv_bfloat16(-float(a)); }

inline __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
inline __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
inline __nv_bfloat16 __double2bfloat16(double d) { return __nv_bfloat16(d); }
inline float __bfloat162float(__nv_bfloat16 h) { return float(h); }
inline __nv_bfloat16 __int2bfloat16_rn(int i) { return __nv_bfloat16(i); }
inline int __bfloat162int_rz(__nv_bfloat16 h) { return __float2int_rz(float(h)); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { __nv_bfloat16 h; h.bits = bits; return h; }
inline __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return a + b; }
inline __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) { return a - b; }
inline __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return a * b; }
inline __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return a / b; }
inline __nv_bfloat16 __hneg(__nv_bfloat16 a) { return -a; }
inline __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
    return __nv_bfloat16(fma(double(float(a)), double(float(b)), double(float(c))));
}
inline bool __hlt(__nv_bfloat16 a, __nv_bfloat16 b) { return float(a) < float(b); }
inline bool __hgt(__nv_bfloat16 a, __nv_bfloat16 b) { return float(a) > float(b); }
inline bool __heq(__nv_bfloat16 a, __nv_bfloat16 b) { return float(a) == float(b); }
inline bool __hisnan(__nv_bfloat16 a) { return (a.bits & 0x7fffu) > 0x7f80u; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {__nv_bfloat16(a), __nv_bfloat16(b)}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {float(v.x), float(v.y)}; }
inline __nv_bfloat16 atomicAdd(__nv_bfloat16 *address, __nv_bfloat16 value) {
    return __ushort_as_bfloat16(pygpu_cpu::atomic_update(
        reinterpret_cast<unsigned short *>(address),
        [&](unsigned short before) { return (__ushort_as_bfloat16(before) + value).bits; }));
}

}

#endif
