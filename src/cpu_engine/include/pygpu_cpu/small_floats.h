// 16-bit floating-point numbers. Results are computed in float and rounded to nearest even, as a GPU's functions
// specify.
#ifndef PYGPU_CPU_SMALL_FLOATS_H
#define PYGPU_CPU_SMALL_FLOATS_H

extern "C++" {

namespace pygpu_cpu {

// `Format` defines the conversions `widen` to float and `narrow` from float, and the bit pattern of `infinity`. The
// functions are friends, so that they are found by the type of an argument and accept convertible arguments, like the
// overloads in CUDA's headers.
template <class Format> struct small_float {
    unsigned short bits;

    small_float() = default;
    template <class T, class = common<T, T>> small_float(T value) : bits(Format::narrow(float(value))) {}
    static small_float of_bits(unsigned short bits) { small_float made; made.bits = bits; return made; }
    operator float() const { return Format::widen(bits); }

#define PYGPU_CPU_OPERATOR(sign, name)                                                                                \
    friend small_float operator sign(small_float a, small_float b) { return small_float(float(a) sign float(b)); }    \
    friend small_float name(small_float a, small_float b) { return small_float(float(a) sign float(b)); }             \
    small_float &operator sign##=(small_float b) { return *this = small_float(float(*this) sign float(b)); }
    PYGPU_CPU_OPERATOR(+, __hadd)
    PYGPU_CPU_OPERATOR(-, __hsub)
    PYGPU_CPU_OPERATOR(*, __hmul)
    PYGPU_CPU_OPERATOR(/, __hdiv)
#undef PYGPU_CPU_OPERATOR
    friend small_float operator-(small_float a) { return small_float(-float(a)); }
    friend small_float __hneg(small_float a) { return small_float(-float(a)); }
    friend small_float __habs(small_float a) { return of_bits(a.bits & 0x7fff); }
    friend small_float __hfma(small_float a, small_float b, small_float c) {
        return small_float(fma(double(float(a)), double(float(b)), double(float(c))));
    }

#define PYGPU_CPU_COMPARISON(sign, name) \
    friend bool name(small_float a, small_float b) { return float(a) sign float(b); }
    PYGPU_CPU_COMPARISON(<, __hlt)
    PYGPU_CPU_COMPARISON(<=, __hle)
    PYGPU_CPU_COMPARISON(>, __hgt)
    PYGPU_CPU_COMPARISON(>=, __hge)
    PYGPU_CPU_COMPARISON(==, __heq)
#undef PYGPU_CPU_COMPARISON
    friend bool __hne(small_float a, small_float b) { return float(a) < float(b) || float(a) > float(b); }
    friend bool __hisnan(small_float a) { return (a.bits & 0x7fffu) > Format::infinity; }
    friend int __hisinf(small_float a) { return (a.bits & 0x7fffu) != Format::infinity ? 0 : a.bits >> 15 ? -1 : 1; }
    friend small_float __hmin(small_float a, small_float b) { return small_float(fminf(float(a), float(b))); }
    friend small_float __hmax(small_float a, small_float b) { return small_float(fmaxf(float(a), float(b))); }

#define PYGPU_CPU_FUNCTION_OF_ONE(name, of_float) \
    friend small_float name(small_float a) { return small_float(of_float(float(a))); }
    PYGPU_CPU_FUNCTION_OF_ONE(hsqrt, sqrtf)
    PYGPU_CPU_FUNCTION_OF_ONE(hrsqrt, rsqrtf)
    PYGPU_CPU_FUNCTION_OF_ONE(hrcp, 1 / )
    PYGPU_CPU_FUNCTION_OF_ONE(hexp, expf)
    PYGPU_CPU_FUNCTION_OF_ONE(hexp2, exp2f)
    PYGPU_CPU_FUNCTION_OF_ONE(hlog, logf)
    PYGPU_CPU_FUNCTION_OF_ONE(hlog2, log2f)
    PYGPU_CPU_FUNCTION_OF_ONE(hsin, sinf)
    PYGPU_CPU_FUNCTION_OF_ONE(hcos, cosf)
    PYGPU_CPU_FUNCTION_OF_ONE(hfloor, floorf)
    PYGPU_CPU_FUNCTION_OF_ONE(hceil, ceilf)
    PYGPU_CPU_FUNCTION_OF_ONE(htrunc, truncf)
    PYGPU_CPU_FUNCTION_OF_ONE(hrint, rintf)
#undef PYGPU_CPU_FUNCTION_OF_ONE

    friend small_float atomicAdd(small_float *address, small_float value) {
        return of_bits(atomic_update(
            reinterpret_cast<unsigned short *>(address),
            [&](unsigned short before) { return (of_bits(before) + value).bits; }));
    }
};

template <class Format> struct alignas(4) small_float_pair {
    using number = small_float<Format>;
    number x, y;

#define PYGPU_CPU_OPERATOR(sign, name)                                                                                          \
    friend small_float_pair operator sign(small_float_pair a, small_float_pair b) { return {a.x sign b.x, a.y sign b.y}; } \
    friend small_float_pair name(small_float_pair a, small_float_pair b) { return {a.x sign b.x, a.y sign b.y}; }
    PYGPU_CPU_OPERATOR(+, __hadd2)
    PYGPU_CPU_OPERATOR(-, __hsub2)
    PYGPU_CPU_OPERATOR(*, __hmul2)
    PYGPU_CPU_OPERATOR(/, __h2div)
#undef PYGPU_CPU_OPERATOR
    friend small_float_pair __hneg2(small_float_pair a) { return {-a.x, -a.y}; }
    friend small_float_pair __hfma2(small_float_pair a, small_float_pair b, small_float_pair c) {
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
    }
    friend float __low2float(small_float_pair a) { return float(a.x); }
    friend float __high2float(small_float_pair a) { return float(a.y); }
};

}

// Defines the pair type, and the functions whose names contain the type's name.
#define PYGPU_CPU_SMALL_FLOAT(format, type, pair, spelled, pair_spelled)                                     \
    using type = pygpu_cpu::small_float<pygpu_cpu::format>;                                                  \
    using pair = pygpu_cpu::small_float_pair<pygpu_cpu::format>;                                             \
    inline type __float2##spelled(float f) { return type(f); }                                               \
    inline type __float2##spelled##_rn(float f) { return type(f); }                                          \
    inline type __double2##spelled(double d) { return type(d); }                                             \
    inline type __int2##spelled##_rn(int i) { return type(i); }                                              \
    inline float __##spelled##2float(type h) { return float(h); }                                            \
    inline int __##spelled##2int_rz(type h) { return __float2int_rz(float(h)); }                             \
    inline int __##spelled##2int_rn(type h) { return __float2int_rn(float(h)); }                             \
    inline unsigned short __##spelled##_as_ushort(type h) { return h.bits; }                                 \
    inline type __ushort_as_##spelled(unsigned short bits) { return type::of_bits(bits); }                   \
    inline pair __halves2##pair_spelled(type a, type b) { return {a, b}; }                                   \
    inline pair __floats2##pair_spelled##_rn(float a, float b) { return {type(a), type(b)}; }                \
    inline pair __float2##pair_spelled##_rn(float a) { return {type(a), type(a)}; }                          \
    inline pair __##spelled##2##pair_spelled(type a) { return {a, a}; }                                      \
    inline type __low2##spelled(pair v) { return v.x; }                                                      \
    inline type __high2##spelled(pair v) { return v.y; }                                                     \
    inline float2 __##pair_spelled##2float2(pair v) { return {float(v.x), float(v.y)}; }                     \
    inline pair __float22##pair_spelled##_rn(float2 v) { return {type(v.x), type(v.y)}; }

}

#endif
