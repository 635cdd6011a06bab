// float16 and bfloat16 types that compute in float. Like array_access.h, this header includes no other header.
#ifndef PYGPU_OPS_FLOAT16_H
#define PYGPU_OPS_FLOAT16_H

namespace pygpu {

template <class To, class From> __device__ inline To same_bits(From from) {
    union { From from; To to; } both;
    both.from = from;
    return both.to;
}

__device__ inline float float_of_half(unsigned short h) {
#if defined(__CUDACC_RTC__)
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
#else
    unsigned sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 31) return same_bits<float>(sign | 0x7f800000u | fraction << 13);
    if (exponent) return same_bits<float>(sign | (exponent + 112) << 23 | fraction << 13);
    float small = (float)fraction * 5.9604644775390625e-8f;
    return sign ? -small : small;
#endif
}

__device__ inline unsigned short half_of_float(float f) {
#if defined(__CUDACC_RTC__)
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
#else
    unsigned all = same_bits<unsigned>(f), sign = all >> 16 & 0x8000u, size = all & 0x7fffffffu;
    if (size > 0x7f800000u) return (unsigned short)(sign | 0x7e00u);
    if (size >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
    if (size < 0x38800000u) {
        float scaled = same_bits<float>(size) * 16777216.0f;
        unsigned whole = (unsigned)scaled;
        float rest = scaled - (float)whole;
        if (rest > 0.5f || (rest == 0.5f && (whole & 1))) whole++;
        return (unsigned short)(sign | whole);
    }
    size -= 0x38000000u;
    return (unsigned short)(sign | (size + 0xfff + (size >> 13 & 1)) >> 13);
#endif
}

__device__ inline float float_of_bfloat(unsigned short b) { return same_bits<float>((unsigned)b << 16); }

__device__ inline unsigned short bfloat_of_float(float f) {
    unsigned all = same_bits<unsigned>(f);
    if ((all & 0x7fffffffu) > 0x7f800000u) return (unsigned short)(all >> 16 | 0x40);
    return (unsigned short)((all + 0x7fffu + (all >> 16 & 1u)) >> 16);
}

// Rounds towards zero, and sets the lowest bit if the result is inexact (round to odd). A second rounding to fewer bits
// is then correct.
__device__ inline float to_odd(double d) {
    float f = (float)d;
    if (d != d || (double)f == d) return f;
    unsigned all = same_bits<unsigned>(f);
    if ((double)same_bits<float>(all & 0x7fffffffu) > (d < 0 ? -d : d)) all--;
    return same_bits<float>(all | 1);
}
__device__ inline unsigned short half_of_float(double d) { return half_of_float(to_odd(d)); }
__device__ inline unsigned short bfloat_of_float(double d) { return bfloat_of_float((float)d); } // rounds via float, as ml_dtypes does

// Type in which a number is represented before it is rounded to 16 bits: double if the number is a double, otherwise
// float.
__device__ inline double exact(double d) { return d; }
template <class T> __device__ inline float exact(T value) { return (float)value; }

// The constructor is explicit, so that both branches of `c ? x[i] : 0.0f` become float.
#define PYGPU_SIXTEEN_BITS(name, to_float, from_float)                                                            \
    struct name {                                                                                                 \
        unsigned short bits;                                                                                      \
        name() = default;                                                                                         \
        template <class T> __device__ explicit name(T value) : bits(from_float(exact(value))) {}                  \
        __device__ operator float() const { return to_float(bits); }                                              \
        template <class T> __device__ name &operator=(T value) { bits = from_float(exact(value)); return *this; }   \
        template <class T> __device__ name &operator+=(T value) { return *this = to_float(bits) + value; }        \
        template <class T> __device__ name &operator-=(T value) { return *this = to_float(bits) - value; }        \
        template <class T> __device__ name &operator*=(T value) { return *this = to_float(bits) * value; }        \
        template <class T> __device__ name &operator/=(T value) { return *this = to_float(bits) / value; }        \
        __device__ name &operator++() { return *this = to_float(bits) + 1.0f; }                                   \
        __device__ name &operator--() { return *this = to_float(bits) - 1.0f; }                                   \
        __device__ name operator++(int) { name before = *this; ++*this; return before; }                          \
        __device__ name operator--(int) { name before = *this; --*this; return before; }                          \
    };
PYGPU_SIXTEEN_BITS(float16, float_of_half, half_of_float)
PYGPU_SIXTEEN_BITS(bfloat16, float_of_bfloat, bfloat_of_float)
#undef PYGPU_SIXTEEN_BITS

}

#endif
